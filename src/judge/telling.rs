//! Texts that let somebody in, taken out of what is kept of requests and answers.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::template::Escape;
use crate::model::MASK;
use crate::model::table::parts::is_telling;

/// Bytes of a text that is masked where it is found; a shorter one stands anywhere by chance.
const MASKED_FROM: usize = 4;

/// Members of JSON, and pairs of a form or query, by what their names say. A cut text may end within a value.
static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    // `author` is nobody's secret.
    let auth = r"authori[sz]ation|authentication|\bauth\b|[-_]auth|auth[-_]";
    let name = format!("(?:passw|pwd|secret|token|api[-_]?key|session|cookie|jwt|bearer|credential|{auth})");
    let json = format!(r#"("[^"\\]*{name}[^"\\]*"\s*:\s*)(?:"(?:[^"\\]|\\.)*"?|-?[0-9][0-9.eE+-]*)"#);
    let form = format!(r##"((?:^|[&?])[^=&?\s"]*{name}[^=&?\s"]*=)[^&\s"#]*"##);
    Regex::new(&format!("(?i){json}|{form}")).ok()
});

/// Whether a variable of this name lets somebody in.
pub(super) fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    is_telling(&name) || ["passw", "api_key", "jwt", "bearer"].iter().any(|word| name.contains(word))
}

/// Texts that are taken out, in every way in which a URL, a form, JSON or XML writes them.
#[derive(Default)]
pub struct Masks(Vec<String>);

impl Masks {
    /// Those of `secrets`.
    #[must_use]
    pub fn of<'a>(secrets: impl Iterator<Item = &'a str>) -> Self {
        let mut written = Vec::new();
        for secret in secrets.filter(|secret| secret.len() >= MASKED_FROM) {
            for escape in [Escape::Raw, Escape::Component, Escape::Form, Escape::JsonString, Escape::Xml] {
                if let Ok(form) = escape.applied(secret)
                    && !written.iter().any(|known: &String| *known == form)
                {
                    written.push(form.into_owned());
                }
            }
        }
        Self(written)
    }

    /// `text` without them.
    #[must_use]
    pub fn masked<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for written in &self.0 {
            if text.contains(written.as_str()) {
                text = Cow::Owned(text.replace(written.as_str(), MASK));
            }
        }
        text
    }
}

/// `text`, the beginning of a body or a URL, without the values that stand behind names such as `password`.
#[must_use]
pub fn unnamed(text: &str) -> Cow<'_, str> {
    let Some(named) = &*NAMED else { return Cow::Borrowed(text) };
    named.replace_all(text, |found: &Captures<'_>| match (found.get(1), found.get(2)) {
        (Some(member), _) => format!("{}\"{MASK}\"", member.as_str()),
        (_, Some(pair)) => format!("{}{MASK}", pair.as_str()),
        _ => String::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_behind_telling_names_are_masked() {
        for (text, expected) in [
            (
                r#"{"user": "me", "password": "s\"ecret", "n": 1}"#,
                r#"{"user": "me", "password": "********", "n": 1}"#,
            ),
            (r#"{"access_token":"abc"#, r#"{"access_token":"********""#),
            (r#"{"Api-Key" : 12.5e3}"#, r#"{"Api-Key" : "********"}"#),
            (r#"{"tokens": ["a"], "author": "Bob"}"#, r#"{"tokens": ["a"], "author": "Bob"}"#),
            (r#"{"auth":"Bearer x","x_auth":"y"}"#, r#"{"auth":"********","x_auth":"********"}"#),
            ("user=me&passwd=a%20b&x=1", "user=me&passwd=********&x=1"),
            ("http://a/b?sessionid=1&c=d#e", "http://a/b?sessionid=********&c=d#e"),
            ("http://a/token/x?c=d", "http://a/token/x?c=d"),
            ("nothing to hide", "nothing to hide"),
        ] {
            assert_eq!(unnamed(text), expected);
        }
    }
}
