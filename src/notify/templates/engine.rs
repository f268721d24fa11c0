//! The template engine: minijinja with a step limit, its own filters, and no statements but `if` and `for`.

use std::io;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, escape_formatter};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::template_check;
use crate::domain::escape_html;

/// Most steps of one rendering.
const MAX_RENDER_STEPS: u64 = 20_000;
/// Most bytes of output.
const MAX_OUTPUT_BYTES: usize = 256 * 1024;
/// Most bytes of a joined list.
const MAX_JOINED_BYTES: usize = 16 * 1024;
/// Most characters of a line.
const MAX_LINE_CHARS: usize = 250;
/// Name of the escaping of forms.
const FORM_ESCAPING: &str = "form";

/// Output format of a template, which determines how values are escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    /// One line: a subject or title. Line breaks become spaces.
    SingleLine,
    /// Plain text.
    Text,
    /// HTML.
    Html,
    /// JSON: each value is written as JSON, a string with its quotes.
    Json,
    /// `application/x-www-form-urlencoded`.
    Form,
}

impl OutputFormat {
    fn auto_escape(self) -> AutoEscape {
        match self {
            Self::SingleLine | Self::Text => AutoEscape::None,
            Self::Html => AutoEscape::Html,
            Self::Json => AutoEscape::Json,
            Self::Form => AutoEscape::Custom(FORM_ESCAPING.into()),
        }
    }
}

/// Renders `source` with `values`. An error is a message for people.
pub(super) fn render_template(
    format: OutputFormat,
    source: &str,
    values: &serde_json::Value,
) -> Result<String, String> {
    template_check::check_template(source)?;
    let mut environment = new_environment(format);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.map_err(|error| describe_error(&error))?);
    let template =
        environment.template_from_named_str("template", source).map_err(|error| describe_error(&error))?;
    let mut output = BoundedWriter::default();
    template
        .render_captured_to(Value::from(Serde(values)), &mut output)
        .map_err(|error| describe_error(&error))?;
    let text = String::from_utf8(output.bytes).map_err(|_| "its output is not valid UTF-8".to_owned())?;
    match format {
        OutputFormat::SingleLine => Ok(to_single_line(&text)),
        OutputFormat::Json => match serde_json::from_str::<serde::de::IgnoredAny>(&text) {
            Ok(_) => Ok(text),
            Err(error) => Err(format!(
                "its output is not valid JSON: {error}; values include their quotes: write {{\"name\": {{{{ device_name }}}}}}"
            )),
        },
        _ => Ok(text),
    }
}

fn new_environment(format: OutputFormat) -> Environment<'static> {
    let mut environment = Environment::empty();
    environment.set_fuel(Some(MAX_RENDER_STEPS));
    environment.set_recursion_limit(50);
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.set_auto_escape_callback(move |_| format.auto_escape());
    environment.set_formatter(|out, state, value| {
        if matches!(state.auto_escape(), AutoEscape::Custom(_)) {
            let text = value.to_string();
            return Ok(write!(out, "{}", utf8_percent_encode(&text, NON_ALPHANUMERIC))?);
        }
        escape_formatter(out, state, value)
    });
    environment.add_filter("upper", |text: String| text.to_uppercase());
    environment.add_filter("lower", |text: String| text.to_lowercase());
    environment.add_filter("trim", |text: String| text.trim().to_owned());
    environment.add_filter("truncate", |text: String, max: usize| text.chars().take(max).collect::<String>());
    environment.add_filter(
        "default",
        |value: Value, fallback: Value| if value.is_true() { value } else { fallback },
    );
    environment.add_filter("length", |value: Value| value.len().unwrap_or_default());
    environment.add_filter("first", |value: Value| {
        value.try_iter().ok().and_then(|mut items| items.next()).unwrap_or_default()
    });
    environment.add_filter("join", join_filter);
    environment
        .add_filter("urlencode", |text: String| utf8_percent_encode(&text, NON_ALPHANUMERIC).to_string());
    environment.add_test("defined", |value: Value| !value.is_undefined());
    environment
}

fn join_filter(list: Value, separator: Option<String>) -> Result<String, Error> {
    let separator = separator.unwrap_or_default();
    let mut joined = String::new();
    for (index, item) in list.try_iter()?.enumerate() {
        if index > 0 {
            joined.push_str(&separator);
        }
        joined.push_str(&item.to_string());
        if joined.len() > MAX_JOINED_BYTES {
            return Err(Error::new(ErrorKind::InvalidOperation, "the joined text is too long"));
        }
    }
    Ok(joined)
}

/// A writer that holds at most [`MAX_OUTPUT_BYTES`] bytes.
#[derive(Default)]
struct BoundedWriter {
    bytes: Vec<u8>,
}

impl io::Write for BoundedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > MAX_OUTPUT_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn describe_error(error: &Error) -> String {
    let text = match error.kind() {
        ErrorKind::OutOfFuel => "it takes too many steps".to_owned(),
        ErrorKind::WriteFailure => format!("its output exceeds {MAX_OUTPUT_BYTES} bytes"),
        kind => error.detail().map_or_else(|| kind.to_string(), |detail| format!("{kind}: {detail}")),
    };
    match error.line() {
        Some(line) => format!("line {line}: {text}"),
        None => text,
    }
}

/// Joins text into one line without control characters.
fn to_single_line(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let words: Vec<&str> = spaced.split_whitespace().collect();
    words.join(" ").chars().take(MAX_LINE_CHARS).collect()
}

/// Converts plain text to HTML that looks the same.
pub(super) fn text_to_html(text: &str) -> String {
    let text = escape_html(text);
    format!(
        "<!DOCTYPE html>\n<html><body><pre style=\"font:14px/1.4 sans-serif;white-space:pre-wrap\">{text}</pre></body></html>\n"
    )
}
