//! Resolves the expansions of a case from the state of the run.

use std::borrow::Cow;

use super::run_state::{PropertyOwner, RunState};
use crate::evaluate::json_value::{read_json, value_text};
use crate::evaluate::xml_query::select_text;
use crate::project::expansion::{self, PropertyExpression, PropertyReference, PropertyResolver};
use crate::project::model::CaseIndex;
use crate::syntax::path_expression::parse_xpath_with_prolog;

/// Resolves expansions in the texts of one case.
#[derive(Clone, Copy)]
pub(super) struct CaseResolver<'s> {
    pub(super) state: &'s RunState,
    pub(super) case: CaseIndex,
}

impl CaseResolver<'_> {
    /// Expands `text`.
    pub(super) fn expand(&self, text: &str) -> Result<String, String> {
        expansion::expand(text, self, false).map(Cow::into_owned)
    }

    /// Expands `text`, with values escaped for XML.
    pub(super) fn expand_escaped(&self, text: &str) -> Result<String, String> {
        expansion::expand(text, self, true).map(Cow::into_owned)
    }

    /// Returns the value of the property `name` of `owner`; `None` when it has none.
    pub(super) fn property(&self, owner: PropertyOwner, name: &str) -> Result<Option<Cow<'_, str>>, String> {
        if let PropertyOwner::Step(step) = owner
            && let Some(response) = self.state.step(self.case, step).and_then(|step| step.response.as_ref())
        {
            match name.to_ascii_lowercase().as_str() {
                "response" | "rawresponse" => return Ok(Some(Cow::Borrowed(&response.body))),
                "responseasxml" => return response.as_xml().map(Some),
                _ => {}
            }
        }
        let properties = self.state.properties(self.case, owner);
        Ok(properties.and_then(|properties| properties.get(name)).map(Cow::Borrowed))
    }

    /// Returns the value of `${name}`.
    fn search(&self, name: &str) -> Option<Cow<'_, str>> {
        if !self.state.project.case(self.case).search_properties {
            return None;
        }
        [PropertyOwner::Case, PropertyOwner::Suite, PropertyOwner::Project].into_iter().find_map(|owner| {
            self.state
                .properties(self.case, owner)
                .and_then(|properties| properties.get(name))
                .map(Cow::Borrowed)
        })
    }
}

impl PropertyResolver for CaseResolver<'_> {
    fn resolve(&self, expression: PropertyExpression<'_>) -> Result<Option<String>, String> {
        let value = match expression.reference {
            PropertyReference::Name(name) => self.search(name),
            PropertyReference::Scoped(scope, name) => {
                let owner = match scope {
                    "Project" => PropertyOwner::Project,
                    "TestSuite" => PropertyOwner::Suite,
                    "TestCase" => PropertyOwner::Case,
                    // Properties of the host, and of an installation of SoapUI: there are none.
                    _ => return Ok(None),
                };
                self.property(owner, name)?
            }
            PropertyReference::Step(step, name) => match self.state.find_owner(self.case, step) {
                Some(owner) => self.property(owner, name)?,
                None => None,
            },
        };
        let Some(value) = value else { return Ok(None) };
        match expression.path {
            None => Ok(Some(value.into_owned())),
            Some(path) if path.trim_start().starts_with('$') => {
                Ok(read_json(&value, path)?.map(|found| value_text(&found)))
            }
            Some(path) => {
                let path = parse_xpath_with_prolog(path).map_err(|error| {
                    format!("the XPath of an expansion is not one of version 1.0: {error}")
                })?;
                select_text(&value, &path)
            }
        }
    }
}
