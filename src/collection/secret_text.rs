//! Masks the values of type secret in the text of a collection, an environment or globals, and restores them, without
//! changing any other byte.

use std::borrow::Cow;

use serde_json::Value;

use crate::syntax::node::Node;
use crate::syntax::secret_parts::{SecretFormat, SecretPart};

/// Collections, environments and globals.
static FORMAT: SecretFormat = SecretFormat {
    may_hold_secrets,
    parts: secret_variables,
    quote: "\"",
    unreadable: "a text that is no JSON",
};

/// Whether the text may hold values of type secret: a cheap test before it is parsed. The word may be escaped.
fn may_hold_secrets(text: &str) -> bool {
    text.contains("secret") || text.contains("\\u")
}

/// Whether the text holds values of type secret, or may hold some and cannot be parsed.
#[must_use]
pub fn has_secrets(text: &str) -> bool {
    FORMAT.has_secrets(text)
}

/// Returns the values of type secret. Of a text that cannot be parsed, none are known.
#[must_use]
pub fn secret_values(text: &str) -> Vec<String> {
    secret_variables(text).unwrap_or_default().into_iter().map(|variable| variable.value).collect()
}

/// Returns the text with masked secrets; a mask alone when it cannot be parsed.
#[must_use]
pub fn mask_secrets(text: &str) -> Cow<'_, str> {
    FORMAT.mask(text)
}

/// Returns `new`, as sent by a user, with masks replaced by the values of `old` of the same name. If `new` as a whole is a
/// mask, returns `old`.
///
/// # Errors
/// Fails when a mask cannot be replaced, with a text that follows the name of the field and a colon.
pub fn restore_masked_secrets<'t>(new: &'t str, old: Option<&'t str>) -> Result<Cow<'t, str>, String> {
    FORMAT.restore(new, old)
}

/// Returns the variables of type secret; `None` for a text that cannot be parsed.
fn secret_variables(text: &str) -> Option<Vec<SecretPart>> {
    if !may_hold_secrets(text) {
        return Some(Vec::new());
    }
    let (root, offsets) = Node::from_json_with_offsets(text).ok()?;
    let root = root.get("collection").unwrap_or(&root);
    let lists = ["values", "variable"].into_iter().filter_map(|name| root.get(name));
    let is_secret = |entry: &&Node| entry.get("type").and_then(Node::as_text) == Some("secret");
    let variable = |entry: &Node| {
        let name = entry.get("key").or_else(|| entry.get("id")).and_then(Node::as_text)?;
        let node = entry.get("value")?;
        let value = match node.to_json() {
            Value::Null => return None,
            Value::String(text) => text,
            other => other.to_string(),
        };
        Some(SecretPart { name: name.to_owned(), value, range: offsets.get(&node.position)?.clone() })
    };
    Some(lists.flat_map(Node::items).filter(is_secret).filter_map(variable).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::MASK;

    const TEXT: &str = "\u{feff}{\n \"values\": [\n  {\"key\": \"ä\", \"value\": \"open\"},\n  {\"key\": \"t\", \"type\": \"secret\", \"value\": \"s\\\"3\"},\
                        {\"key\": \"e\", \"type\": \"secret\", \"value\": \"\"}]}";

    #[test]
    fn secrets_are_masked_and_restored_and_nothing_else_changes() {
        assert!(has_secrets(TEXT));
        assert_eq!(secret_values(TEXT), ["s\"3", ""]);
        let masked = mask_secrets(TEXT);
        assert_eq!(masked, TEXT.replace("s\\\"3", MASK));
        assert_eq!(restore_masked_secrets(&masked, Some(TEXT)).unwrap(), TEXT);
        assert_eq!(restore_masked_secrets(MASK, Some(TEXT)).unwrap(), TEXT);
        assert_eq!(restore_masked_secrets(TEXT, None).unwrap(), TEXT);
        let error = restore_masked_secrets(&masked, None).unwrap_err();
        assert!(error.contains("secret `t` is masked"), "{error}");
        assert!(restore_masked_secrets(MASK, None).is_err());
    }

    #[test]
    fn texts_without_secrets_stay_as_they_are_and_broken_ones_are_hidden() {
        for text in ["", "{}", "{\"values\": [{\"key\": \"secret\", \"value\": \"x\"}]}"] {
            assert!(!has_secrets(text));
            assert_eq!(mask_secrets(text), text);
        }
        assert_eq!(mask_secrets("{\"values\": [{\"type\": \"secret\""), MASK);
        let collection = "{\"variable\": [{\"key\": \"k\", \"type\": \"secret\", \"value\": \"v\"}]}";
        assert_eq!(mask_secrets(collection), collection.replace("\"v\"", "\"********\""));
    }

    #[test]
    fn every_kind_of_value_and_name_is_found() {
        for (entry, masked) in [
            (
                r#"{"id": "t", "type": "secret", "value": "x"}"#,
                r#"{"id": "t", "type": "secret", "value": "********"}"#,
            ),
            (
                r#"{"key": "p", "type": "secret", "value": 1234}"#,
                r#"{"key": "p", "type": "secret", "value": "********"}"#,
            ),
            (
                r#"{"key": "p", "type": "s\u0065cret", "value": "x"}"#,
                r#"{"key": "p", "type": "s\u0065cret", "value": "********"}"#,
            ),
        ] {
            let text = format!("{{\"values\": [{entry}]}}");
            let hidden = mask_secrets(&text).into_owned();
            assert_eq!(hidden, format!("{{\"values\": [{masked}]}}"));
            assert!(has_secrets(&text));
            assert_eq!(restore_masked_secrets(&hidden, Some(&text)).unwrap(), text);
        }
        let twice = r#"{"values": [{"key": "a", "type": "secret", "value": "1"}, {"key": "a", "type": "secret", "value": "2"}]}"#;
        let hidden = mask_secrets(twice).into_owned();
        assert_eq!(restore_masked_secrets(&hidden, Some(twice)).unwrap(), twice);
    }
}
