//! JSON Schema 2020-12 of assertions (fields.md 4). Nothing is fetched, and the work of one evaluation is bounded
//! beforehand: a schema of a few hundred bytes can ask for more evaluations than a computer makes in a year, and a
//! thread cannot be stopped.

mod compiled;
mod cost;
mod error;
mod graph;
mod keywords;
mod mismatch;
mod references;

#[cfg(test)]
mod tests;

pub use compiled::{JsonSchema, MAX_SCHEMA_BYTES, SchemaValidation};
pub use error::JsonSchemaError;
pub use mismatch::Mismatch;
