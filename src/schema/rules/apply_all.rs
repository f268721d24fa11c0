//! Applies all rules to a document.

use super::rule_context::{RuleContext, RuleInput};
use super::{
    address, billing_plans, collections, dependencies, host_agent, locations, properties, scripts, steps,
    type_specific,
};
use crate::syntax::ValidationError;

/// Appends the errors of `input` to `errors`, which holds those of single fields. A rule is skipped when one of its
/// fields is already invalid.
pub(in crate::schema) fn apply_all(input: &RuleInput<'_>, errors: &mut Vec<ValidationError>) {
    let invalid_fields: Vec<String> = errors.iter().map(|error| error.root_field().to_owned()).collect();
    let mut cx = RuleContext { input, invalid_fields, errors: Vec::new() };
    address::check(&mut cx);
    locations::check(&mut cx);
    type_specific::check(&mut cx);
    steps::check(&mut cx);
    scripts::check(&mut cx);
    collections::check(&mut cx);
    billing_plans::check(&mut cx);
    properties::check(&mut cx);
    dependencies::check(&mut cx);
    host_agent::check(&mut cx);
    errors.append(&mut cx.errors);
}
