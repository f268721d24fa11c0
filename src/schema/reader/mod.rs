//! Reads the fields of a table out of a tree, in any of the forms, and collects every fault on the way.

mod fields;
mod input_format;
mod messages;
mod value;

pub use fields::FieldReader;
pub use input_format::{InputFormat, SecretReader, SecretSource, reject_secret_sources};
