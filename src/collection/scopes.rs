//! The variables of a run, and how they replace placeholders.

use std::borrow::Cow;

use serde_json::Value;

/// How many rounds of replacing a text gets, so that values may hold placeholders themselves.
const MAX_ROUNDS: usize = 19;
/// Longest text with its variables, in bytes.
pub const MAX_RENDERED_BYTES: usize = 10 * 1024 * 1024;

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

impl ScopeKind {
    /// Every scope, the strongest first.
    pub const ALL: [Self; 5] = [Self::Local, Self::Data, Self::Environment, Self::Collection, Self::Globals];
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

    /// Returns the value of `name`, of the strongest scope that has it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find_map(|scope| scope.iter().find(|(key, _)| key == name).map(|(_, value)| value))
    }

    /// Replaces each `{{name}}` in `text`, the innermost first. Names that are unknown stay as they are; so does the
    /// rest of a text that would exceed 10 MiB.
    #[must_use]
    pub fn replace_in<'t>(&self, text: &'t str, dynamic: &dyn Fn(&str) -> Option<String>) -> Cow<'t, str> {
        let mut current = Cow::Borrowed(text);
        for _ in 0..MAX_ROUNDS {
            match self.replace_once(&current, dynamic) {
                Some(next) => current = Cow::Owned(next),
                None => break,
            }
        }
        current
    }

    /// Replaces the placeholders that hold no others; `None` when nothing was replaced.
    fn replace_once(&self, text: &str, dynamic: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        let mut out = String::new();
        let (mut copied, mut search_from, mut has_replaced) = (0, 0, false);
        while let Some(end) = text[search_from..].find("}}").map(|at| search_from + at) {
            let start = text[copied..end].rfind("{{").map(|at| copied + at);
            search_from = end + 2;
            let Some(start) = start else { continue };
            let name = &text[start + 2..end];
            if name.contains(['{', '}']) {
                continue;
            }
            let Some(value) = self.text_of(name.trim(), dynamic) else { continue };
            if out.len() + value.len() + text.len() > MAX_RENDERED_BYTES {
                continue;
            }
            out.push_str(&text[copied..start]);
            out.push_str(&value);
            (copied, has_replaced) = (search_from, true);
        }
        out.push_str(&text[copied..]);
        has_replaced.then_some(out)
    }

    fn text_of(&self, name: &str, dynamic: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        match self.get(name) {
            Some(Value::String(text)) => Some(text.clone()),
            Some(Value::Null) => None,
            Some(value) => Some(value.to_string()),
            None if name.starts_with('$') => dynamic(name),
            None => None,
        }
    }

    /// Replaces placeholders in every text of `value`.
    #[must_use]
    pub fn replace_in_json(&self, value: &Value, dynamic: &dyn Fn(&str) -> Option<String>) -> Value {
        match value {
            Value::String(text) => Value::from(self.replace_in(text, dynamic)),
            Value::Array(items) => items.iter().map(|item| self.replace_in_json(item, dynamic)).collect(),
            Value::Object(entries) => {
                let replaced =
                    entries.iter().map(|(key, value)| (key.clone(), self.replace_in_json(value, dynamic)));
                Value::Object(replaced.collect())
            }
            other => other.clone(),
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
        ] {
            assert_eq!(scopes().replace_in(text, &dynamic), expected, "{text}");
        }
        assert_eq!(
            scopes().replace_in("{{self}}", &dynamic),
            format!("{{{{self}}}}{}", "x".repeat(MAX_ROUNDS))
        );
    }

    #[test]
    fn texts_that_grow_stay_bounded() {
        let mut scopes = VariableScopes::default();
        let text = json!("{{a}}{{a}}{{a}}{{a}}");
        scopes.set_entries(ScopeKind::Local, vec![("a".to_owned(), text)]);
        assert!(scopes.replace_in("{{a}}", &|_| None).len() <= MAX_RENDERED_BYTES + 1024);
    }
}
