//! Masks the values of protected variables and restores them, without changing any other byte.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use super::script_parser::{OutlineVariable, ScriptOutline, parse_outline};
use crate::syntax::MASK;

/// Every script with protected variables contains this text: attribute names have no other spelling.
const PROTECTED_ATTRIBUTE: &str = "protected";

/// Whether the script contains secrets, or may contain some and cannot be parsed.
#[must_use]
pub fn has_secrets(text: &str) -> bool {
    text.contains(PROTECTED_ATTRIBUTE)
        && parse_outline(text).map_or(true, |outline| outline.variables.iter().any(|v| v.protected))
}

/// Returns the values of protected variables. Of a script that cannot be parsed, none are known.
#[must_use]
pub fn secret_values(text: &str) -> Vec<String> {
    if !text.contains(PROTECTED_ATTRIBUTE) {
        return Vec::new();
    }
    let variables = parse_outline(text).map(|outline| outline.variables).unwrap_or_default();
    variables.into_iter().filter(|variable| variable.protected).map(|variable| variable.value).collect()
}

/// Returns the script with masked secrets.
#[must_use]
pub fn mask_secrets(text: &str) -> Cow<'_, str> {
    if !text.contains(PROTECTED_ATTRIBUTE) {
        return Cow::Borrowed(text);
    }
    let Ok(outline) = parse_outline(text) else { return Cow::Borrowed(MASK) };
    let ranges = outline.variables.into_iter().filter(|variable| variable.protected);
    let ranges = ranges.filter_map(|variable| variable.value_range).filter(|range| !range.is_empty());
    replace_ranges(text, ranges.map(|range| (range, Cow::Borrowed(MASK))).collect())
}

/// Returns `new`, as sent by a user, with masks replaced by the values of `old`: those of variables with the same name
/// that are protected in `old`. If `new` as a whole is a mask, returns `old`.
///
/// # Errors
/// Fails when the mask of a protected variable cannot be replaced, with a text that follows "`script`: ".
pub fn restore_masked_secrets<'t>(new: &'t str, old: Option<&'t str>) -> Result<Cow<'t, str>, String> {
    if !new.contains(MASK) {
        return Ok(Cow::Borrowed(new));
    }
    if new == MASK {
        let old = old.filter(|old| has_secrets(old));
        return old
            .map(Cow::Borrowed)
            .ok_or_else(|| "it is masked, and no previous script exists".to_owned());
    }
    let outline = match parse_outline(new) {
        Ok(outline) => outline,
        Err(_) if !new.contains(PROTECTED_ATTRIBUTE) => return Ok(Cow::Borrowed(new)),
        Err(error) => {
            return Err(format!("masked values cannot be restored in an invalid script: {error}"));
        }
    };
    let old_outline =
        old.filter(|old| old.contains(PROTECTED_ATTRIBUTE)).and_then(|old| parse_outline(old).ok());
    let values = protected_values(old.unwrap_or_default(), old_outline.as_ref());
    let mut replacements = Vec::new();
    for variable in outline.variables.iter().filter(|variable| variable.value == MASK) {
        let Some(range) = variable.value_range.clone() else { continue };
        match values.get(variable.name.as_str()) {
            Some(value) => {
                replacements.push((range.clone(), escape_quotes(value, closing_quote(new, &range))));
            }
            None if variable.protected => {
                let name = crate::syntax::truncate_value(&variable.name);
                return Err(format!(
                    "the value of the protected variable `{name}` is masked, and no previous value exists"
                ));
            }
            None => {}
        }
    }
    Ok(replace_ranges(new, replacements))
}

/// Whether both scripts protect the same variables with the same values. Scripts that cannot be parsed and may contain
/// secrets are only equal to themselves.
#[must_use]
pub fn have_same_protected_variables(old: &str, new: &str) -> bool {
    if old == new {
        return true;
    }
    let protected = |text: &str| -> Option<Vec<(String, String)>> {
        if !text.contains(PROTECTED_ATTRIBUTE) {
            return Some(Vec::new());
        }
        let variables = parse_outline(text).ok()?.variables.into_iter().filter(|variable| variable.protected);
        let mut variables: Vec<_> = variables.map(|variable| (variable.name, variable.value)).collect();
        variables.sort_unstable();
        Some(variables)
    };
    matches!((protected(old), protected(new)), (Some(old), Some(new)) if old == new)
}

/// Returns the values of the protected variables of `old`, as written there.
fn protected_values<'s>(old: &'s str, outline: Option<&'s ScriptOutline>) -> HashMap<&'s str, &'s str> {
    let variables = outline.map_or(&[][..], |outline| outline.variables.as_slice());
    let value = |variable: &'s OutlineVariable| old.get(variable.value_range.clone()?);
    variables
        .iter()
        .filter(|variable| variable.protected)
        .filter_map(|variable| Some((variable.name.as_str(), value(variable)?)))
        .collect()
}

/// Returns the quote character after a value.
fn closing_quote(text: &str, range: &Range<usize>) -> char {
    if text[range.end..].starts_with('\'') { '\'' } else { '"' }
}

/// Escapes a value so that it can be placed between `quote` characters.
fn escape_quotes(value: &str, quote: char) -> Cow<'_, str> {
    match quote {
        '\'' if value.contains('\'') => Cow::Owned(value.replace('\'', "&apos;")),
        '"' if value.contains('"') => Cow::Owned(value.replace('"', "&quot;")),
        _ => Cow::Borrowed(value),
    }
}

/// Returns `text` with the given ranges replaced.
fn replace_ranges<'t>(text: &'t str, mut replacements: Vec<(Range<usize>, Cow<'_, str>)>) -> Cow<'t, str> {
    if replacements.is_empty() {
        return Cow::Borrowed(text);
    }
    replacements.sort_unstable_by_key(|(range, _)| range.start);
    let mut out = String::with_capacity(text.len());
    let mut copied_to = 0;
    for (range, value) in replacements {
        out.push_str(&text[copied_to..range.start]);
        out.push_str(&value);
        copied_to = range.end;
    }
    out.push_str(&text[copied_to..]);
    Cow::Owned(out)
}
