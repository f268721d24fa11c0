//! What a monitor checks, for people, without a login.

use serde_json::Value;

use crate::model::{Monitor, Secrets};

/// URL, host or host and port of `monitor`.
pub(super) fn target(monitor: &Monitor) -> String {
    let shown = monitor.document.to_json(Secrets::Masked);
    let text = |field: &str| shown.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
    if let Some(url) = text("url").or_else(|| first_step(&shown)) {
        // The place of a login shows that there is one.
        return url.replacen("********@", "", 1);
    }
    let host = text("hostname").or_else(|| text("smtp_hostname")).or_else(|| text("ipv4"));
    let host = host.unwrap_or_default().to_owned();
    match shown.get("port").and_then(Value::as_i64).filter(|port| *port > 0) {
        Some(port) if host.contains(':') && !host.starts_with('[') => format!("[{host}]:{port}"),
        Some(port) => format!("{host}:{port}"),
        None => host,
    }
}

/// The URL of the first of several steps.
fn first_step(shown: &serde_json::Map<String, Value>) -> Option<&str> {
    shown.get("api_steps")?.as_array()?.first()?.get("url")?.as_str()
}
