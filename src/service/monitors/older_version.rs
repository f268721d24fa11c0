//! Older versions of a monitor, rebuilt from its present one by undoing the changes in the audit trail, newest first. The
//! trail has no secrets: an older version keeps those of the present one.

use serde_json::{Map, Value};

use super::audit_fields::abbreviate;
use crate::schema::field::Field;
use crate::schema::{Monitor, SecretMode, table};
use crate::syntax::MASK;
use crate::syntax::node::Node;

/// How an older version differs from the present one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OlderVersion {
    /// The fields that differ, in the order of their names.
    pub changes: Vec<OlderField>,
    /// Fields with a secret that was another one then, and stays as it is now.
    pub kept_secrets: Vec<String>,
}

/// A field of an older version that differs from the present one; secrets in both values are masked.
#[derive(Clone, Debug, PartialEq)]
pub struct OlderField {
    /// Name of the field.
    pub name: String,
    /// Its present value; null for none.
    pub now: Value,
    /// Its value then; null for none.
    pub then: Value,
}

/// Why an older version cannot be rebuilt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VersionGap {
    /// The audit trail has only the length of a long value.
    #[error("the value of `{0}` was too long to be kept in the audit trail")]
    Shortened(String),
    /// A change is not in the audit trail.
    #[error("a later change of `{0}` is not in the audit trail any more")]
    Missing(String),
}

/// Returns, for each entry of the audit trail of `monitor`, the version that it led to. `entries` are the newest ones as
/// version 3 objects, newest first.
#[must_use]
pub fn older_versions(
    monitor: &Monitor,
    entries: &[Map<String, Value>],
) -> Vec<Result<OlderVersion, VersionGap>> {
    let present = monitor.document.to_json(SecretMode::Masked);
    let field =
        |name: &str| table::for_type(monitor.monitor_type()).field(name).filter(|field| field.is_settable());
    let mut rebuilt = Rebuilt { values: present.clone(), other_secrets: Vec::new(), missing: None };
    let mut versions = Vec::with_capacity(entries.len());
    for entry in entries {
        versions.push(rebuilt.difference_to(&present));
        rebuilt.undo(entry, &field);
    }
    versions
}

/// A version while changes are undone.
struct Rebuilt {
    values: Map<String, Value>,
    other_secrets: Vec<String>,
    /// The first field whose later change is not known.
    missing: Option<String>,
}

impl Rebuilt {
    fn undo(&mut self, entry: &Map<String, Value>, field: &impl Fn(&str) -> Option<&'static Field>) {
        // A new monitor has no version before; other entries have both.
        let fields = |name: &str| entry.get(name).and_then(Value::as_object);
        let (Some(before), Some(after)) = (fields("before"), fields("after")) else { return };
        for (name, old) in before {
            // The end of a pause, for example, is no field of a version.
            let Some(field) = field(name) else { continue };
            if field.secret {
                self.add_other_secret(name);
                continue;
            }
            let value = self.values.get(name).cloned().unwrap_or_default();
            let known_after = after.get(name).cloned().unwrap_or_default();
            if value != known_after && abbreviate(value) != known_after {
                self.missing.get_or_insert_with(|| name.clone());
            }
            if *old == known_after {
                // They differ in secrets inside.
                self.add_other_secret(name);
            }
            self.values.insert(name.clone(), old.clone());
        }
    }

    fn add_other_secret(&mut self, name: &str) {
        if !self.other_secrets.iter().any(|known| known == name) {
            self.other_secrets.push(name.to_owned());
        }
    }

    fn difference_to(&self, present: &Map<String, Value>) -> Result<OlderVersion, VersionGap> {
        if let Some(name) = &self.missing {
            return Err(VersionGap::Missing(name.clone()));
        }
        let mut changes = Vec::new();
        for (name, then) in &self.values {
            let now = present.get(name).cloned().unwrap_or_default();
            if now == *then {
                continue;
            }
            if is_abbreviated(then) {
                // It may be the present value, of which the trail has the length and the hash.
                if abbreviate(now) == *then {
                    continue;
                }
                return Err(VersionGap::Shortened(name.clone()));
            }
            changes.push(OlderField { name: name.clone(), now, then: then.clone() });
        }
        changes.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(OlderVersion { changes, kept_secrets: self.other_secrets.clone() })
    }
}

/// Whether the audit trail has only the length and the hash of the value.
fn is_abbreviated(value: &Value) -> bool {
    let parts = value.as_str().and_then(|text| text.split_once(" characters, SHA-256 "));
    parts.is_some_and(|(count, hash)| {
        count.bytes().all(|byte| byte.is_ascii_digit())
            && hash.len() == 64
            && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

impl OlderVersion {
    /// Returns the body of the change of `monitor` that leads back to it. Masked secrets inside lists are the present ones of
    /// the same step or header.
    ///
    /// # Errors
    /// The paths of the masked secrets of which nothing is stored any more.
    pub fn to_body(&self, monitor: &Monitor) -> Result<Node, Vec<String>> {
        let (mut body, mut lost) = (Map::new(), Vec::new());
        for OlderField { name, now, then } in &self.changes {
            let mut then = then.clone();
            if then.is_array() {
                let revealed = monitor.document.value(name);
                attach_secrets(&mut then, Some(now), revealed, name, &mut lost);
            }
            // A change keeps what it does not name.
            if let (Value::Object(then), Value::Object(now)) = (&mut then, now) {
                for name in now.keys().filter(|name| !then.contains_key(*name)).cloned().collect::<Vec<_>>() {
                    then.insert(name, Value::Null);
                }
            }
            body.insert(name.clone(), then);
        }
        if lost.is_empty() { Ok(Node::from(Value::Object(body))) } else { Err(lost) }
    }

    /// Whether a secret inside one of its values is masked, and so stays as it is now.
    #[must_use]
    pub fn has_masked_parts(&self) -> bool {
        self.changes.iter().any(|change| change.then.to_string().contains(MASK))
    }
}

/// Replaces the masks in `then` by the secrets of its counterpart in the present version, which is `masked` and `revealed`.
/// What has no counterpart is added to `lost`.
fn attach_secrets(
    then: &mut Value,
    masked: Option<&Value>,
    revealed: Option<&Value>,
    path: &str,
    lost: &mut Vec<String>,
) {
    match then {
        Value::String(text) if text.contains(MASK) => {
            let is_same = masked.and_then(Value::as_str) == Some(text.as_str());
            match revealed.and_then(Value::as_str).filter(|_| is_same) {
                Some(secret) => secret.clone_into(text),
                None => lost.push(path.to_owned()),
            }
        }
        Value::Object(entries) => {
            for (name, value) in entries {
                let member = |value: Option<&'_ Value>| value.and_then(|value| value.get(name)).cloned();
                let (masked, revealed) = (member(masked), member(revealed));
                attach_secrets(value, masked.as_ref(), revealed.as_ref(), &format!("{path}.{name}"), lost);
            }
        }
        Value::Array(items) => {
            let present = masked.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            for (index, item) in items.iter_mut().enumerate() {
                let place = present.iter().position(|other| is_same_item(item, other));
                let masked = place.and_then(|place| present.get(place));
                let revealed = place.and_then(|place| revealed?.get(place));
                attach_secrets(item, masked, revealed, &format!("{path}[{index}]"), lost);
            }
        }
        _ => {}
    }
}

/// Whether the items of two versions of a list are the same one: a step of the same name that goes to the same server, or a
/// header of the same name.
fn is_same_item(one: &Value, other: &Value) -> bool {
    let same = |name: &str| one.get(name) == other.get(name);
    let server = |item: &Value| {
        let url = item.get("url").and_then(Value::as_str)?;
        let (scheme, rest) = url.split_once("://")?;
        Some(format!("{scheme}://{}", rest.split(['/', '?', '#']).next().unwrap_or_default()))
    };
    same("step_name") && same("name") && server(one) == server(other)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::domain::{CustomerId, MonitorId, MonitorType, Revision, Timestamp};
    use crate::schema::{MonitorDocument, MonitorMetadata, Origin};
    use crate::service::monitors::audit_fields::changed_document_fields;
    use crate::syntax::json_object::into_object;

    fn document(monitor_type: MonitorType, values: Value) -> MonitorDocument {
        MonitorDocument::new(monitor_type, into_object(values)).unwrap()
    }

    fn monitor(document: MonitorDocument) -> Monitor {
        Monitor {
            id: MonitorId(7),
            customer: CustomerId(1),
            origin: Origin::Api,
            revision: Revision(4),
            modified_at: Timestamp::from_seconds(0),
            document: Arc::new(document),
            metadata: Arc::new(MonitorMetadata::default()),
        }
    }

    /// Returns the entries that lead through `versions`, newest first, and the last version.
    fn history(monitor_type: MonitorType, versions: &[Value]) -> (Monitor, Vec<Map<String, Value>>) {
        let documents: Vec<_> =
            versions.iter().map(|version| document(monitor_type, version.clone())).collect();
        let change = |pair: &[MonitorDocument]| {
            let (before, after) = changed_document_fields(&pair[0], &pair[1]);
            into_object(json!({"action": "change", "before": before, "after": after}))
        };
        let mut entries: Vec<_> = documents.windows(2).rev().map(change).collect();
        entries.push(into_object(json!({"action": "create", "before": {}, "after": {"name": "a"}})));
        (monitor(documents.last().unwrap().clone()), entries)
    }

    fn changes(version: &Result<OlderVersion, VersionGap>) -> Vec<(&str, Value)> {
        let version = version.as_ref().unwrap();
        version.changes.iter().map(|change| (change.name.as_str(), change.then.clone())).collect()
    }

    #[test]
    fn changes_are_undone_backwards_and_secrets_stay_as_they_are() {
        let (monitor, entries) = history(
            MonitorType::Website,
            &[
                json!({"name": "a", "url": "http://a/", "realm_password": "first"}),
                json!({"name": "a", "url": "http://b/", "realm_password": "second", "note": "n"}),
                json!({"name": "c", "url": "http://b/", "realm_password": "second"}),
            ],
        );
        let versions = older_versions(&monitor, &entries);
        assert_eq!(versions[0], Ok(OlderVersion::default()), "the newest entry led to the present version");
        assert_eq!(changes(&versions[1]), [("name", json!("a")), ("note", json!("n"))]);
        assert_eq!(versions[1].as_ref().unwrap().kept_secrets, [] as [&str; 0]);
        assert_eq!(changes(&versions[2]), [("name", json!("a")), ("url", json!("http://a/"))]);
        let first = versions[2].as_ref().unwrap();
        assert_eq!(first.kept_secrets, ["realm_password"]);
        assert_eq!(first.to_body(&monitor).unwrap().to_json(), json!({"name": "a", "url": "http://a/"}));
        let all = format!("{versions:?}");
        assert!(!all.contains("first") && !all.contains("second"), "{all}");
    }

    #[test]
    fn lists_come_back_whole_with_their_secrets_masked() {
        let steps = |password: &str, url: &str| {
            json!({"name": "a", "api_steps": [
                {"step_number": 1, "url": url, "head": {"http_basic_auth_password": password}},
            ]})
        };
        let (monitor, entries) = history(
            MonitorType::WebsiteApi,
            &[steps("one", "http://a/"), steps("two", "http://a/"), steps("two", "http://b/")],
        );
        let versions = older_versions(&monitor, &entries);
        let [(name, then)] = &changes(&versions[1])[..] else { panic!("{versions:?}") };
        assert_eq!((*name, &then[0]["url"]), ("api_steps", &json!("http://a/")));
        assert_eq!(versions[1].as_ref().unwrap().kept_secrets, [] as [&str; 0]);
        let first = versions[2].as_ref().unwrap();
        assert_eq!(first.kept_secrets, ["api_steps"]);
        let all = format!("{versions:?}");
        assert!(all.contains(MASK) && !all.contains("one\"") && !all.contains("two\""), "{all}");
        assert!(first.has_masked_parts());
    }

    #[test]
    fn secrets_come_back_to_the_step_that_has_them_now_and_to_no_other() {
        let step = |name: &str, password: &str| {
            json!({"step_name": name, "url": format!("http://{name}.example/"),
                   "head": {"http_basic_auth_password": password}})
        };
        let steps = |steps: &[Value]| json!({"name": "a", "api_steps": steps});
        let (a, b) = (step("a", "pa"), step("b", "pb"));
        let both = steps(&[a.clone(), b.clone()]);
        let (monitor, entries) = history(MonitorType::WebsiteApi, &[both.clone(), steps(&[b.clone(), a])]);
        let version = older_versions(&monitor, &entries)[1].clone().unwrap();
        let body = version.to_body(&monitor).unwrap().to_json();
        let password = |index: usize| &body["api_steps"][index]["head"]["http_basic_auth_password"];
        assert_eq!((password(0), password(1)), (&json!("pa"), &json!("pb")));
        let (monitor, entries) = history(MonitorType::WebsiteApi, &[both, steps(&[b])]);
        let version = older_versions(&monitor, &entries)[1].clone().unwrap();
        let lost = version.to_body(&monitor).unwrap_err();
        assert_eq!(lost, ["api_steps[0].head.http_basic_auth_password"]);
    }

    #[test]
    fn a_version_with_a_gap_is_not_rebuilt() {
        let long = "x".repeat(3_000);
        let (monitor, mut entries) = history(
            MonitorType::Website,
            &[
                json!({"name": "a", "url": "http://a/", "note": "short"}),
                json!({"name": "a", "url": "http://a/", "note": long}),
                json!({"name": "b", "url": "http://a/", "note": long}),
                json!({"name": "b", "url": "http://a/"}),
            ],
        );
        let versions = older_versions(&monitor, &entries);
        let shortened = || Err(VersionGap::Shortened("note".to_owned()));
        assert_eq!(versions[1], shortened());
        assert_eq!(versions[2], shortened());
        assert_eq!(changes(&versions[3]), [("name", json!("a")), ("note", json!("short"))]);
        // Without the change of the name, what came before is unknown.
        entries.remove(1);
        entries.insert(1, into_object(json!({"before": {"name": "y"}, "after": {"name": "z"}})));
        let versions = older_versions(&monitor, &entries);
        assert_eq!(versions[1], shortened(), "still without the gap");
        assert_eq!(versions[2], Err(VersionGap::Missing("name".to_owned())));
        assert_eq!(versions[3], Err(VersionGap::Missing("name".to_owned())));
    }

    #[test]
    fn a_pause_is_no_version_and_an_object_loses_what_it_did_not_have() {
        let (monitor, mut entries) =
            history(MonitorType::Website, &[json!({"name": "a"}), json!({"name": "b"})]);
        let pause =
            json!({"before": {"paused_until": null}, "after": {"paused_until": "2026-11-27T00:00:00Z"}});
        entries.insert(0, into_object(pause));
        let versions = older_versions(&monitor, &entries);
        assert_eq!(versions[1], Ok(OlderVersion::default()));
        assert_eq!(changes(&versions[2]), [("name", json!("a"))]);
        let field = OlderField { name: "o".to_owned(), now: json!({"a": 1, "b": 2}), then: json!({"a": 3}) };
        let version = OlderVersion { changes: vec![field], kept_secrets: Vec::new() };
        assert_eq!(version.to_body(&monitor).unwrap().to_json(), json!({"o": {"a": 3, "b": null}}));
    }
}
