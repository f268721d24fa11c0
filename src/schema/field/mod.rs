//! The description of a single field: name, type and bounds, default, and its encoding in each input format.
//! Independent of monitors: records and request bodies are described with the same types.

mod builders;
mod definition;
mod embedded_secrets;
mod lookup;
mod queries;
mod requirement;

pub use definition::{Access, DefaultValue, Field, FieldTable, FieldType, LegacyEncoding};
pub use embedded_secrets::EmbeddedSecrets;
