//! Who changed what of a monitor.

use serde_json::{Map, Value};

use super::outages::parse_utc_time;
use crate::service::monitors::{OlderVersion, VersionGap};
use crate::texts::Locale;
use crate::web::html::shown_value;

/// A change in the list.
pub(super) struct ChangeView {
    pub(super) id: i64,
    pub(super) at: String,
    pub(super) login: String,
    pub(super) via: String,
    pub(super) action: String,
    pub(super) fields: Vec<FieldChange>,
    pub(super) version: VersionView,
}

/// The version that a change led to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum VersionView {
    /// It is the present one, or nobody asked.
    Present,
    /// Another one, to which the viewer can go back.
    Older,
    /// One that cannot be rebuilt, and why.
    Lost(String),
}

impl VersionView {
    pub(super) fn new(version: &Result<OlderVersion, VersionGap>) -> Self {
        match version {
            Ok(version) if version.changes.is_empty() => Self::Present,
            Ok(_) => Self::Older,
            Err(gap) => Self::Lost(gap.to_string()),
        }
    }
}

/// A field before and after a change.
pub(super) struct FieldChange {
    pub(super) name: String,
    /// `None` where there was no value.
    pub(super) before: Option<String>,
    /// `None` where there is no value any more.
    pub(super) after: Option<String>,
    /// Whether both look the same: a masked secret, or a difference beyond what is shown.
    pub(super) is_hidden: bool,
}

impl ChangeView {
    /// Reads an entry of the audit trail as the API returns it. Secrets are masked there.
    pub(super) fn new(entry: &Map<String, Value>, t: Locale) -> Self {
        let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let fields = |name: &str| entry.get(name).and_then(Value::as_object);
        let (before, after) = (fields("before"), fields("after"));
        let value = |fields: Option<&Map<String, Value>>, name: &str| {
            fields?.get(name).filter(|value| !value.is_null()).map(shown_value)
        };
        let mut names: Vec<&String> = before.into_iter().chain(after).flat_map(Map::keys).collect();
        names.sort_unstable();
        names.dedup();
        // The entry has only what differs, but secrets are masked and long values cut.
        let to_change = |name: &String| {
            let (before, after) = (value(before, name), value(after, name));
            let is_hidden = before.is_some() && before == after;
            FieldChange { name: name.clone(), before: before.filter(|_| !is_hidden), after, is_hidden }
        };
        let at = text("at");
        Self {
            id: entry.get("id").and_then(Value::as_i64).unwrap_or_default(),
            at: parse_utc_time(&at).map_or(at, |at| t.time(at)),
            login: text("login"),
            via: text("via"),
            action: text("action"),
            fields: names.into_iter().map(to_change).collect(),
            version: VersionView::Present,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_change_names_the_fields_that_differ() {
        let Value::Object(entry) = json!({
            "at": "2026-11-26T12:00:00Z", "login": "ann", "via": "pages", "action": "change",
            "before": {"name": "a", "password": "********", "note": "x", "tags": null},
            "after": {"name": "b", "password": "********", "tags": ["y"]},
        }) else {
            unreachable!()
        };
        let change = ChangeView::new(&entry, Locale::default());
        let fields: Vec<_> = change
            .fields
            .iter()
            .map(|field| {
                (field.name.as_str(), field.before.as_deref(), field.after.as_deref(), field.is_hidden)
            })
            .collect();
        let expected = [
            ("name", Some("a"), Some("b"), false),
            ("note", Some("x"), None, false),
            ("password", None, Some("********"), true),
            ("tags", None, Some(r#"["y"]"#), false),
        ];
        assert_eq!(fields, expected);
    }
}
