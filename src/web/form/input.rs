//! One input of a form, as its field describes it.

use super::text_from_values::{FormTexts, is_scalar};
use crate::schema::field::{DefaultValue, Field, FieldType};
use crate::syntax::ValidationError;
use crate::syntax::text_format::TextFormat;

/// Texts that may be longer than this get several lines.
const MAX_LINE_CHARS: usize = 300;

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
    },
    /// Several lines: a text.
    Lines,
    /// Several lines, of which each is a value.
    List,
    /// Several lines of YAML.
    Yaml,
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
        let own = |error: &&ValidationError| error.path.split(['.', '[']).next() == Some(field.name);
        Self {
            name: field.name,
            label: label(field.name),
            help: field.description,
            required: field.required,
            control: control(field, choices, is_stored),
            errors: errors.iter().filter(own).map(error_text).collect(),
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

/// Returns the name of a field in words: `retry_on_failure` as `Retry on failure`.
fn label(name: &str) -> String {
    let words = name.replace('_', " ");
    let mut chars = words.chars();
    chars.next().map_or_else(String::new, |first| format!("{}{}", first.to_uppercase(), chars.as_str()))
}

fn default_text(field: &Field) -> String {
    match field.default {
        DefaultValue::Bool(flag) => flag.to_string(),
        DefaultValue::Int(number) => number.to_string(),
        DefaultValue::Text(text) => text.to_owned(),
        DefaultValue::None | DefaultValue::EmptyList | DefaultValue::ObjectOfDefaults => String::new(),
    }
}

fn control(field: &Field, choices: Option<Choices>, is_stored: bool) -> Control {
    let with_none = |choices: Choices| {
        // Without a default, a choice can be left open.
        let none = (field.default_value().is_none()).then(|| (String::new(), "–".to_owned()));
        Control::Select(none.into_iter().chain(choices).collect())
    };
    match (&field.field_type, choices) {
        (_, Some(choices)) => with_none(choices),
        _ if field.secret => Control::Secret { is_stored },
        (FieldType::Bool, _) => Control::Checkbox,
        (FieldType::IntEnum(numbers), _) => {
            with_none(numbers.iter().map(|number| (number.to_string(), number.to_string())).collect())
        }
        (FieldType::TextEnum(texts), _) => {
            with_none(texts.iter().map(|text| ((*text).to_owned(), (*text).to_owned())).collect())
        }
        (FieldType::Int { min, max }, _) => Control::Number { min: *min, max: *max },
        (FieldType::Text { format: TextFormat::HttpUrl, .. }, _) => Control::Url,
        (FieldType::Text { max, .. }, _) if *max > MAX_LINE_CHARS => match field.is_url() {
            true => Control::Line,
            false => Control::Lines,
        },
        (FieldType::Text { .. } | FieldType::Float { .. }, _) => Control::Line,
        (FieldType::List { item_type, .. }, _) if is_scalar(item_type) => Control::List,
        (FieldType::List { .. } | FieldType::Object(_) | FieldType::Any, _) => Control::Yaml,
    }
}
