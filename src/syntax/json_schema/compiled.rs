//! Compiled schemas and their evaluation.

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

use super::cost::CostEstimation;
use super::error::JsonSchemaError;
use super::graph::SchemaGraph;
use super::mismatch::Mismatch;
use super::references;

/// Maximum size of the text of a schema, in bytes.
pub const MAX_SCHEMA_BYTES: usize = 64 * 1024;
/// Maximum size of one compiled pattern of a schema, in bytes.
const MAX_PATTERN_BYTES: usize = 1024 * 1024;
/// Maximum number of characters of what a keyword expects, in a mismatch.
const MAX_EXPECTATION_CHARS: usize = 200;
/// Work of an evaluation up to which its errors are collected under `anyOf` and `oneOf`, which takes memory for each.
const MAX_DETAIL_COST: u64 = 200_000;

/// A compiled schema.
#[derive(Debug)]
pub struct JsonSchema {
    graph: SchemaGraph,
    validator: Validator,
}

/// The result of an evaluation.
#[derive(Debug, PartialEq, Eq)]
pub enum SchemaValidation {
    /// The value matches.
    Valid,
    /// The value does not match: where and why.
    Invalid(Mismatch),
    /// The work of the evaluation would exceed its limit, so it was not made.
    TooCostly {
        /// Number of values of the document that were counted until then.
        value_count: u64,
    },
}

impl JsonSchema {
    /// Compiles `text`. Its patterns have the linear syntax of the `regex` crate; `format` and `content…` are
    /// annotations, which check nothing, as the specification has it by default.
    ///
    /// # Errors
    /// [`JsonSchemaError`] when it is no schema of 2020-12, refers to something outside, or could not be evaluated
    /// within bounds.
    pub fn new(text: &str) -> Result<Self, JsonSchemaError> {
        if text.len() > MAX_SCHEMA_BYTES {
            let message = format!("it has {} bytes, more than the limit of {MAX_SCHEMA_BYTES}", text.len());
            return Err(JsonSchemaError::new("", message));
        }
        let mut schema: Value = serde_json::from_str(text)
            .map_err(|error| JsonSchemaError::new("", format!("it is not JSON: {error}")))?;
        if !(schema.is_object() || schema.is_boolean()) {
            return Err(JsonSchemaError::new("", "a schema is an object, `true` or `false`"));
        }
        references::make_local(&mut schema)?;
        let graph = SchemaGraph::new(&schema)?;
        let validator = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .offline()
            .should_validate_formats(false)
            .with_pattern_options(PatternOptions::regex().size_limit(MAX_PATTERN_BYTES))
            .build(&schema)
            .map_err(|error| {
                JsonSchemaError::new(error.instance_path().as_str(), shorten(&error.to_string()))
            })?;
        Ok(Self { graph, validator })
    }

    /// Evaluates `value`. `budget` is the work that is left, in units of some 50 ns at most; what the evaluation can
    /// take at worst is subtracted beforehand.
    #[must_use]
    pub fn evaluate(&self, value: &Value, budget: &mut u64) -> SchemaValidation {
        let Some(cost) = CostEstimation::estimate(&self.graph, value, *budget) else {
            *budget = 0;
            return SchemaValidation::TooCostly { value_count: count_values(value) };
        };
        *budget -= cost.total;
        if self.validator.is_valid(value) {
            return SchemaValidation::Valid;
        }
        if cost.detail > MAX_DETAIL_COST {
            return SchemaValidation::Invalid(Mismatch::default());
        }
        match self.validator.validate(value) {
            Ok(()) => SchemaValidation::Valid,
            Err(error) => SchemaValidation::Invalid(Mismatch {
                pointer: error.instance_path().as_str().to_owned(),
                keyword: error.kind().keyword().to_owned(),
                expectation: shorten(&error.masked_with("it").to_string()),
            }),
        }
    }
}

/// Counts values without recursion: a value may be as deep as its parser allows.
fn count_values(value: &Value) -> u64 {
    let (mut pending, mut count) = (vec![value], 0);
    while let Some(value) = pending.pop() {
        count += 1;
        match value {
            Value::Array(items) => pending.extend(items),
            Value::Object(members) => pending.extend(members.values()),
            _ => {}
        }
    }
    count
}

fn shorten(text: &str) -> String {
    let mut characters = text.chars();
    let without_control = |c: char| if c.is_control() { ' ' } else { c };
    let mut short: String = characters.by_ref().take(MAX_EXPECTATION_CHARS).map(without_control).collect();
    if characters.next().is_some() {
        short.push('…');
    }
    short
}
