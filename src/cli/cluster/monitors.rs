//! The monitors of the demo: built-in targets, seen from the three locations.

use serde_json::{Value, json};

use crate::targets::BuiltInTargetAddresses;

/// Returns the type and the fields of each monitor at `locations`.
pub(super) fn monitors(
    addresses: &BuiltInTargetAddresses,
    locations: &[(i64, &str)],
) -> Vec<(&'static str, Value)> {
    let BuiltInTargetAddresses { http, https, tcp, .. } = addresses;
    let everywhere: Vec<_> = locations.iter().map(|(id, name)| json!({"id": id, "name": name})).collect();
    let home = locations.first().map(|(id, _)| *id);
    let head = |name: &str| {
        json!({"name": name, "billing_plancode": "demo", "interval": 1, "timeout": 10,
            "locations": everywhere, "home_location": home})
    };
    let with = |name: &str, fields: Value| {
        let mut all = head(name);
        if let (Some(all), Value::Object(fields)) = (all.as_object_mut(), fields) {
            all.extend(fields);
        }
        all
    };
    vec![
        (
            "website",
            with("Shop front page", json!({"url": format!("http://{http}/"), "mode": "SLA (MultiPOP)"})),
        ),
        (
            "website",
            with(
                "Checkout that fails now and then",
                json!({"url": format!("http://{http}/flaky"), "retry_on_failure": true}),
            ),
        ),
        ("website-ssl", with("Account page over HTTPS", json!({"url": format!("https://{https}/")}))),
        (
            "tcp",
            with(
                "Order queue port",
                json!({"hostname": tcp.ip().to_string(), "port": tcp.port(), "mode": "Round Robin"}),
            ),
        ),
    ]
}
