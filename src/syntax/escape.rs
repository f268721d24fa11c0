//! Escaping of values for the context in which they are inserted.

use std::borrow::Cow;
use std::fmt::Write;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The characters that are encoded in a part of a path or query: all but the unreserved ones (RFC 3986 2.3).
const PERCENT_ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns `text` so that expanding the `${…}` of a SoapUI project in it gives it back: `$${` stands for `${`. What is escaped
/// already stays as it is.
pub(crate) fn escape_expansions(text: Cow<'_, str>) -> Cow<'_, str> {
    let (mut escaped, mut copied_until) = (String::new(), 0);
    for (index, _) in text.match_indices("${") {
        if !text[..index].ends_with('$') {
            escaped.push_str(&text[copied_until..index]);
            escaped.push('$');
            copied_until = index;
        }
    }
    if escaped.is_empty() {
        return text;
    }
    escaped.push_str(&text[copied_until..]);
    Cow::Owned(escaped)
}

/// The escaping of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escape {
    /// As it is.
    Raw,
    /// A host at the start of a URL, as it is; a path may follow. Refused when it is not a host.
    Host,
    /// One segment of a path; `.` and `..` are refused.
    PathSegment,
    /// A part of a query or fragment, percent-encoded.
    UrlComponent,
    JsonString,
    /// A value of `application/x-www-form-urlencoded`.
    FormValue,
    Xml,
    /// The value of a header, as it is; control characters are refused.
    Header,
    /// A literal text within a regular expression.
    Regex,
}

impl Escape {
    /// Escapes `value`. Fails with the reason when it is not allowed in this context.
    pub(crate) fn apply(self, value: &str) -> Result<Cow<'_, str>, &'static str> {
        Ok(match self {
            Self::Host => {
                let host = value.split(['/', '?', '#']).next().unwrap_or_default();
                let fits = |c: char| c.is_alphanumeric() || "-._:[]".contains(c);
                if !host.chars().all(fits) || value.contains(char::is_control) {
                    return Err("its value is not a host");
                }
                Cow::Borrowed(value)
            }
            // URLs treat these as path steps in any encoding (WHATWG URL 4.4).
            Self::PathSegment if matches!(value, "." | "..") => {
                return Err("its value is a step to another path");
            }
            Self::PathSegment | Self::UrlComponent => utf8_percent_encode(value, PERCENT_ENCODED).into(),
            Self::JsonString => Cow::Owned(json_string(value)),
            Self::FormValue => {
                url::form_urlencoded::byte_serialize(value.as_bytes()).collect::<String>().into()
            }
            Self::Xml => crate::domain::escape_html(value),
            Self::Header if value.contains(|c: char| c.is_control() && c != '\t') => {
                return Err("its value has a control character, which would end the header");
            }
            Self::Raw | Self::Header => Cow::Borrowed(value),
            Self::Regex => Cow::Owned(regex::escape(value)),
        })
    }
}

/// Escapes `text` for XML, in texts and attributes.
pub(crate) fn escape_xml_text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Escapes `value` for a JSON string (RFC 8259 7).
fn json_string(value: &str) -> String {
    let mut out = String::with_capacity(value.len() + 8);
    for c in value.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}
