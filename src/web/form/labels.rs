//! What inputs are called, and what is said about them.

use crate::domain::NotificationKind;
use crate::schema::field::{DefaultValue, Field, FieldType};
use crate::syntax::ValidationError;
use crate::texts::{Language, Locale, key};

/// Returns what `error` says, and how to fix it.
pub(in crate::web) fn error_text(error: &ValidationError) -> String {
    match &error.hint {
        Some(hint) => format!("{}; {hint}", error.message),
        None => error.message.clone(),
    }
}

/// Words of names that are abbreviations.
const ABBREVIATIONS: [&str; 20] = [
    "api", "ca", "dns", "dnssec", "ftp", "har", "html", "http", "id", "ids", "imap", "ip", "pem", "pop",
    "pop3", "smtp", "ssl", "tls", "ua", "url",
];

/// Names that are no words.
const OTHER_LABELS: [(&str, &str); 11] = [
    ("assoc_id", "Monitor or recipient"),
    ("billing_plancode", "Billing plan"),
    ("errortypes", "Error types"),
    ("ipv4", "IPv4"),
    ("ipv6_enabled", "IPv6"),
    ("is_default", "Default"),
    ("method_id", "Method"),
    ("pkcs12", "PKCS #12"),
    ("thru_date", "Until date"),
    ("thru_day", "Until day"),
    ("thru_time", "Until time"),
];

/// Returns the name of a field in words: `retry_on_failure` as `Retry on failure`, `resolve_dns` as `Resolve DNS`.
pub(super) fn label(name: &str) -> String {
    if let Some((_, label)) = OTHER_LABELS.iter().find(|(known, _)| *known == name) {
        return (*label).to_owned();
    }
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

/// Fields whose values are names: of methods, versions, formats, programs and roles.
pub(super) const FIELDS_OF_NAMES: [&str; 10] = [
    "auth_method",
    "browser",
    "browser_type",
    "http_method",
    "http_version",
    "mimetype",
    "record_type",
    "role",
    "transport",
    "use_ssl_version",
];

/// Returns what the value `text` of `field` is called: values that are words in the language, others as they are.
pub(super) fn value_label(field: &Field, text: &str, t: Locale) -> String {
    match (&field.field_type, field.name) {
        (FieldType::Bool, _) => t.text(if text == "true" { key("yes") } else { key("no") }).to_owned(),
        (FieldType::TextEnum(_), name) if FIELDS_OF_NAMES.contains(&name) => text.to_owned(),
        (FieldType::TextEnum(_), "language") => match Language::from_code(text) {
            Some(language) => language.own_name().to_owned(),
            None => text.to_owned(),
        },
        (FieldType::TextEnum(_), _) => match NotificationKind::from_name(text) {
            Some(kind) => t.text(kind.title()).to_owned(),
            None => t.text(text).to_owned(),
        },
        _ => text.to_owned(),
    }
}

/// Returns the default of `field` as it stands in its input; empty without.
pub(super) fn default_text(field: &Field) -> String {
    match field.default {
        DefaultValue::Bool(flag) => flag.to_string(),
        DefaultValue::Int(number) => number.to_string(),
        DefaultValue::Text(text) => text.to_owned(),
        DefaultValue::None | DefaultValue::EmptyList | DefaultValue::ObjectOfDefaults => String::new(),
    }
}

/// Returns what one of the items of the list `name` is called: `Assertion` for `assertions`.
pub(super) fn singular(name: &str) -> String {
    let label = label(name);
    match (label.strip_suffix("ies"), label.strip_suffix('s')) {
        (Some(stem), _) => format!("{stem}y"),
        (None, Some(stem)) => stem.to_owned(),
        (None, None) => format!("{label} line"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::table::alerting::{PERFORMANCE_ALERT, RECIPIENT, TEMPLATE};
    use crate::schema::table::mail::IMAP;

    #[test]
    fn values_that_are_words_are_in_the_language_and_names_stay() {
        let german = Locale { language: Language::German, ..Locale::default() };
        for (table, field, value, english, in_german) in [
            (&PERFORMANCE_ALERT, "type", "dynamic", "dynamic", "dynamisch"),
            (&PERFORMANCE_ALERT, "enabled", "true", "yes", "ja"),
            (&PERFORMANCE_ALERT, "window", "15", "15", "15"),
            (&TEMPLATE, "kind", "no_data", "No Data", "Keine Daten"),
            (&RECIPIENT, "language", "fr", "Français", "Français"),
            // A mechanism, whose name is a word elsewhere.
            (&IMAP, "auth_method", "login", "login", "login"),
        ] {
            let field = table.field(field).unwrap();
            assert_eq!(value_label(field, value, Locale::default()), english);
            assert_eq!(value_label(field, value, german), in_german);
        }
    }

    #[test]
    fn one_of_several_has_a_name() {
        for (name, expected) in [
            ("api_steps", "API step"),
            ("custom_properties", "Custom property"),
            ("dialogue", "Dialogue line"),
            ("errortypes", "Error type"),
            ("headers", "Header"),
        ] {
            assert_eq!(singular(name), expected);
        }
    }
}
