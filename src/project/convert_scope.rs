//! What expansions of a case stand for in API steps: constants, and variables with values of responses.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::expansion::{PropertyExpression, PropertyReference, PropertyResolver, expand};
use super::model::{CaseIndex, Project, TestCase, TestStep};
use super::property_map::PropertyMap;
use super::property_owner::{PropertyOwner, is_response_name};

/// The longest path of a variable (fields.md 2), in characters.
const MAX_PATH_CHARS: usize = 1024;

/// The values that texts of a case have.
pub(super) struct ConversionScope<'p> {
    project: &'p Project,
    case: CaseIndex,
    /// The properties of its steps.
    step_properties: Vec<PropertyMap>,
    /// The number of the API step of each request so far, by its position in the case.
    requests: HashMap<usize, usize>,
    /// Properties that stand for a variable, by owner and name in lower case.
    changed: RefCell<HashMap<(PropertyOwner, String), String>>,
    /// Variables with the number of their API step.
    variables: RefCell<Vec<(usize, Value)>>,
    names: RefCell<HashSet<String>>,
}

impl<'p> ConversionScope<'p> {
    pub(super) fn new(project: &'p Project, case: CaseIndex) -> Self {
        Self {
            project,
            case,
            step_properties: project.case(case).steps.iter().map(TestStep::initial_properties).collect(),
            requests: HashMap::new(),
            changed: RefCell::default(),
            variables: RefCell::default(),
            names: RefCell::default(),
        }
    }

    /// Tells that the request at `position` is the API step `number`.
    pub(super) fn note_request(&mut self, position: usize, number: usize) {
        self.requests.insert(position, number);
    }

    /// Returns all variables with the number of their API step.
    pub(super) fn take_variables(&self) -> Vec<(usize, Value)> {
        self.variables.take()
    }

    /// Whether `name` is one of the variables.
    pub(super) fn is_variable(&self, name: &str) -> bool {
        self.names.borrow().contains(name)
    }

    /// Returns `text` with its expansions replaced.
    pub(super) fn text(&self, text: &str) -> Result<String, String> {
        expand(text, self, false).map(std::borrow::Cow::into_owned)
    }

    /// Returns the value of the property `name` of the request at `position`, which a transfer may have changed.
    pub(super) fn request_text(&self, position: usize, name: &str, value: &str) -> Result<String, String> {
        match self.variable_of(PropertyOwner::Step(position), name) {
            Some(variable) => Ok(variable),
            None => self.text(value),
        }
    }

    /// Has the property `name` of `owner` stand for `variable`.
    pub(super) fn set_variable(&self, owner: PropertyOwner, name: &str, variable: &str) {
        self.changed.borrow_mut().insert((owner, name.to_ascii_lowercase()), variable.to_owned());
    }

    /// Returns the placeholder of a variable with what `path` selects of a property of an earlier request, which is added.
    pub(super) fn response_variable(
        &self,
        step: &str,
        property: &str,
        path: &str,
        name: Option<&str>,
    ) -> Result<String, String> {
        let position = self.case().find_step(step);
        let number = position.and_then(|position| self.requests.get(&position));
        let number = *number.ok_or("its source is no request before it")?;
        let path = path.trim();
        if path.contains("${") {
            return Err("its path has an expansion".to_owned());
        }
        let is_json_path = path.starts_with('$');
        let (source, path) = match property.to_ascii_lowercase().as_str() {
            "response" | "rawresponse" if path.is_empty() => ("Response", r"(?s)\A(.*)\z".to_owned()),
            "response" | "rawresponse" if is_json_path => ("JSON Response", path.to_owned()),
            "response" | "rawresponse" | "responseasxml" => ("XML Response", path.to_owned()),
            _ => return Err("its source is not the response to a request".to_owned()),
        };
        if path.contains(".length()")
            || path.trim_start().starts_with("declare ")
            || path.contains(" declare ")
        {
            return Err("its path has a declaration or a function that steps do not know".to_owned());
        }
        if path.chars().count() > MAX_PATH_CHARS {
            return Err(format!("its path has more than {MAX_PATH_CHARS} characters"));
        }
        let mut variables = self.variables.borrow_mut();
        let is_same = |(other, variable): &&(usize, Value)| {
            *other == number && variable["source"] == source && variable["property"] == *path
        };
        if let Some((_, known)) = variables.iter().find(is_same) {
            return Ok(format!("{{{{{}}}}}", known["name"].as_str().unwrap_or_default()));
        }
        let name = self.free_name(name.unwrap_or(step));
        variables.push((number, json!({"name": name, "source": source, "property": path})));
        Ok(format!("{{{{{name}}}}}"))
    }

    /// Returns a name for a variable that is not taken, made of `wanted`.
    fn free_name(&self, wanted: &str) -> String {
        let mut name: String =
            wanted.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).take(100).collect();
        if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            name.insert(0, '_');
        }
        let mut names = self.names.borrow_mut();
        let numbered = (2_u32..).map(|number| format!("{name}_{number}"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|name| !names.contains(name));
        let free = free.unwrap_or_default();
        names.insert(free.clone());
        free
    }

    fn variable_of(&self, owner: PropertyOwner, name: &str) -> Option<String> {
        self.changed.borrow().get(&(owner, name.to_ascii_lowercase())).cloned()
    }

    fn case(&self) -> &'p TestCase {
        self.project.case(self.case)
    }

    /// Returns the value of a property: its variable, or what the file says.
    fn value(&self, owner: PropertyOwner, name: &str) -> Option<String> {
        if let Some(variable) = self.variable_of(owner, name) {
            return Some(variable);
        }
        let configured = match owner {
            PropertyOwner::Project => self.project.properties.get(name),
            PropertyOwner::Suite => self.project.suites[self.case.suite].properties.get(name),
            PropertyOwner::Case => self.case().properties.get(name),
            PropertyOwner::Step(position) => self.step_properties[position].get(name),
        };
        configured.map(str::to_owned)
    }
}

impl PropertyResolver for ConversionScope<'_> {
    fn resolve(&self, expression: PropertyExpression<'_>) -> Result<Option<String>, String> {
        if let PropertyReference::Step(step, name) = expression.reference
            && is_response_name(name)
        {
            let path = expression.path.unwrap_or_default();
            return self.response_variable(step, name, path, None).map(Some);
        }
        let has_property = |owner, name: &str| self.value(owner, name).is_some();
        let (owner, name) = self.case().resolve_owner(expression.reference, has_property);
        if expression.path.is_some() {
            return Err("an expansion reads a part of a property".to_owned());
        }
        Ok(owner.and_then(|owner| self.value(owner, name)))
    }
}
