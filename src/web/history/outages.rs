//! The outages of a monitor.

use serde_json::{Map, Value};

use crate::domain::Timestamp;
use crate::texts::Locale;
use crate::web::html::{format_coarse_duration, render_time_since};

/// An outage in the list.
pub(super) struct OutageView {
    pub(super) id: i64,
    pub(super) started_at: String,
    /// When it ended; `None` while it is open.
    pub(super) ended_at: Option<String>,
    /// How long it lasted or lasts, as HTML.
    pub(super) duration: String,
    pub(super) reason: String,
    pub(super) runs: u64,
    /// Path of the result that began it.
    pub(super) cause: Option<String>,
    /// Who acknowledged it.
    pub(super) acknowledged_by: Option<String>,
    pub(super) flapping: bool,
    /// Whether a good run ended it, not the end of monitoring.
    pub(super) recovered: bool,
}

impl OutageView {
    /// Reads an outage as the API returns it; `None` for one without a start.
    pub(super) fn new(outage: &Map<String, Value>, now: Timestamp, t: Locale) -> Option<Self> {
        let text = |name: &str| outage.get(name).and_then(Value::as_str);
        let time = |name: &str| text(name).and_then(parse_utc_time);
        let flag = |name: &str| outage.get(name).and_then(Value::as_bool).unwrap_or_default();
        let started_at = time("started_at")?;
        let ended_at = time("ended_at");
        let cause = outage.get("cause").and_then(|cause| cause.get("check_id")).and_then(Value::as_str);
        let duration = match ended_at {
            Some(ended_at) => format_coarse_duration(ended_at.since(started_at)),
            None => render_time_since(started_at, now, t),
        };
        Some(Self {
            id: outage.get("id").and_then(Value::as_i64)?,
            started_at: t.time(started_at),
            ended_at: ended_at.map(|at| t.time(at)),
            duration,
            reason: text("status_text").unwrap_or_default().to_owned(),
            runs: outage.get("runs").and_then(Value::as_u64).unwrap_or_default(),
            cause: cause.map(|id| format!("/results/{id}")),
            acknowledged_by: text("acknowledged_by").map(str::to_owned),
            flapping: flag("flapping"),
            recovered: flag("recovered"),
        })
    }
}

/// Parses a time as the API returns it.
pub(super) fn parse_utc_time(text: &str) -> Option<Timestamp> {
    let time: jiff::Timestamp = text.parse().ok()?;
    Some(Timestamp::from_micros(time.as_microsecond()))
}
