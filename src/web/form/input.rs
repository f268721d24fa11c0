//! One input of a form, as its field describes it.

use super::fields_from_text::CLEAR_PREFIX;
use super::text_from_values::{FormTexts, is_scalar};
use crate::schema::field::{DefaultValue, Field, FieldType};
use crate::syntax::ValidationError;
use crate::syntax::text_format::TextFormat;

/// Texts that may be longer than this get several lines.
const MAX_LINE_CHARS: usize = 300;

/// Longest text in an input, in bytes. Longer ones are for files and the API.
const MAX_SHOWN_BYTES: usize = 128 * 1024;

/// What a person chooses from: value and label.
pub(super) type Choices = Vec<(String, String)>;

/// An input.
pub(super) struct FormInput {
    /// Name of the field.
    pub(super) name: &'static str,
    /// Label: the name in words.
    pub(super) label: String,
    /// What it is.
    pub(super) help: &'static str,
    /// The value without an input, in words.
    pub(super) default: String,
    /// Whether it has to be filled.
    pub(super) required: bool,
    /// The kind of input.
    pub(super) control: Control,
    /// What it holds.
    pub(super) text: String,
    /// What is wrong with it.
    pub(super) errors: Vec<String>,
    /// Whether it holds something else than its default.
    pub(super) is_changed: bool,
}

/// The kind of input.
pub(super) enum Control {
    /// A box to mark.
    Checkbox,
    /// A choice.
    Select(Choices),
    /// A whole number.
    Number {
        /// Smallest value.
        min: i64,
        /// Largest value.
        max: i64,
    },
    /// A line of text.
    Line,
    /// A URL.
    Url,
    /// A secret, which is never shown.
    Secret {
        /// Whether one is stored.
        is_stored: bool,
        /// Whether the box is marked that removes it.
        is_cleared: bool,
    },
    /// Several lines: a text.
    Lines,
    /// Several lines, of which each is a value.
    List,
    /// Several lines of YAML.
    Yaml,
    /// Too long for a form: it stays as it is.
    TooLong,
}

impl FormInput {
    /// Returns the input of `field`. `choices` replaces what its type says; `is_stored` says whether a secret is stored.
    pub(super) fn new(
        field: &'static Field,
        texts: &FormTexts,
        errors: &[ValidationError],
        choices: Option<Choices>,
        is_stored: bool,
    ) -> Self {
        let default = default_text(field);
        let text = texts.get(field.name).cloned().unwrap_or_default();
        // A secret is not sent back: somebody who saves again must know that.
        let lost_secret = (field.secret && !text.is_empty() && !errors.is_empty())
            .then(|| "Type it again: secrets are not sent back to the browser".to_owned());
        let own = |error: &&ValidationError| error.path.split(['.', '[']).next() == Some(field.name);
        Self {
            name: field.name,
            label: label(field.name),
            help: field.description,
            required: field.required,
            control: if text.len() > MAX_SHOWN_BYTES {
                Control::TooLong
            } else {
                let is_cleared = texts.contains_key(&format!("{CLEAR_PREFIX}{}", field.name));
                control(field, &text, choices, (is_stored, is_cleared))
            },
            errors: errors.iter().filter(own).map(error_text).chain(lost_secret).collect(),
            is_changed: is_stored || !text.is_empty() && text != default,
            text,
            default,
        }
    }

    /// Whether the box is marked.
    pub(super) fn is_checked(&self) -> bool {
        self.text == "true"
    }

    /// Whether `value` is chosen.
    pub(super) fn is_chosen(&self, value: &str) -> bool {
        self.text == value
    }
}

/// Returns what `error` says, and how to fix it.
pub(super) fn error_text(error: &ValidationError) -> String {
    match &error.hint {
        Some(hint) => format!("{}; {hint}", error.message),
        None => error.message.clone(),
    }
}

/// Words of names that are abbreviations.
const ABBREVIATIONS: [&str; 14] =
    ["api", "ca", "dns", "ftp", "har", "http", "id", "ids", "imap", "ip", "ssl", "tls", "ua", "url"];

/// Returns the name of a field in words: `retry_on_failure` as `Retry on failure`, `resolve_dns` as `Resolve DNS`.
fn label(name: &str) -> String {
    let mut label = String::with_capacity(name.len());
    for word in name.split('_') {
        let mut chars = word.chars();
        match chars.next() {
            Some(_) if ABBREVIATIONS.contains(&word) => label.push_str(&word.to_uppercase()),
            Some(first) if label.is_empty() => label.extend(first.to_uppercase().chain(chars)),
            _ => label.push_str(word),
        }
        label.push(' ');
    }
    label.trim_end().to_owned()
}

fn default_text(field: &Field) -> String {
    match field.default {
        DefaultValue::Bool(flag) => flag.to_string(),
        DefaultValue::Int(number) => number.to_string(),
        DefaultValue::Text(text) => text.to_owned(),
        DefaultValue::None | DefaultValue::EmptyList | DefaultValue::ObjectOfDefaults => String::new(),
    }
}

fn control(
    field: &Field,
    text: &str,
    choices: Option<Choices>,
    (is_stored, is_cleared): (bool, bool),
) -> Control {
    let with_none = |choices: Choices| {
        // Without a default, a choice can be left open.
        let none = (field.default_value().is_none()).then(|| (String::new(), "–".to_owned()));
        // A value that is no choice any more stays until somebody chooses another.
        let is_choice = text.is_empty() || choices.iter().any(|(value, _)| value == text);
        let other = (!is_choice).then(|| (text.to_owned(), format!("{text} (no choice any more)")));
        Control::Select(none.into_iter().chain(other).chain(choices).collect())
    };
    match (&field.field_type, choices) {
        (_, Some(choices)) => with_none(choices),
        _ if field.secret => Control::Secret { is_stored, is_cleared },
        (FieldType::Bool, _) => Control::Checkbox,
        (FieldType::IntEnum(numbers), _) => {
            with_none(numbers.iter().map(|number| (number.to_string(), number.to_string())).collect())
        }
        (FieldType::TextEnum(texts), _) => {
            with_none(texts.iter().map(|text| ((*text).to_owned(), (*text).to_owned())).collect())
        }
        (FieldType::Int { min, max }, _) => Control::Number { min: *min, max: *max },
        (FieldType::Text { format: TextFormat::HttpUrl, .. }, _) => Control::Url,
        (FieldType::Text { max, .. }, _)
            if *max > MAX_LINE_CHARS && !field.is_url() || text.contains('\n') =>
        {
            Control::Lines
        }
        (FieldType::Text { .. } | FieldType::Float { .. }, _) => Control::Line,
        (FieldType::List { item_type, .. }, _) if is_scalar(item_type) => Control::List,
        (FieldType::List { .. } | FieldType::Object(_) | FieldType::Any, _) => Control::Yaml,
    }
}
