//! Templates with placeholders `{{name}}`, whose values are escaped for their context (behaviour.md 4, website-api).
//!
//! | Context | Escaping of a value |
//! |---|---|
//! | URL, at its beginning | none: it may be a whole URL, and name another host |
//! | URL, in the host | none; anything but a host, a port, and a path after them is rejected |
//! | URL, in the path | percent-encoded: it stays one segment; `.` and `..`, which change the path, are rejected |
//! | URL, in query or fragment | percent-encoded: it stays one value |
//! | body, JSON | escaped inside a string, else none: a number, an object |
//! | body, form | form-encoded |
//! | body, XML | `&`, `<`, `>` and quotes escaped |
//! | other bodies, login | none |
//! | header | none; control characters are rejected, so that no request is ever split |
//! | assertion | none; in a regular expression it matches literally |
//!
//! Built-in variables, an extension: `{{$timestamp}}` and `{{$timestamp_ms}}` (Unix time), `{{$isoTimestamp}}`,
//! `{{$uuid}}` (version 4) and `{{$randomInt}}` (0 to 999999). Each has one value for the whole attempt, so that a
//! later step can refer to what an earlier one created.

use std::sync::OnceLock;

use crate::domain::{Failure, FailureKind, Phase, Timestamp, format_uuid_v4};
use crate::redaction::sensitive_names::is_sensitive_variable;
use crate::syntax::escape::Escape;
use crate::syntax::template::{TemplatePart, parse_template};

/// Maximum size of a rendered text in bytes.
const MAX_RENDERED_BYTES: usize = 1024 * 1024;

/// The context of a text with placeholders, which decides the escaping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EscapeContext {
    /// The URL of a request.
    Url,
    /// The value of a header, also of one with a token.
    Header,
    /// A user name or password.
    Login,
    /// A body that is JSON.
    Json,
    /// A body that is a form.
    Form,
    /// A body that is XML.
    Xml,
    /// Any other body.
    Body,
    /// The value of an assertion.
    Value,
    /// The value of an assertion that is a regular expression.
    Regex,
}

impl EscapeContext {
    /// Returns the context of a body with this media type.
    #[must_use]
    pub fn from_content_type(content_type: &str) -> Self {
        let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match essence.as_str() {
            "application/x-www-form-urlencoded" => Self::Form,
            "application/json" | "text/json" => Self::Json,
            "application/xml" | "text/xml" => Self::Xml,
            other if other.ends_with("+json") => Self::Json,
            other if other.ends_with("+xml") => Self::Xml,
            _ => Self::Body,
        }
    }

    const fn description(self) -> &'static str {
        match self {
            Self::Url => "the URL",
            Self::Header => "a header",
            Self::Login => "the login",
            Self::Json | Self::Form | Self::Xml | Self::Body => "the body",
            Self::Value | Self::Regex => "the value of an assertion",
        }
    }
}

#[derive(Clone, Debug)]
enum CompiledPart {
    Text(Box<str>),
    /// The name of a variable, and how its value is escaped.
    Placeholder(Box<str>, Escape),
}

/// A parsed template.
#[derive(Clone, Debug)]
pub struct Template {
    parts: Box<[CompiledPart]>,
    context: EscapeContext,
}

impl Template {
    /// Parses `text` for the context `context`.
    #[must_use]
    pub fn new(text: &str, context: EscapeContext) -> Self {
        let mut preceding = PrecedingText::default();
        let compile_part = |source_part: TemplatePart<'_>| match source_part {
            TemplatePart::Text(text) => {
                preceding.append(text);
                CompiledPart::Text(text.into())
            }
            TemplatePart::Placeholder(name) => {
                let escape = preceding.escape_for(context);
                preceding.has_text = true;
                CompiledPart::Placeholder(name.into(), escape)
            }
        };
        Self { parts: parse_template(text).into_iter().map(compile_part).collect(), context }
    }

    /// Whether there are placeholders.
    #[must_use]
    pub fn has_placeholders(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, CompiledPart::Placeholder(..)))
    }

    /// Renders the text with the values of `variables`.
    ///
    /// # Errors
    /// [`FailureKind::VariableNotSet`] when one is not set, [`FailureKind::VariableInvalid`] when a value is not
    /// allowed in its context or the text exceeds 1 MiB.
    pub fn render(&self, variables: &Variables) -> Result<String, Failure> {
        if let [CompiledPart::Text(text)] = &*self.parts {
            return Ok(String::from(&**text));
        }
        let mut out = String::new();
        for part in &self.parts {
            match part {
                CompiledPart::Text(text) => out.push_str(text),
                CompiledPart::Placeholder(name, escape) => {
                    let value = variables.get(name).ok_or_else(|| self.unknown_variable_failure(name))?;
                    out.push_str(
                        &escape.apply(value).map_err(|reason| self.invalid_value_failure(name, reason))?,
                    );
                }
            }
            if out.len() > MAX_RENDERED_BYTES {
                let detail = format!(
                    "{} has more than {MAX_RENDERED_BYTES} bytes with its variables",
                    self.context.description()
                );
                return Err(Failure::new(Phase::Prepare, FailureKind::VariableInvalid, detail));
            }
        }
        Ok(out)
    }

    fn unknown_variable_failure(&self, name: &str) -> Failure {
        let reason =
            if name.starts_with('$') { "is not a built-in variable" } else { "was set by no step before" };
        let detail = format!("`{{{{{name}}}}}` in {} {reason}", self.context.description());
        Failure::new(Phase::Prepare, FailureKind::VariableNotSet, detail)
    }

    fn invalid_value_failure(&self, name: &str, reason: &str) -> Failure {
        let detail = format!("`{{{{{name}}}}}` in {}: {reason}", self.context.description());
        Failure::new(Phase::Prepare, FailureKind::VariableInvalid, detail)
    }
}

/// The state of the text before a placeholder.
#[derive(Default)]
struct PrecedingText {
    /// Whether there is any text.
    has_text: bool,
    /// Whether the host has ended: by a `/`, `?` or `#` other than those of `://`.
    host_ended: bool,
    /// Whether the path has ended: by a `?` or `#`.
    path_ended: bool,
    /// Whether a JSON string is open.
    in_json_string: bool,
    /// Whether the last byte was a backslash in that string.
    escaped: bool,
}

impl PrecedingText {
    fn append(&mut self, text: &str) {
        let mut rest = text;
        let scheme = text.split_once("://").filter(|(scheme, _)| !scheme.contains(['/', '?', '#']));
        if let Some((_, after_scheme)) = scheme {
            rest = after_scheme;
        }
        self.host_ended |= rest.contains(['/', '?', '#']);
        self.path_ended |= rest.contains(['?', '#']);
        self.has_text = true;
        for byte in text.bytes() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_json_string => self.escaped = true,
                b'"' => self.in_json_string = !self.in_json_string,
                _ => {}
            }
        }
    }

    fn escape_for(&self, context: EscapeContext) -> Escape {
        match context {
            EscapeContext::Url if !self.has_text => Escape::Raw,
            EscapeContext::Url if self.path_ended => Escape::UrlComponent,
            EscapeContext::Url if self.host_ended => Escape::PathSegment,
            EscapeContext::Url => Escape::Host,
            EscapeContext::Header => Escape::Header,
            EscapeContext::Json if self.in_json_string => Escape::JsonString,
            EscapeContext::Form => Escape::FormValue,
            EscapeContext::Xml => Escape::Xml,
            EscapeContext::Regex => Escape::Regex,
            EscapeContext::Login | EscapeContext::Json | EscapeContext::Body | EscapeContext::Value => {
                Escape::Raw
            }
        }
    }
}

/// The variables of one attempt.
#[derive(Clone)]
pub struct Variables {
    values: Vec<(String, String)>,
    /// Names of variables whose values are secrets, whatever their names.
    secret_names: Vec<String>,
    now: Timestamp,
    random: u128,
    /// Created at the first use of a built-in variable.
    built_in: OnceLock<[(&'static str, String); 5]>,
}

/// Shows names only: values may be secrets.
impl std::fmt::Debug for Variables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.values.iter().map(|(name, _)| name)).finish()
    }
}

impl Variables {
    /// Creates the built-in variables of an attempt that starts at `now`; `random` is the source of random values.
    #[must_use]
    pub fn new(now: Timestamp, random: u128) -> Self {
        let (values, secret_names) = (Vec::new(), Vec::new());
        Self { values, secret_names, now, random, built_in: OnceLock::new() }
    }

    fn built_in(&self) -> &[(&'static str, String); 5] {
        let micros = self.now.as_micros();
        self.built_in.get_or_init(|| {
            [
                ("$timestamp", micros.div_euclid(1_000_000).to_string()),
                ("$timestamp_ms", micros.div_euclid(1000).to_string()),
                ("$isoTimestamp", self.now.to_string()),
                ("$uuid", format_uuid_v4(self.random)),
                ("$randomInt", (self.random.rotate_left(64) % 1_000_000).to_string()),
            ]
        })
    }

    /// Sets the variable `name`.
    pub fn set(&mut self, name: &str, value: String) {
        match self.values.iter_mut().find(|(variable_name, _)| variable_name == name) {
            Some((_, old)) => *old = value,
            None => self.values.push((name.to_owned(), value)),
        }
    }

    /// Returns the value of `name`; the name of a built-in variable includes the `$`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        let step_value = self
            .values
            .iter()
            .find(|(variable_name, _)| variable_name == name)
            .map(|(_, value)| value.as_str());
        let built_in = || self.built_in().iter().find(|(variable_name, _)| *variable_name == name);
        match step_value {
            None if name.starts_with('$') => built_in().map(|(_, value)| value.as_str()),
            step_value => step_value,
        }
    }

    /// Marks the value of `name` as a secret.
    pub fn mark_secret(&mut self, name: &str) {
        self.secret_names.push(name.to_owned());
    }

    /// Returns the secret values, which are stored nowhere: those of protected variables, and of variables whose names
    /// suggest credentials, such as `token`.
    pub fn secret_values(&self) -> impl Iterator<Item = &str> {
        let is_secret = |name: &String| is_sensitive_variable(name) || self.secret_names.contains(name);
        self.values.iter().filter(move |(name, _)| is_secret(name)).map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
