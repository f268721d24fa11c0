//! The properties and responses of a run, which its steps read and change.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::evaluate::xml_query::response_as_xml;
use crate::project::PropertyMap;
use crate::project::model::{CaseCall, CaseIndex, Project, RequestStep, StepAction, TestStep};
use crate::redaction::sensitive_names::is_sensitive_variable;

/// The state of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct RunState {
    pub(super) project: Arc<Project>,
    pub(super) project_properties: PropertyMap,
    suite_properties: BTreeMap<usize, PropertyMap>,
    cases: BTreeMap<CaseIndex, CaseState>,
    /// Expanded values of sensitive properties that were resolved since they were last taken.
    resolved_secrets: RefCell<BTreeSet<String>>,
}

/// The state of a case.
#[derive(Clone, Debug, Default)]
pub(super) struct CaseState {
    pub(super) properties: PropertyMap,
    pub(super) steps: Vec<StepState>,
}

/// The state of a step.
#[derive(Clone, Debug, Default)]
pub(super) struct StepState {
    /// Its properties: `Request`, `Endpoint` and the parameters of a request, those of other steps as they are.
    pub(super) properties: PropertyMap,
    /// The last response to its request.
    pub(super) response: Option<StoredResponse>,
}

/// A response that later steps read.
#[derive(Clone, Debug)]
pub(super) struct StoredResponse {
    pub(super) body: Arc<str>,
    pub(super) content_type: String,
    /// The name of the root element of JSON as XML.
    pub(super) xml_root: &'static str,
    /// The namespace of JSON as XML.
    pub(super) xml_namespace: String,
}

impl StoredResponse {
    /// Returns the body as XML.
    pub(super) fn as_xml(&self) -> Result<Cow<'_, str>, String> {
        response_as_xml(&self.body, &self.content_type, self.xml_root, &self.xml_namespace)
    }
}

/// Where a property belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PropertyOwner {
    Project,
    Suite,
    Case,
    /// The step with this index.
    Step(usize),
}

impl RunState {
    pub(super) fn new(project: Arc<Project>) -> Self {
        let project_properties = project.properties.clone();
        Self { project, project_properties, ..Self::default() }
    }

    /// Adds the case at `index` and its suite, with their configured properties, unless they are there.
    pub(super) fn ensure_case(&mut self, index: CaseIndex) {
        let suite = &self.project.suites[index.suite];
        self.suite_properties.entry(index.suite).or_insert_with(|| suite.properties.clone());
        self.cases.entry(index).or_insert_with(|| {
            let case = &suite.cases[index.case];
            let steps = case.steps.iter().map(initial_step_state).collect();
            CaseState { properties: case.properties.clone(), steps }
        });
    }

    /// Returns the state of the case at `index`, once it was added.
    pub(super) fn case(&self, index: CaseIndex) -> Option<&CaseState> {
        self.cases.get(&index)
    }

    /// Returns the state of the case at `index`, to change it.
    pub(super) fn case_mut(&mut self, index: CaseIndex) -> &mut CaseState {
        self.cases.entry(index).or_default()
    }

    /// Returns the state of a step.
    pub(super) fn step(&self, index: CaseIndex, step: usize) -> Option<&StepState> {
        self.case(index)?.steps.get(step)
    }

    /// Returns the state of a step, to change it.
    pub(super) fn step_mut(&mut self, index: CaseIndex, step: usize) -> Option<&mut StepState> {
        self.cases.get_mut(&index)?.steps.get_mut(step)
    }

    /// Returns the owner that `name` names in the case at `index`: a scope such as `#TestCase#`, or a step.
    pub(super) fn find_owner(&self, index: CaseIndex, name: &str) -> Option<PropertyOwner> {
        match name {
            "#Project#" => Some(PropertyOwner::Project),
            "#TestSuite#" => Some(PropertyOwner::Suite),
            "#TestCase#" => Some(PropertyOwner::Case),
            step => self.project.case(index).find_step(step).map(PropertyOwner::Step),
        }
    }

    /// Returns the properties of `owner`.
    pub(super) fn properties(&self, index: CaseIndex, owner: PropertyOwner) -> Option<&PropertyMap> {
        match owner {
            PropertyOwner::Project => Some(&self.project_properties),
            PropertyOwner::Suite => self.suite_properties.get(&index.suite),
            PropertyOwner::Case => self.case(index).map(|case| &case.properties),
            PropertyOwner::Step(step) => self.step(index, step).map(|step| &step.properties),
        }
    }

    /// Returns the properties of `owner`, to change them.
    pub(super) fn properties_mut(
        &mut self,
        index: CaseIndex,
        owner: PropertyOwner,
    ) -> Option<&mut PropertyMap> {
        match owner {
            PropertyOwner::Project => Some(&mut self.project_properties),
            PropertyOwner::Suite => self.suite_properties.get_mut(&index.suite),
            PropertyOwner::Case => self.cases.get_mut(&index).map(|case| &mut case.properties),
            PropertyOwner::Step(step) => self.step_mut(index, step).map(|step| &mut step.properties),
        }
    }

    /// Returns the size of all stored responses, in bytes.
    pub(super) fn response_bytes(&self) -> usize {
        let steps = self.cases.values().flat_map(|case| &case.steps);
        steps.filter_map(|step| step.response.as_ref()).map(|response| response.body.len()).sum()
    }

    /// Notes the expanded value of the property `name`, if its name marks it as secret.
    pub(super) fn note_value(&self, name: &str, value: &str) {
        if !value.is_empty() && is_sensitive_variable(&name.to_ascii_lowercase()) {
            let mut secrets = self.resolved_secrets.borrow_mut();
            if !secrets.contains(value) {
                secrets.insert(value.to_owned());
            }
        }
    }

    /// Returns the values of all properties whose names mark them as secret, and those expanded since the last call.
    pub(super) fn take_secret_values(&mut self) -> Vec<String> {
        let resolved_secrets = self.resolved_secrets.take();
        let cases = self.cases.values();
        let case_properties = cases.flat_map(|case| {
            std::iter::once(&case.properties).chain(case.steps.iter().map(|step| &step.properties))
        });
        std::iter::once(&self.project_properties)
            .chain(self.suite_properties.values())
            .chain(case_properties)
            .flat_map(PropertyMap::iter)
            .filter(|(name, value)| !value.is_empty() && is_sensitive_variable(&name.to_ascii_lowercase()))
            .map(|(_, value)| value.to_owned())
            .chain(resolved_secrets)
            .collect()
    }
}

fn initial_step_state(step: &TestStep) -> StepState {
    let properties = match &step.action {
        StepAction::Request(request) => request_properties(request),
        StepAction::Properties(properties) => properties.clone(),
        StepAction::Call(call) => call_properties(call),
        _ => PropertyMap::default(),
    };
    StepState { properties, response: None }
}

fn call_properties(call: &CaseCall) -> PropertyMap {
    let mut properties = call.properties.clone();
    for name in &call.return_properties {
        if properties.get(name).is_none() {
            properties.set(name, String::new());
        }
    }
    properties
}

fn request_properties(request: &RequestStep) -> PropertyMap {
    let mut properties = PropertyMap::default();
    for parameter in &request.parameters {
        properties.set(&parameter.name, parameter.value.clone());
    }
    let credentials = request.credentials.as_ref();
    properties.set("Request", request.body.clone());
    properties.set("Endpoint", request.endpoint.clone());
    properties.set("Username", credentials.map(|login| login.username.clone()).unwrap_or_default());
    properties.set("Password", credentials.map(|login| login.password.clone()).unwrap_or_default());
    properties
}
