//! Data about a monitor in messages: its target, without a login, and its custom properties.

use serde_json::Value;

use super::account_cache::AccountSnapshot;
use crate::schema::typed::schedule::PropertyReference;
use crate::schema::{Monitor, SecretMode};

/// Returns the URL, host or host and port of `monitor`.
pub(crate) fn display_target(monitor: &Monitor) -> String {
    let masked_fields = monitor.document.to_json(SecretMode::Masked);
    let non_empty_field =
        |field: &str| masked_fields.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
    if let Some(url) = non_empty_field("url").or_else(|| first_step_url(&masked_fields)) {
        // Even a masked login reveals that there is one.
        return url.replacen("********@", "", 1);
    }
    let host = non_empty_field("hostname")
        .or_else(|| non_empty_field("smtp_hostname"))
        .or_else(|| non_empty_field("ipv4"));
    let host = host.unwrap_or_default().to_owned();
    match masked_fields.get("port").and_then(Value::as_i64).filter(|port| *port > 0) {
        Some(port) if host.contains(':') && !host.starts_with('[') => format!("[{host}]:{port}"),
        Some(port) => format!("{host}:{port}"),
        None => host,
    }
}

/// Returns the URL of the first API step.
fn first_step_url(masked_fields: &serde_json::Map<String, Value>) -> Option<&str> {
    masked_fields.get("api_steps")?.as_array()?.first()?.get("url")?.as_str()
}

/// Returns names and values of the custom properties of `monitor`, without those that the account no longer has.
pub(crate) fn custom_properties(monitor: &Monitor, account: &AccountSnapshot) -> Vec<(String, String)> {
    let pair = |value: PropertyReference| {
        let property = account.properties.get(&value.id)?;
        Some((property.name.clone(), property.values.get(&value.value_id)?.clone()))
    };
    monitor.document.custom_properties().filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::domain::{CustomerId, MonitorId, MonitorType, Revision, Timestamp};
    use crate::schema::{MonitorDocument, Origin};

    #[test]
    fn a_target_is_shown_without_its_login() {
        for (kind, fields, text) in [
            (MonitorType::Website, json!({"url": "https://a:b@shop.test/x?y"}), "https://shop.test/x?y"),
            (MonitorType::Website, json!({"url": "http://shop.test/"}), "http://shop.test/"),
            (MonitorType::Tcp, json!({"hostname": "shop.test", "port": 25}), "shop.test:25"),
            (MonitorType::Tcp, json!({"hostname": "2001:db8::1", "port": 25}), "[2001:db8::1]:25"),
            (MonitorType::Ping, json!({"hostname": "shop.test"}), "shop.test"),
            (
                MonitorType::WebsiteApi,
                json!({"api_steps": [{"step_number": 1, "url": "https://api.test/a"}]}),
                "https://api.test/a",
            ),
        ] {
            let values = fields.as_object().cloned().unwrap_or_default();
            let monitor = Monitor {
                id: MonitorId(1),
                customer: CustomerId(1),
                origin: Origin::Api,
                revision: Revision(1),
                modified_at: Timestamp::from_seconds(0),
                document: Arc::new(MonitorDocument::new(kind, values).unwrap()),
                metadata: Arc::default(),
            };
            assert_eq!(display_target(&monitor), text, "{fields}");
        }
    }
}
