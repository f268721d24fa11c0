//! Resolves the expansions of a case from the state of the run.

use std::borrow::Cow;
use std::cell::Cell;

use super::run_state::{PropertyOwner, RunState};
use crate::evaluate::json_value::{read_json, value_text};
use crate::evaluate::xml_query::select_text;
use crate::project::expansion::{self, PropertyExpression, PropertyReference, PropertyResolver};
use crate::project::model::CaseIndex;
use crate::syntax::path_expression::parse_xpath_with_prolog;

/// Maximum size of the values that paths of expansions read in one step, in bytes: about a second.
const MAX_PATH_BYTES: usize = 64 * 1024 * 1024;

/// Resolves expansions in the texts of one step.
pub(super) struct CaseResolver<'s> {
    pub(super) state: &'s RunState,
    pub(super) case: CaseIndex,
    /// Size of the values that paths have read.
    path_bytes: Cell<usize>,
}

impl<'s> CaseResolver<'s> {
    pub(super) const fn new(state: &'s RunState, case: CaseIndex) -> Self {
        Self { state, case, path_bytes: Cell::new(0) }
    }

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
    fn note_value(&self, expression: PropertyExpression<'_>, value: &str) {
        let (PropertyReference::Name(name)
        | PropertyReference::Scoped(_, name)
        | PropertyReference::Step(_, name)) = expression.reference;
        self.state.note_value(name, value);
    }

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
        if expression.path.is_some() {
            self.path_bytes.set(self.path_bytes.get() + value.len());
            if self.path_bytes.get() > MAX_PATH_BYTES {
                return Err(format!("paths of expansions read more than {MAX_PATH_BYTES} bytes"));
            }
        }
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
