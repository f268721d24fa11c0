//! Records of performance alerts as the pure module wants them.

use std::time::Duration;

use serde_json::Value;

use crate::alerting::{PerformanceLevel, PerformanceRule, Threshold};
use crate::domain::{MonitorId, Record};

/// The rule that `record` keeps; `None` for one that is not watched: it is off, damaged, or about a step, whose
/// time no probe of this build tells.
pub(super) fn rule(record: &Record) -> Option<PerformanceRule> {
    let number = |field: &str| record.fields.get(field).and_then(Value::as_f64);
    let whole = |field: &str, default: u32| {
        let number = record.fields.get(field).and_then(Value::as_u64);
        number.and_then(|number| u32::try_from(number).ok()).unwrap_or(default)
    };
    let of_step = record.fields.get("step").is_some_and(|step| !step.is_null());
    if of_step || record.fields.get("enabled") == Some(&Value::Bool(false)) {
        return None;
    }
    let threshold = number("threshold").filter(|threshold| *threshold > 0.0)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "above 0; saturates")]
    let threshold = match record.text("type") {
        "static" => Threshold::Static { limit_us: (threshold * 1_000_000.0).round() as u64 },
        "dynamic" => Threshold::Dynamic { percent: threshold, days: whole("days", 7).clamp(1, 7) },
        _ => return None,
    };
    Some(PerformanceRule {
        id: record.id,
        monitor: MonitorId(record.assoc?),
        threshold,
        window: Duration::from_mins(u64::from(whole("window", 15).max(1))),
        level: if record.text("level") == "warning" {
            PerformanceLevel::Warning
        } else {
            PerformanceLevel::Error
        },
    })
}
