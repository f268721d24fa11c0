//! What a form says when somebody else has saved since it was opened: which fields would be overwritten.

use super::fields_from_text::{StoredValues, is_changed};
use super::input_names::{STEPS, clear_name};
use super::labels::label;
use super::text_from_values::FormTexts;
use crate::schema::field::Field;
use crate::syntax::node::Position;
use crate::syntax::{ValidationError, ValidationErrorKind};
use crate::texts::{Locale, key};

/// Returns the error of a form with `texts` whose subject somebody else has changed: the form of the subject as it is now
/// shows `shown`, and `stored` is stored of it.
pub(super) fn conflict_error(
    fields: &[&'static Field],
    texts: &FormTexts,
    shown: &FormTexts,
    stored: &StoredValues,
    t: Locale,
) -> ValidationError {
    let differs = |field: &&&Field| {
        let clears_secret = field.secret && texts.contains_key(&clear_name(field.name));
        clears_secret || is_changed(field, texts, shown, stored)
    };
    let names: Vec<&str> = fields.iter().filter(differs).map(|field| field.name).collect();
    let labels: Vec<String> = names.iter().map(|name| t.text(&label(name)).to_owned()).collect();
    let text = if names.is_empty() {
        key("Somebody else changed this since you opened the form. It is now as yours")
    } else if names.contains(&STEPS) {
        key(
            "Somebody else changed this since you opened the form. Yours differs from it in: {fields}. Save again to overwrite. Type the secrets of steps that changed again: those that are stored belong to the changed steps",
        )
    } else {
        key(
            "Somebody else changed this since you opened the form. Yours differs from it in: {fields}. Save again to overwrite",
        )
    };
    let message = t.fill(text, &[("fields", &labels.join(", "))]);
    ValidationError::new(ValidationErrorKind::Conflict, "", Position::default(), message)
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::schema::table::alerting::RECIPIENT;
    use crate::texts::Language;
    use crate::web::form::form_fields::shown_fields;
    use crate::web::form::text_from_values::texts_from_values;

    /// Returns what is said in `language` of a form that somebody opened with the values `seen`, and changed by `typed`.
    fn message(seen: &Value, stored: &Value, typed: &[(&str, &str)], language: Language) -> String {
        let fields: Vec<_> = shown_fields(&RECIPIENT).collect();
        let values = |changes: &Value| -> Map<String, Value> {
            let mut values = RECIPIENT.defaults();
            values.extend(changes.as_object().unwrap().clone());
            values
        };
        let (seen, stored) = (values(seen), values(stored));
        let mut texts = texts_from_values(&fields, &seen);
        texts.extend(typed.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())));
        let shown = texts_from_values(&fields, &stored);
        let t = Locale { language, ..Locale::default() };
        conflict_error(&fields, &texts, &shown, &StoredValues::masked(&stored), t).message
    }

    #[test]
    fn what_differs_from_the_change_of_somebody_else_is_named() {
        let (seen, stored) = (json!({"name": "a"}), json!({"name": "b", "stop_threshold": 3}));
        let says = |typed: &[(&str, &str)]| message(&seen, &stored, typed, Language::English);
        let both = says(&[]);
        assert!(both.contains("in: Name, Stop threshold. Save again to overwrite"), "{both}");
        let same = says(&[("name", "b"), ("stop_threshold", "3")]);
        assert!(same.contains("It is now as yours"), "{same}");
        // A box without a mark is not sent.
        let marked = says(&[("name", "b"), ("stop_threshold", "3"), ("availability_alert", "")]);
        assert!(marked.contains("in: Availability alert."), "{marked}");
        // Secrets are named, and not shown.
        for secret in [("password", "hunter2"), ("password@clear", "true")] {
            let typed = [("name", "b"), ("stop_threshold", "3"), secret];
            let text = says(&typed);
            assert!(text.contains("in: Password.") && !text.contains("hunter2"), "{text}");
        }
        let german = message(&seen, &stored, &[], Language::German);
        assert!(german.contains("Name, Höchstzahl der Meldungen."), "{german}");
    }
}
