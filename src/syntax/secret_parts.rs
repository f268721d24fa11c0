//! Masks secrets that are parts of a text, and restores them, without changing any other byte.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;

use super::escape::escape_xml_text;
use super::validation_error::{MASK, truncate_value};

/// A secret in a text.
pub(crate) struct SecretPart {
    /// What it is called, by which its mask finds it again.
    pub(crate) name: String,
    pub(crate) value: String,
    /// The bytes of the text that stand for it.
    pub(crate) range: Range<usize>,
}

/// A format of texts of which parts are secrets.
pub(crate) struct SecretFormat {
    /// Whether a text may hold secrets: a cheap test before it is parsed.
    pub(crate) may_hold_secrets: fn(&str) -> bool,
    /// Returns the secrets of a text, in its order; `None` for one that cannot be parsed.
    pub(crate) parts: fn(&str) -> Option<Vec<SecretPart>>,
    /// What stands around a mask, so that the text keeps its format.
    pub(crate) quote: &'static str,
    /// Why masks in a text that cannot be parsed are not restored.
    pub(crate) unreadable: &'static str,
}

impl SecretFormat {
    /// Whether `text` holds secrets, or may hold some and cannot be parsed.
    pub(crate) fn has_secrets(&self, text: &str) -> bool {
        (self.may_hold_secrets)(text) && (self.parts)(text).is_none_or(|parts| !parts.is_empty())
    }

    /// Returns `text` with masked secrets; a mask alone when it cannot be parsed.
    pub(crate) fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if !(self.may_hold_secrets)(text) {
            return Cow::Borrowed(text);
        }
        let Some(parts) = (self.parts)(text) else { return Cow::Borrowed(MASK) };
        let set = parts.into_iter().filter(|part| !part.value.is_empty());
        let mask = format!("{0}{MASK}{0}", self.quote);
        replace_ranges(text, set.map(|part| (part.range, mask.clone())).collect())
    }

    /// Returns `new`, as sent by a user, with masks replaced by the secrets of `old` with the same names. If `new` as a whole
    /// is a mask, returns `old`.
    ///
    /// # Errors
    /// Fails when a mask cannot be replaced, or could stand for several values, with a text that follows the name of the
    /// field and a colon.
    pub(crate) fn restore<'t>(&self, new: &'t str, old: Option<&'t str>) -> Result<Cow<'t, str>, String> {
        if !new.contains(MASK) {
            return Ok(Cow::Borrowed(new));
        }
        if new == MASK {
            let old = old.filter(|old| self.has_secrets(old));
            return old
                .map(Cow::Borrowed)
                .ok_or_else(|| "it is masked, and no previous value exists".to_owned());
        }
        let parts = (self.parts)(new)
            .ok_or_else(|| format!("masked values cannot be restored in {}", self.unreadable))?;
        let old = old.unwrap_or_default();
        restore_parts((new, parts), (old, (self.parts)(old).unwrap_or_default()))
    }
}

/// Returns `new`, as sent by a user, with masks replaced by what stands for the parts of `old` of the same name.
///
/// # Errors
/// Fails when a mask cannot be replaced, or could stand for several values, with a text that follows the name of the
/// field and a colon.
fn restore_parts<'t>(
    (new, new_parts): (&'t str, Vec<SecretPart>),
    (old, old_parts): (&str, Vec<SecretPart>),
) -> Result<Cow<'t, str>, String> {
    // Of several parts with one name, the first mask stands for the first value, and so on: none may be missing.
    let mut known_parts: HashMap<String, VecDeque<SecretPart>> = HashMap::new();
    for part in old_parts {
        known_parts.entry(part.name.clone()).or_default().push_back(part);
    }
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for part in &new_parts {
        *counts.entry(&part.name).or_default() += 1;
    }
    let has_other_count: HashSet<String> = counts
        .into_iter()
        .filter(|(name, count)| known_parts.get(*name).is_some_and(|known| known.len() != *count))
        .map(|(name, _)| name.to_owned())
        .collect();
    let mut replacements = Vec::new();
    for part in new_parts {
        let known = known_parts.get_mut(&part.name).and_then(VecDeque::pop_front);
        if part.value != MASK {
            continue;
        }
        let name = truncate_value(&part.name);
        let Some(known) = known else {
            return Err(format!("the value of the secret `{name}` is masked, and no previous value exists"));
        };
        if has_other_count.contains(&part.name) {
            return Err(format!(
                "the value of the secret `{name}` is masked, and could be one of several previous values: send the value"
            ));
        }
        let raw = &old[known.range];
        // An attribute may have other quotes now.
        let quote = new[part.range.end..].chars().next().filter(|c| matches!(c, '"' | '\''));
        let fits = quote.is_none_or(|quote| !raw.contains(quote));
        replacements.push((part.range, if fits { raw.to_owned() } else { escape_xml_text(&known.value) }));
    }
    Ok(replace_ranges(new, replacements))
}

fn replace_ranges(text: &str, mut replacements: Vec<(Range<usize>, String)>) -> Cow<'_, str> {
    if replacements.is_empty() {
        return Cow::Borrowed(text);
    }
    replacements.sort_by_key(|(range, _)| range.start);
    let (mut out, mut copied) = (String::with_capacity(text.len()), 0);
    for (range, replacement) in replacements {
        // A part in another one is replaced with it.
        if range.start < copied {
            continue;
        }
        out.push_str(&text[copied..range.start]);
        out.push_str(&replacement);
        copied = range.end;
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}
