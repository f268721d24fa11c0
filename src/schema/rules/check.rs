//! Applies all rules to a document.

use super::rule_context::{RuleContext, RuleInput};
use super::{address, locations, plans, properties, scripts, steps, web};
use crate::syntax::ValidationError;

/// Adds the faults of `judged` to those of its single fields. A rule rests when one of the fields that it
/// looks at is faulty by itself.
pub(in crate::schema) fn check(judged: &RuleInput<'_>, faults: &mut Vec<ValidationError>) {
    let broken: Vec<String> = faults.iter().map(|error| error.root_field().to_owned()).collect();
    let mut cx = RuleContext { input: judged, invalid_fields: broken, errors: Vec::new() };
    address::check(&mut cx);
    locations::check(&mut cx);
    web::check(&mut cx);
    steps::check(&mut cx);
    scripts::check(&mut cx);
    plans::check(&mut cx);
    properties::check(&mut cx);
    faults.append(&mut cx.errors);
}
