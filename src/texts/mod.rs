//! What pages say, in the languages that they speak: one table of sentences, and how times and numbers are written.

mod accepted_language;
mod apply;
mod language;
mod locale;
mod row;
mod table;
#[cfg(test)]
mod table_tests;
#[cfg(test)]
mod untranslated_tests;
mod zone;

mod choices;
mod console;
mod field_labels;
mod mails;
mod monitor;
mod monitor_helps;
mod monitors;
mod record_helps;
mod records;
mod result;
mod web_helps;
mod words;

pub use accepted_language::accepted_language;
pub use language::Language;
pub use locale::{Locale, key};
#[cfg(test)]
pub(crate) use table::{choice_texts, field_texts, is_known_text};
pub use zone::{WallTime, Zone};
