//! Reads the fields of a table out of a tree, in any of the forms, and collects every fault on the way.

mod fields;
mod form;
mod value;
mod wording;

pub use fields::FieldReader;
pub use form::{InputFormat, SecretReader, SecretSource, reject_secret_sources};
