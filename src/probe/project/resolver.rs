//! Resolves the expansions of a case from the state of the run.

use std::borrow::Cow;

use super::run_state::RunState;
use super::step_budget::StepBudget;
use crate::evaluate::json_value::{read_json, value_text};
use crate::evaluate::xml_query::select_text;
use crate::project::expansion::{self, PropertyExpression, PropertyReference, PropertyResolver};
use crate::project::model::CaseIndex;
use crate::project::property_owner::{PropertyOwner, is_response_name};
use crate::syntax::escape::escape_expansions;
use crate::syntax::path_expression::parse_xpath_with_prolog;

/// Resolves expansions in the texts of one step.
pub(super) struct CaseResolver<'s> {
    pub(super) state: &'s RunState,
    pub(super) case: CaseIndex,
    pub(super) budget: &'s StepBudget,
}

impl<'s> CaseResolver<'s> {
    pub(super) const fn new(state: &'s RunState, case: CaseIndex, budget: &'s StepBudget) -> Self {
        Self { state, case, budget }
    }

    /// Expands `text`.
    pub(super) fn expand(&self, text: &str) -> Result<String, String> {
        expansion::expand(text, self, false).map(Cow::into_owned)
    }

    /// Expands `text`, with values escaped for XML.
    pub(super) fn expand_escaped(&self, text: &str) -> Result<String, String> {
        expansion::expand(text, self, true).map(Cow::into_owned)
    }

    /// Whether the property `name` of `owner` is a response, or has parts of one. They are escaped in it: a service must
    /// not choose what is expanded.
    pub(super) fn is_from_response(&self, owner: PropertyOwner, name: &str) -> bool {
        let is_response = matches!(owner, PropertyOwner::Step(step)
            if is_response_name(name)
                && self.state.step(self.case, step).is_some_and(|step| step.response.is_some()));
        let properties = self.state.properties(self.case, owner);
        is_response || properties.is_some_and(|properties| properties.is_from_response(name))
    }

    /// Returns the value of the property `name` of `owner`; `None` when it has none.
    pub(super) fn property(&self, owner: PropertyOwner, name: &str) -> Result<Option<Cow<'_, str>>, String> {
        if let PropertyOwner::Step(step) = owner
            && let Some(response) = self.state.step(self.case, step).and_then(|step| step.response.as_ref())
        {
            match name.to_ascii_lowercase().as_str() {
                "response" | "rawresponse" => {
                    return Ok(Some(escape_expansions(Cow::Borrowed(&response.body))));
                }
                "responseasxml" => return response.as_xml().map(escape_expansions).map(Some),
                _ => {}
            }
        }
        let properties = self.state.properties(self.case, owner);
        Ok(properties.and_then(|properties| properties.get(name)).map(Cow::Borrowed))
    }
}

impl PropertyResolver for CaseResolver<'_> {
    fn note_value(&self, expression: PropertyExpression<'_>, value: &str) {
        let (PropertyReference::Name(name)
        | PropertyReference::Scoped(_, name)
        | PropertyReference::Step(_, name)) = expression.reference;
        self.state.note_value(name, value);
    }

    fn resolve(&self, expression: PropertyExpression<'_>) -> Result<Option<String>, String> {
        let has_property = |owner: PropertyOwner, name: &str| {
            let properties = self.state.properties(self.case, owner);
            properties.is_some_and(|properties| properties.get(name).is_some())
        };
        let case = self.state.project.case(self.case);
        let (owner, name) = case.resolve_owner(expression.reference, has_property);
        let Some(owner) = owner else { return Ok(None) };
        let Some(value) = self.property(owner, name)? else { return Ok(None) };
        if expression.path.is_some() {
            self.budget.charge_path(value.len())?;
        }
        let selected = match expression.path {
            None => return Ok(Some(value.into_owned())),
            Some(path) if path.trim_start().starts_with('$') => {
                read_json(&value, path, &self.budget.nodes)?.map(|found| value_text(&found))
            }
            Some(path) => {
                let path = parse_xpath_with_prolog(path).map_err(|error| {
                    format!("the XPath of an expansion is not one of version 1.0: {error}")
                })?;
                select_text(&value, &path, &self.budget.nodes)?
            }
        };
        Ok(match selected {
            Some(selected) if self.is_from_response(owner, name) => {
                Some(escape_expansions(Cow::Owned(selected)).into_owned())
            }
            selected => selected,
        })
    }
}
