//! Masks the values of type secret in the text of a collection, an environment or globals, and restores them, without
//! changing any other byte.

use std::borrow::Cow;
use std::ops::Range;

use crate::syntax::MASK;
use crate::syntax::node::{Node, Position};

/// Every text with such values contains this one.
const SECRET_TYPE: &str = "\"secret\"";

/// A variable of type secret.
struct SecretVariable {
    name: String,
    value: String,
    /// The bytes between the quotes of its value.
    range: Range<usize>,
}

/// Whether the text holds values of type secret, or may hold some and cannot be parsed.
#[must_use]
pub fn has_secrets(text: &str) -> bool {
    text.contains(SECRET_TYPE) && secret_variables(text).is_none_or(|variables| !variables.is_empty())
}

/// Returns the values of type secret. Of a text that cannot be parsed, none are known.
#[must_use]
pub fn secret_values(text: &str) -> Vec<String> {
    secret_variables(text).unwrap_or_default().into_iter().map(|variable| variable.value).collect()
}

/// Returns the text with masked secrets; a mask alone when it cannot be parsed.
#[must_use]
pub fn mask_secrets(text: &str) -> Cow<'_, str> {
    if !text.contains(SECRET_TYPE) {
        return Cow::Borrowed(text);
    }
    let Some(variables) = secret_variables(text) else { return Cow::Borrowed(MASK) };
    let ranges = variables.into_iter().filter(|variable| !variable.range.is_empty());
    replace_ranges(text, ranges.map(|variable| (variable.range, MASK.to_owned())).collect())
}

/// Returns `new`, as sent by a user, with masks replaced by the values of `old` of the same name. If `new` as a whole is a
/// mask, returns `old`.
///
/// # Errors
/// Fails when a mask cannot be replaced, with a text that follows the name of the field and a colon.
pub fn restore_masked_secrets<'t>(new: &'t str, old: Option<&'t str>) -> Result<Cow<'t, str>, String> {
    if !new.contains(MASK) {
        return Ok(Cow::Borrowed(new));
    }
    if new == MASK {
        let old = old.filter(|old| has_secrets(old));
        return old.map(Cow::Borrowed).ok_or_else(|| "it is masked, and no previous value exists".to_owned());
    }
    let Some(variables) = secret_variables(new) else { return Ok(Cow::Borrowed(new)) };
    let old = old.and_then(secret_variables).unwrap_or_default();
    let mut replacements = Vec::new();
    for variable in variables.into_iter().filter(|variable| variable.value == MASK) {
        let Some(known) = old.iter().find(|known| known.name == variable.name) else {
            let name = crate::syntax::truncate_value(&variable.name);
            return Err(format!("the value of the secret `{name}` is masked, and no previous value exists"));
        };
        let quoted = serde_json::Value::from(known.value.as_str()).to_string();
        replacements.push((variable.range, quoted[1..quoted.len() - 1].to_owned()));
    }
    Ok(replace_ranges(new, replacements))
}

/// Returns the variables of type secret; `None` for a text that cannot be parsed.
fn secret_variables(text: &str) -> Option<Vec<SecretVariable>> {
    if !text.contains(SECRET_TYPE) {
        return Some(Vec::new());
    }
    let root = Node::from_json_with_positions(text).ok()?;
    let offset = text.len() - text.trim_start_matches('\u{feff}').len();
    let root = root.get("collection").unwrap_or(&root);
    let lists = ["values", "variable"].into_iter().filter_map(|name| root.get(name));
    let is_secret = |entry: &&Node| entry.get("type").and_then(Node::as_text) == Some("secret");
    let line_starts: Vec<usize> =
        std::iter::once(0).chain(text[offset..].match_indices('\n').map(|(at, _)| at + 1)).collect();
    let variable = |entry: &Node| {
        let value = entry.get("value")?;
        let start = offset + byte_offset(&text[offset..], &line_starts, value.position)?;
        let (name, content) = (entry.get("key").and_then(Node::as_text)?, value.as_text()?);
        Some(SecretVariable {
            name: name.to_owned(),
            value: content.to_owned(),
            range: string_content(text, start)?,
        })
    };
    Some(lists.flat_map(Node::items).filter(is_secret).filter_map(variable).collect())
}

fn byte_offset(text: &str, line_starts: &[usize], position: Position) -> Option<usize> {
    let line_start = *line_starts.get(usize::try_from(position.line).ok()?.checked_sub(1)?)?;
    let column = usize::try_from(position.column).ok()?.checked_sub(1)?;
    text[line_start..].char_indices().nth(column).map(|(at, _)| line_start + at)
}

/// Returns the bytes between the quotes of the string that begins at `start`.
fn string_content(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    if bytes.get(start) != Some(&b'"') {
        return None;
    }
    let mut at = start + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(start + 1..at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

fn replace_ranges(text: &str, mut replacements: Vec<(Range<usize>, String)>) -> Cow<'_, str> {
    if replacements.is_empty() {
        return Cow::Borrowed(text);
    }
    replacements.sort_by_key(|(range, _)| range.start);
    let (mut out, mut copied) = (String::with_capacity(text.len()), 0);
    for (range, replacement) in replacements {
        out.push_str(&text[copied..range.start]);
        out.push_str(&replacement);
        copied = range.end;
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
