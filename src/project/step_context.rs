//! What of a project the reading of a step refers to.

use std::collections::HashSet;

use super::copy_budget::CopyBudget;
use super::interface_parser::Interfaces;

/// The project and case around a step.
#[derive(Clone, Copy)]
pub(super) struct StepContext<'c, 'n> {
    pub(super) interfaces: &'c Interfaces,
    pub(super) budget: &'c CopyBudget,
    /// Names of the steps of the case.
    pub(super) step_names: &'c HashSet<&'n str>,
    /// Name of the request before the step.
    pub(super) previous_request: Option<&'n str>,
    /// Name of the request after the step.
    pub(super) next_request: Option<&'n str>,
}
