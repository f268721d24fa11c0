//! The table: each text in English, by which it is found, in German and in French.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::language::Language;
use super::row::Row;
use super::{apply, console, words};

/// Sentences and labels, by the part of the pages that they were written for.
pub(super) const SENTENCES: &[&[Row]] = &[console::SHELL, apply::APPLY];

static BY_ENGLISH: LazyLock<HashMap<&'static str, &'static Row>> = LazyLock::new(|| {
    SENTENCES.iter().copied().chain([words::WORDS]).flatten().map(|row| (row.0, row)).collect()
});

/// Returns `english` in `language`; `english` itself when the table lacks it.
pub(super) fn find(english: &str, language: Language) -> &str {
    match (BY_ENGLISH.get(english), language) {
        (None, _) | (_, Language::English) => english,
        (Some(row), Language::German) => row.1,
        (Some(row), Language::French) => row.2,
    }
}
