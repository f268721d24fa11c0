//! Rules of performance alerts from their records.

use std::time::Duration;

use crate::alerting::{PerformanceAlertLevel, PerformanceRule, PerformanceThreshold};
use crate::catalog::record_settings::settings_or_skip;
use crate::domain::{ConfigRecord, MonitorId};
use crate::schema::typed::record::{AlertLevel, PerformanceAlertSettings, ThresholdKind};

/// Reads the rule of `record`; `None` for one that is not evaluated: it is disabled, damaged, or about a step, whose
/// time no probe of this build measures.
pub(super) fn rule_from_record(record: &ConfigRecord) -> Option<PerformanceRule> {
    let settings: PerformanceAlertSettings = settings_or_skip(record)?;
    if settings.step.is_some() || !settings.enabled || settings.threshold <= 0.0 {
        return None;
    }
    let threshold = settings.threshold;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "above 0; saturates")]
    let threshold = match settings.kind {
        ThresholdKind::Static => {
            PerformanceThreshold::Static { limit_us: (threshold * 1_000_000.0).round() as u64 }
        }
        ThresholdKind::Dynamic => {
            PerformanceThreshold::Dynamic { percent: threshold, days: settings.reference_days.clamp(1, 7) }
        }
    };
    Some(PerformanceRule {
        id: record.id,
        monitor_id: MonitorId(record.parent_id?),
        threshold,
        window: Duration::from_mins(u64::from(settings.window_minutes.max(1))),
        level: match settings.level {
            AlertLevel::Warning => PerformanceAlertLevel::Warning,
            AlertLevel::Error => PerformanceAlertLevel::Error,
        },
    })
}
