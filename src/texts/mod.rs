//! What pages say, in the languages that they speak: one table of sentences, and how times and numbers are written.

mod accepted_language;
mod language;
mod locale;
mod row;
mod table;
#[cfg(test)]
mod table_tests;
#[cfg(test)]
mod untranslated_tests;
mod zone;

mod console;
mod field_helps;
mod field_labels;
mod monitor;
mod monitors;
mod records;
mod result;
mod words;

pub use accepted_language::accepted_language;
pub use language::Language;
pub use locale::{Locale, key};
pub use zone::Zone;
