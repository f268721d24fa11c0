//! The variables of a run, and how they replace placeholders.

use std::borrow::Cow;
use std::cell::Cell;

use serde_json::Value;

use crate::redaction::sensitive_names::is_sensitive_variable;

/// How many rounds of replacing a text gets, so that values may hold placeholders themselves.
const MAX_ROUNDS: usize = 19;
/// Longest text with its variables, in bytes.
pub const MAX_RENDERED_BYTES: usize = 10 * 1024 * 1024;
/// How much work the texts of one request are: bytes that are read, and more for each placeholder. About 50 ms.
pub(super) const MAX_WORK: usize = 30 * 1024 * 1024;
/// The work of looking up a placeholder, beside a unit for each variable that is looked at.
const LOOKUP_WORK: usize = 100;

/// Where a variable stands; the first scope that has it wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeKind {
    /// Of the request and its scripts.
    Local,
    /// The row of data of the iteration.
    Data,
    /// The environment.
    Environment,
    /// The collection.
    Collection,
    /// Everything.
    Globals,
}

/// The variables of a run by scope.
#[derive(Clone, Default)]
pub struct VariableScopes([Vec<(String, Value)>; 5]);

/// Shows names only: values may be secrets.
impl std::fmt::Debug for VariableScopes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().flatten().map(|(name, _)| name)).finish()
    }
}

impl VariableScopes {
    /// Returns the entries of a scope.
    #[must_use]
    pub fn entries(&self, kind: ScopeKind) -> &[(String, Value)] {
        &self.0[kind as usize]
    }

    /// Replaces the entries of a scope.
    pub fn set_entries(&mut self, kind: ScopeKind, entries: Vec<(String, Value)>) {
        self.0[kind as usize] = entries;
    }

    /// Returns the texts of variables whose names suggest credentials.
    pub fn secret_values(&self) -> impl Iterator<Item = &str> {
        let entries = self.0.iter().flatten().filter(|(name, _)| is_sensitive_variable(name));
        entries.filter_map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// Returns the value of `name`, of the strongest scope that has it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find_map(|scope| scope.iter().find(|(key, _)| key == name).map(|(_, value)| value))
    }

    /// Replaces each `{{name}}` in `text`, the innermost first. Names that are unknown stay as they are; so does the
    /// rest of a text that would exceed 10 MiB, and what is left when it takes too much work.
    #[must_use]
    pub fn replace_in<'t>(&self, text: &'t str, dynamic: &dyn Fn(&str) -> Option<String>) -> Cow<'t, str> {
        self.replace_within(text, dynamic, &Cell::new(MAX_WORK))
    }

    /// Like [`Self::replace_in`], with the work that is left for several texts.
    pub(super) fn replace_within<'t>(
        &self,
        text: &'t str,
        dynamic: &dyn Fn(&str) -> Option<String>,
        work: &Cell<usize>,
    ) -> Cow<'t, str> {
        let mut current = Cow::Borrowed(text);
        for _ in 0..MAX_ROUNDS {
            work.set(work.get().saturating_sub(current.len()));
            if work.get() == 0 {
                break;
            }
            match self.replace_once(&current, dynamic, work) {
                Some(next) => current = Cow::Owned(next),
                None => break,
            }
        }
        current
    }

    /// Replaces the placeholders that hold no others, in one pass; `None` when nothing was replaced.
    fn replace_once(
        &self,
        text: &str,
        dynamic: &dyn Fn(&str) -> Option<String>,
        work: &Cell<usize>,
    ) -> Option<String> {
        let bytes = text.as_bytes();
        let mut out = String::new();
        let (mut copied, mut at) = (0, 0);
        // Where the innermost `{{` stands that nothing has closed yet.
        let mut open: Option<usize> = None;
        let mut has_replaced = false;
        while let Some(&byte) = bytes.get(at) {
            let is_double = bytes.get(at + 1) == Some(&byte);
            match byte {
                b'{' if is_double => open = Some(at),
                // The second brace of the pair.
                b'{' if open == at.checked_sub(1) => {}
                b'{' => open = None,
                b'}' => {
                    let start = open.take().filter(|_| is_double && work.get() > 0);
                    let value = start.and_then(|start| self.text_of(text[start + 2..at].trim(), dynamic));
                    if start.is_some() {
                        // Texts are copied where they have room only; other values are written to know their length.
                        let written = match &value {
                            Some(Cow::Owned(text)) => text.len(),
                            _ => 0,
                        };
                        let lookup_work = LOOKUP_WORK + self.0.iter().map(Vec::len).sum::<usize>();
                        work.set(work.get().saturating_sub(lookup_work + written));
                    }
                    if let (Some(start), Some(value)) = (start, value)
                        && out.len() + value.len() + text.len() <= MAX_RENDERED_BYTES
                    {
                        out.push_str(&text[copied..start]);
                        out.push_str(&value);
                        (copied, has_replaced) = (at + 2, true);
                    }
                    at += usize::from(is_double);
                }
                _ => {}
            }
            at += 1;
        }
        out.push_str(&text[copied..]);
        has_replaced.then_some(out)
    }

    fn text_of(&self, name: &str, dynamic: &dyn Fn(&str) -> Option<String>) -> Option<Cow<'_, str>> {
        match self.get(name) {
            Some(Value::String(text)) => Some(Cow::Borrowed(text)),
            Some(Value::Null) => None,
            Some(value) => Some(Cow::Owned(value.to_string())),
            None if name.starts_with('$') => dynamic(name).map(Cow::Owned),
            None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn scopes() -> VariableScopes {
        let mut scopes = VariableScopes::default();
        let entry = |name: &str, value: Value| (name.to_owned(), value);
        scopes
            .set_entries(ScopeKind::Globals, vec![entry("host", json!("g.test")), entry("only", json!("g"))]);
        scopes.set_entries(
            ScopeKind::Environment,
            vec![
                entry("host", json!("e.test")),
                entry("which", json!("host")),
                entry("url", json!("http://{{host}}/")),
                entry("n", json!(5)),
                entry("list", json!([1, 2])),
                entry("none", Value::Null),
                entry("self", json!("{{self}}x")),
            ],
        );
        scopes.set_entries(ScopeKind::Data, vec![entry("row", json!("r"))]);
        scopes
    }

    #[test]
    fn placeholders_are_replaced_from_inside() {
        let dynamic = |name: &str| (name == "$guid").then(|| "id".to_owned());
        for (text, expected) in [
            ("plain", "plain"),
            ("{{host}}", "e.test"),
            ("{{ host }}/{{only}}/{{row}}", "e.test/g/r"),
            ("{{url}}x", "http://e.test/x"),
            ("{{{{which}}}}", "e.test"),
            ("{{n}} {{list}}", "5 [1,2]"),
            ("{{none}} {{nope}}", "{{none}} {{nope}}"),
            ("{{nope {{host}}}}", "{{nope e.test}}"),
            ("{{$guid}} {{$other}}", "id {{$other}}"),
            ("}} {{host}} {{", "}} e.test {{"),
            ("{\"a\":{\"b\":\"{{host}}\"}}", "{\"a\":{\"b\":\"e.test\"}}"),
            ("{{ä}}{{host}}", "{{ä}}e.test"),
            ("{{{host}}}", "{e.test}"),
            ("{{a}b}} {{host}} {{c{d}}", "{{a}b}} e.test {{c{d}}"),
        ] {
            assert_eq!(scopes().replace_in(text, &dynamic), expected, "{text}");
        }
        assert_eq!(
            scopes().replace_in("{{self}}", &dynamic),
            format!("{{{{self}}}}{}", "x".repeat(MAX_ROUNDS))
        );
    }

    #[test]
    fn braces_without_end_take_linear_time() {
        let started = std::time::Instant::now();
        for pattern in ["}}", "{{", "{{x}}", "{", "}"] {
            let text = pattern.repeat(500_000);
            assert_eq!(scopes().replace_in(&text, &|_| None), text);
        }
        assert!(started.elapsed() < std::time::Duration::from_secs(5), "{:?}", started.elapsed());
    }

    #[test]
    fn texts_that_grow_stay_bounded() {
        let mut scopes = VariableScopes::default();
        let text = json!("{{a}}{{a}}{{a}}{{a}}");
        scopes.set_entries(ScopeKind::Local, vec![("a".to_owned(), text)]);
        let started = std::time::Instant::now();
        for _ in 0..10 {
            assert!(scopes.replace_in("{{a}}", &|_| None).len() <= MAX_RENDERED_BYTES + 1024);
        }
        assert!(started.elapsed() < std::time::Duration::from_secs(5), "{:?}", started.elapsed());
    }

    #[test]
    fn many_variables_and_large_values_take_bounded_time() {
        let started = std::time::Instant::now();
        let mut scopes = VariableScopes::default();
        let entries = (0..400_000).map(|index| (format!("n{index}"), json!("x"))).collect();
        scopes.set_entries(ScopeKind::Globals, entries);
        let _ = scopes.replace_in(&"{{n399999}}".repeat(100_000), &|_| None);
        scopes.set_entries(ScopeKind::Globals, vec![("a".to_owned(), json!("y".repeat(9 << 20)))]);
        let _ = scopes.replace_in(&"{{a}}".repeat(300_000), &|_| None);
        scopes.set_entries(ScopeKind::Globals, vec![("a".to_owned(), json!(["y".repeat(9 << 20)]))]);
        let _ = scopes.replace_in(&"{{a}}".repeat(300_000), &|_| None);
        assert!(started.elapsed() < std::time::Duration::from_secs(5), "{:?}", started.elapsed());
    }
}
