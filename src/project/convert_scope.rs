//! What expansions of a case stand for in API steps: constants, and variables with values of responses.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::expansion::{PropertyExpression, PropertyReference, PropertyResolver, expand};
use super::model::{CaseIndex, Project, RequestStep, StepAction, TestCase};

/// The longest path of a variable (fields.md 2), in characters.
const MAX_PATH_CHARS: usize = 1024;

/// Where a property belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Owner {
    Project,
    Suite,
    Case,
    /// The step at this position.
    Step(usize),
}

/// The values that texts of a case have.
pub(super) struct ConversionScope<'p> {
    project: &'p Project,
    case: CaseIndex,
    /// The number of the API step of each request so far, by its position in the case.
    requests: HashMap<usize, usize>,
    /// Properties that stand for a variable, by owner and name in lower case.
    changed: RefCell<HashMap<(Owner, String), String>>,
    /// Variables with the number of their API step.
    variables: RefCell<Vec<(usize, Value)>>,
    names: RefCell<HashSet<String>>,
}

impl<'p> ConversionScope<'p> {
    pub(super) fn new(project: &'p Project, case: CaseIndex) -> Self {
        Self {
            project,
            case,
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
        match self.variable_of(Owner::Step(position), name) {
            Some(variable) => Ok(variable),
            None => self.text(value),
        }
    }

    /// Returns the owner that a transfer names.
    pub(super) fn find_owner(&self, name: &str) -> Option<Owner> {
        match name {
            "#Project#" => Some(Owner::Project),
            "#TestSuite#" => Some(Owner::Suite),
            "#TestCase#" => Some(Owner::Case),
            step => self.case().find_step(step).map(Owner::Step),
        }
    }

    /// Has the property `name` of `owner` stand for `variable`.
    pub(super) fn set_variable(&self, owner: Owner, name: &str, variable: &str) {
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

    fn variable_of(&self, owner: Owner, name: &str) -> Option<String> {
        self.changed.borrow().get(&(owner, name.to_ascii_lowercase())).cloned()
    }

    fn case(&self) -> &'p TestCase {
        self.project.case(self.case)
    }

    /// Returns the value of a property: its variable, or what the file says.
    fn value(&self, owner: Owner, name: &str) -> Option<String> {
        if let Some(variable) = self.variable_of(owner, name) {
            return Some(variable);
        }
        let configured = match owner {
            Owner::Project => self.project.properties.get(name),
            Owner::Suite => self.project.suites[self.case.suite].properties.get(name),
            Owner::Case => self.case().properties.get(name),
            Owner::Step(position) => match &self.case().steps[position].action {
                StepAction::Properties(properties) => properties.get(name),
                StepAction::Request(request) => request_value(request, name),
                _ => None,
            },
        };
        configured.map(str::to_owned)
    }
}

/// Returns the value of a property of a request.
fn request_value<'r>(request: &'r RequestStep, name: &str) -> Option<&'r str> {
    match name.to_ascii_lowercase().as_str() {
        "request" => Some(&request.body),
        "endpoint" => Some(&request.endpoint),
        _ => request
            .parameters
            .iter()
            .find(|parameter| parameter.name.eq_ignore_ascii_case(name))
            .map(|parameter| parameter.value.as_str()),
    }
}

impl PropertyResolver for ConversionScope<'_> {
    fn resolve(&self, expression: PropertyExpression<'_>) -> Result<Option<String>, String> {
        let (owner, name) = match expression.reference {
            PropertyReference::Name(name) => {
                let owners = [Owner::Case, Owner::Suite, Owner::Project];
                let is_known = |owner: &Owner| self.value(*owner, name).is_some();
                let owner = owners.into_iter().find(is_known).filter(|_| self.case().search_properties);
                (owner, name)
            }
            PropertyReference::Scoped("Project", name) => (Some(Owner::Project), name),
            PropertyReference::Scoped("TestSuite", name) => (Some(Owner::Suite), name),
            PropertyReference::Scoped("TestCase", name) => (Some(Owner::Case), name),
            PropertyReference::Scoped(_, name) => (None, name),
            PropertyReference::Step(step, name) => {
                let is_response =
                    ["response", "rawresponse", "responseasxml"].contains(&&*name.to_ascii_lowercase());
                if is_response {
                    let path = expression.path.unwrap_or_default();
                    return self.response_variable(step, name, path, None).map(Some);
                }
                (self.find_owner(step), name)
            }
        };
        if expression.path.is_some() {
            return Err("an expansion reads a part of a property".to_owned());
        }
        Ok(owner.and_then(|owner| self.value(owner, name)))
    }
}
