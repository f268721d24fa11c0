//! What one field is: its name, kind and bounds, default, and how each form writes it. Knows nothing of
//! monitors; the settings file is described with the same words.

mod builders;
mod definition;
mod expected;
mod lookup;
mod queries;

pub use definition::{Access, DefaultValue, Field, FieldTable, FieldType, LegacyEncoding};
