//! The secrets of a monitor apart from the rest of its document, and together again.
//!
//! What is sealed is a JSON object: the place of each secret as a JSON Pointer (RFC 6901) and its text.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::model::{CustomerId, Document, Monitor, MonitorType, Secrets};
use crate::store::{KeptMonitor, seal_context};
use crate::vault::{Keyring, VaultError};

/// The secrets of `document`, sealed for the account; `None` when it has none.
pub(super) fn seal(vault: &Keyring, customer: CustomerId, document: &Document) -> Option<Vec<u8>> {
    let whole = Value::Object(document.stored(Secrets::Revealed));
    let rest = Value::Object(document.stored(Secrets::Omitted));
    let mut secrets = Map::new();
    split(&whole, &rest, String::new(), &mut secrets);
    if secrets.is_empty() {
        return None;
    }
    let plain = zeroize::Zeroizing::new(Value::Object(secrets).to_string());
    Some(vault.seal(&seal_context("monitor", customer), plain.as_bytes()))
}

/// `kept` with its secrets.
pub(super) fn open(vault: &Keyring, kept: KeptMonitor) -> Result<Monitor, VaultError> {
    let KeptMonitor { mut monitor, sealed } = kept;
    let Some(sealed) = sealed else { return Ok(monitor) };
    let plain = vault.open(&seal_context("monitor", monitor.customer), &sealed)?;
    let secrets: Map<String, Value> = serde_json::from_slice(&plain).map_err(|_| VaultError::Forged)?;
    monitor.document = Arc::new(joined(&monitor.document, secrets));
    Ok(monitor)
}

/// Puts what `whole` has and `rest` has not, or has otherwise, into `secrets`.
fn split(whole: &Value, rest: &Value, path: String, secrets: &mut Map<String, Value>) {
    match (whole, rest) {
        (Value::Object(whole), Value::Object(rest)) => {
            for (name, value) in whole {
                let path = format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"));
                match rest.get(name) {
                    Some(rest) => split(value, rest, path, secrets),
                    None => drop(secrets.insert(path, value.clone())),
                }
            }
        }
        (Value::Array(whole), Value::Array(rest)) if whole.len() == rest.len() => {
            for (index, (value, rest)) in whole.iter().zip(rest).enumerate() {
                split(value, rest, format!("{path}/{index}"), secrets);
            }
        }
        (whole, rest) if whole != rest => drop(secrets.insert(path, whole.clone())),
        _ => {}
    }
}

fn joined(document: &Document, secrets: Map<String, Value>) -> Document {
    let kind: MonitorType = document.kind();
    let mut whole = Value::Object(document.stored(Secrets::Revealed));
    for (path, secret) in secrets {
        let Some((parent, name)) = path.rsplit_once('/') else { continue };
        let name = name.replace("~1", "/").replace("~0", "~");
        match whole.pointer_mut(parent) {
            Some(Value::Object(entries)) => drop(entries.insert(name, secret)),
            Some(Value::Array(items)) => {
                if let Some(item) = name.parse::<usize>().ok().and_then(|index| items.get_mut(index)) {
                    *item = secret;
                }
            }
            _ => {}
        }
    }
    match whole {
        Value::Object(values) => Document::trusted(kind, values),
        _ => document.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn document(kind: MonitorType, values: Value) -> Document {
        let Value::Object(values) = values else { unreachable!() };
        Document::trusted(kind, values)
    }

    #[test]
    fn secrets_come_apart_at_every_depth_and_together_again() {
        let steps = json!([
            {"url": "http://a/", "step_name": "one", "head": {"headers": []}},
            {"url": "http://b/", "step_name": "two",
             "head": {"http_basic_auth_username": "u", "http_basic_auth_password": "p4ss"}},
        ]);
        let whole = document(MonitorType::WebsiteApi, json!({"name": "n", "api_steps": steps}));
        let rest = document(MonitorType::WebsiteApi, Value::Object(whole.stored(Secrets::Omitted)));
        let mut secrets = Map::new();
        let pair = |document: &Document| Value::Object(document.stored(Secrets::Revealed));
        split(&pair(&whole), &pair(&rest), String::new(), &mut secrets);
        assert_eq!(
            Value::Object(secrets.clone()),
            json!({"/api_steps/1/head/http_basic_auth_password": "p4ss"})
        );
        assert_eq!(joined(&rest, secrets), whole);
    }

    #[test]
    fn a_document_without_secrets_has_nothing_to_seal() {
        let plain = document(MonitorType::Ping, json!({"hostname": "a/b~c"}));
        assert_eq!(plain.stored(Secrets::Revealed), plain.stored(Secrets::Omitted));
    }
}
