//! Evaluates a response by a JSON Schema.

use std::borrow::Cow;

use super::lookup::Lookup;
use super::response::{ParsedResponse, ResponseNode, excerpt};
use crate::domain::FailureKind;
use crate::syntax::json_schema::{JsonSchema, Mismatch, SchemaValidation};

/// Maximum number of characters of a path in a failure.
const MAX_PATH_CHARS: usize = 200;

/// Returns the kind of the failure, and what was found, when none of the selected values matches `schema`. That the
/// evaluation would be too costly is a limit of Vigie, not a fault of the target.
pub(super) fn evaluate(
    schema: &JsonSchema,
    lookup: &Lookup,
    response: &ParsedResponse<'_>,
) -> Result<(), (FailureKind, String)> {
    let assertion_failed = |found: &str| (FailureKind::AssertionFailed, format!("found {found}"));
    let nodes = lookup.select(response).map_err(|reason| assertion_failed(&reason))?;
    let mut first_mismatch = None;
    for node in &nodes {
        let ResponseNode::Json(value) = node else { continue };
        let mut budget = response.schema_budget.get();
        let evaluation = schema.evaluate(value, &mut budget);
        response.schema_budget.set(budget);
        match evaluation {
            SchemaValidation::Valid => return Ok(()),
            SchemaValidation::Invalid(mismatch) => {
                first_mismatch.get_or_insert_with(|| describe(node, &mismatch));
            }
            SchemaValidation::TooCostly { value_count } => {
                let text = format!(
                    "the schema is too costly for a document of {value_count} values; select a part of it by \
                     `property`, or have fewer alternatives and references one in the other"
                );
                return Err((FailureKind::Internal, text));
            }
        }
    }
    let Some(mismatch) = first_mismatch else { return Err(assertion_failed("nothing")) };
    let node_count_text =
        if nodes.len() > 1 { format!(" (the first of {} nodes)", nodes.len()) } else { String::new() };
    Err(assertion_failed(&format!("{mismatch}{node_count_text}")))
}

fn describe(node: &ResponseNode<'_>, mismatch: &Mismatch) -> String {
    let ResponseNode::Json(value) = node else { return node.describe() };
    if mismatch.keyword.is_empty() {
        return format!("{}, which does not match; the place would be too costly to find", node.describe());
    }
    let place = match mismatch.find(value) {
        Some(found) => ResponseNode::Json(Cow::Borrowed(found)).describe(),
        None => "nothing".to_owned(),
    };
    let path = excerpt(&mismatch.json_path(value), MAX_PATH_CHARS);
    format!("{place} at `{path}`, refused by `{}`: {}", mismatch.keyword, mismatch.expectation)
}
