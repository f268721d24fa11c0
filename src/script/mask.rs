//! Hides the values of protected variables and puts them back, byte-exact everywhere else.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use super::read::{Script, Variable, read};
use crate::syntax::MASK;

/// What has to stand in a script that protects anything: names of attributes cannot be written otherwise.
const PROTECTED: &str = "protected";

/// Whether the script holds secrets, or may hold some and cannot be read.
#[must_use]
pub fn hides(text: &str) -> bool {
    text.contains(PROTECTED) && read(text).map_or(true, |script| script.variables.iter().any(|v| v.protected))
}

/// The script as it is shown.
#[must_use]
pub fn masked(text: &str) -> Cow<'_, str> {
    if !text.contains(PROTECTED) {
        return Cow::Borrowed(text);
    }
    let Ok(script) = read(text) else { return Cow::Borrowed(MASK) };
    let hidden = script.variables.into_iter().filter(|variable| variable.protected);
    let hidden = hidden.filter_map(|variable| variable.range).filter(|range| !range.is_empty());
    replaced(text, hidden.map(|range| (range, Cow::Borrowed(MASK))).collect())
}

/// `new`, as its author sends it, with the values of `old` where masks stand: of the variable with the same
/// name when `old` protects it. A whole script that is a mask is `old`.
///
/// # Errors
/// Why a mask of a protected variable cannot be replaced, in words that follow "`script`: ".
pub fn unmasked<'t>(new: &'t str, old: Option<&'t str>) -> Result<Cow<'t, str>, String> {
    if !new.contains(MASK) {
        return Ok(Cow::Borrowed(new));
    }
    if new == MASK {
        let old = old.filter(|old| hides(old));
        return old.map(Cow::Borrowed).ok_or_else(|| "it is masked, and there is none to keep".to_owned());
    }
    let script = match read(new) {
        Ok(script) => script,
        Err(_) if !new.contains(PROTECTED) => return Ok(Cow::Borrowed(new)),
        Err(fault) => {
            return Err(format!("masked values cannot be put back into what is no script: {fault}"));
        }
    };
    let read_old = old.filter(|old| old.contains(PROTECTED)).and_then(|old| read(old).ok());
    let kept = kept(old.unwrap_or_default(), read_old.as_ref());
    let mut changes = Vec::new();
    for variable in script.variables.iter().filter(|variable| variable.value == MASK) {
        let Some(range) = variable.range.clone() else { continue };
        match kept.get(variable.name.as_str()) {
            Some(value) => changes.push((range.clone(), requoted(value, closing(new, &range)))),
            None if variable.protected => {
                let name = crate::syntax::truncate_value(&variable.name);
                return Err(format!(
                    "the value of the protected variable `{name}` is masked, and there is none to keep"
                ));
            }
            None => {}
        }
    }
    Ok(replaced(new, changes))
}

/// Whether both protect the same variables with the same values. Scripts that cannot be read and may protect
/// something are only the same as themselves.
#[must_use]
pub fn same_protected(old: &str, new: &str) -> bool {
    if old == new {
        return true;
    }
    let protected = |text: &str| -> Option<Vec<(String, String)>> {
        if !text.contains(PROTECTED) {
            return Some(Vec::new());
        }
        let variables = read(text).ok()?.variables.into_iter().filter(|variable| variable.protected);
        let mut variables: Vec<_> = variables.map(|variable| (variable.name, variable.value)).collect();
        variables.sort_unstable();
        Some(variables)
    };
    matches!((protected(old), protected(new)), (Some(old), Some(new)) if old == new)
}

/// The values of the protected variables of `old`, as they are written there.
fn kept<'s>(old: &'s str, script: Option<&'s Script>) -> HashMap<&'s str, &'s str> {
    let variables = script.map_or(&[][..], |script| script.variables.as_slice());
    let value = |variable: &'s Variable| old.get(variable.range.clone()?);
    variables
        .iter()
        .filter(|variable| variable.protected)
        .filter_map(|variable| Some((variable.name.as_str(), value(variable)?)))
        .collect()
}

/// The quote behind a value.
fn closing(text: &str, range: &Range<usize>) -> char {
    if text[range.end..].starts_with('\'') { '\'' } else { '"' }
}

/// A value as it is written, so that it can stand between `quote`.
fn requoted(value: &str, quote: char) -> Cow<'_, str> {
    match quote {
        '\'' if value.contains('\'') => Cow::Owned(value.replace('\'', "&apos;")),
        '"' if value.contains('"') => Cow::Owned(value.replace('"', "&quot;")),
        _ => Cow::Borrowed(value),
    }
}

/// `text` with other bytes in these places.
fn replaced<'t>(text: &'t str, mut changes: Vec<(Range<usize>, Cow<'_, str>)>) -> Cow<'t, str> {
    if changes.is_empty() {
        return Cow::Borrowed(text);
    }
    changes.sort_unstable_by_key(|(range, _)| range.start);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (range, value) in changes {
        out.push_str(&text[at..range.start]);
        out.push_str(&value);
        at = range.end;
    }
    out.push_str(&text[at..]);
    Cow::Owned(out)
}
