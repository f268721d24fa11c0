//! The table: each text in English, by which it is found, in German and in French.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::language::Language;
use super::row::Row;
use super::{
    apply, choices, console, field_labels, mails, monitor, monitor_helps, monitors, record_helps, records,
    result, web_helps, words,
};

/// Sentences and labels, by the part of the pages that they were written for.
pub(super) const SENTENCES: &[&[Row]] = &[
    console::SHELL,
    apply::APPLY,
    monitors::LIST,
    monitors::VIEWS,
    monitors::BULK,
    monitor::STATE,
    monitor::PAGE,
    monitor::RELIABILITY,
    monitor::LATENCY,
    result::VERDICT,
    result::DETAILS,
    result::EVIDENCE,
    result::SHARES,
    records::HISTORY,
    records::LOCATIONS,
    records::RECORDS,
    records::FORMS,
];

/// Labels of fields, and what is said about them: the tables of fields have them in English.
const FIELD_TEXTS: &[&[Row]] =
    &[field_labels::LABELS, monitor_helps::HELPS, record_helps::HELPS, web_helps::HELPS];

static BY_ENGLISH: LazyLock<HashMap<&'static str, &'static Row>> =
    LazyLock::new(|| all_rows().map(|row| (row.0, row)).collect());

/// Returns `english` in `language`; `english` itself when the table lacks it.
pub(super) fn find(english: &str, language: Language) -> &str {
    match (BY_ENGLISH.get(english), language) {
        (None, _) | (_, Language::English) => english,
        (Some(row), Language::German) => row.1,
        (Some(row), Language::French) => row.2,
    }
}

/// Returns every row.
pub(super) fn all_rows() -> impl Iterator<Item = &'static Row> {
    SENTENCES
        .iter()
        .chain(FIELD_TEXTS)
        .copied()
        .chain([choices::CHOICES, words::WORDS, mails::MAILS])
        .flatten()
}

/// Whether the table has `english`.
#[cfg(test)]
pub(crate) fn is_known_text(english: &str) -> bool {
    BY_ENGLISH.contains_key(english)
}

/// Returns the values of fields.
#[cfg(test)]
pub(crate) fn choice_texts() -> impl Iterator<Item = &'static str> {
    choices::CHOICES.iter().map(|row| row.0)
}

/// Returns the labels and helps of fields.
#[cfg(test)]
pub(crate) fn field_texts() -> impl Iterator<Item = &'static str> {
    FIELD_TEXTS.iter().copied().flatten().map(|row| row.0)
}
