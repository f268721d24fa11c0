//! Reads the fields of a table from a tree, in any input format, and collects every error.

mod fields;
mod input_format;
mod messages;
mod value;

pub use fields::FieldReader;
pub use input_format::{InputFormat, SecretReader, SecretSource, reject_secret_sources};
