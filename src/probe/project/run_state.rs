//! The properties and responses of a run, which its steps read and change.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::evaluate::xml_query::response_as_xml;
use crate::project::PropertyMap;
use crate::project::model::{CaseIndex, Project, TestStep};
use crate::project::property_owner::PropertyOwner;
use crate::redaction::sensitive_names::is_sensitive_variable;

/// Maximum size of the responses and properties of a run, in bytes.
pub(super) const MAX_KEPT_BYTES: usize = 64 * 1024 * 1024;

/// The state of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct RunState {
    pub(super) project: Arc<Project>,
    pub(super) project_properties: PropertyMap,
    suite_properties: BTreeMap<usize, PropertyMap>,
    cases: BTreeMap<CaseIndex, CaseState>,
    /// Expanded values of sensitive properties that were resolved since they were last taken.
    resolved_secrets: RefCell<BTreeSet<String>>,
    /// Size of all responses and properties, with those that are put aside for calls, in bytes.
    kept_bytes: usize,
    /// Whether something was not kept since it would have been too much. The run ends then.
    is_full: bool,
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

impl CaseState {
    /// Returns the size of its responses and properties, in bytes.
    fn bytes(&self) -> usize {
        let steps = self
            .steps
            .iter()
            .map(|step| step.properties.bytes() + step.response.as_ref().map_or(0, StoredResponse::bytes));
        self.properties.bytes() + steps.sum::<usize>()
    }
}

impl StoredResponse {
    fn bytes(&self) -> usize {
        self.body.len() + self.content_type.len() + self.xml_namespace.len()
    }

    /// Returns the body as XML.
    pub(super) fn as_xml(&self) -> Result<Cow<'_, str>, String> {
        response_as_xml(&self.body, &self.content_type, self.xml_root, &self.xml_namespace)
    }
}

impl RunState {
    pub(super) fn new(project: Arc<Project>) -> Self {
        let project_properties = project.properties.clone();
        let kept_bytes = project_properties.bytes();
        Self { project, project_properties, kept_bytes, ..Self::default() }
    }

    /// Adds the case at `index` and its suite, with their configured properties, unless they are there.
    pub(super) fn ensure_case(&mut self, index: CaseIndex) {
        let suite = &self.project.suites[index.suite];
        let mut added_bytes = 0;
        self.suite_properties.entry(index.suite).or_insert_with(|| {
            added_bytes += suite.properties.bytes();
            suite.properties.clone()
        });
        self.cases.entry(index).or_insert_with(|| {
            let case = &suite.cases[index.case];
            let steps = case.steps.iter().map(initial_step_state).collect();
            let state = CaseState { properties: case.properties.clone(), steps };
            added_bytes += state.bytes();
            state
        });
        self.replace_bytes(0, added_bytes);
    }

    /// Returns the size of all responses and properties, in bytes.
    pub(super) const fn kept_bytes(&self) -> usize {
        self.kept_bytes
    }

    /// Whether something was not kept since it would have been too much.
    pub(super) const fn is_full(&self) -> bool {
        self.is_full
    }

    /// Counts that `new_bytes` are kept in place of `old_bytes`. Returns whether that is allowed.
    const fn replace_bytes(&mut self, old_bytes: usize, new_bytes: usize) -> bool {
        let kept_bytes = self.kept_bytes.saturating_sub(old_bytes) + new_bytes;
        if kept_bytes > MAX_KEPT_BYTES {
            self.is_full = true;
            return false;
        }
        self.kept_bytes = kept_bytes;
        true
    }

    /// Sets the property `name` of `owner`, if it has room. Parts of responses in `value` are escaped.
    pub(super) fn set_property(
        &mut self,
        index: CaseIndex,
        owner: PropertyOwner,
        name: &str,
        (value, is_from_response): (String, bool),
    ) {
        let old_value = self.properties(index, owner).and_then(|properties| properties.get(name));
        let (old_bytes, name_bytes) = old_value.map_or((0, name.len()), |value| (value.len(), 0));
        if self.replace_bytes(old_bytes, name_bytes + value.len())
            && let Some(properties) = self.properties_mut(index, owner)
        {
            properties.set_property(name, value, is_from_response);
        }
    }

    /// Keeps the response to a step in place of the last one, if it has room.
    pub(super) fn set_response(&mut self, index: CaseIndex, step: usize, response: Option<StoredResponse>) {
        let old_response = self.step(index, step).and_then(|step| step.response.as_ref());
        let old_bytes = old_response.map_or(0, StoredResponse::bytes);
        let new_bytes = response.as_ref().map_or(0, StoredResponse::bytes);
        let has_room = self.replace_bytes(old_bytes, new_bytes);
        if let Some(step) = self.step_mut(index, step) {
            step.response = response.filter(|_| has_room);
        }
    }

    /// Returns a copy of the case at `index`, which is put aside; `None` when there is no room for it.
    pub(super) fn put_aside(&mut self, index: CaseIndex) -> Option<CaseState> {
        let bytes = self.case(index)?.bytes();
        if self.replace_bytes(0, bytes) { self.case(index).cloned() } else { None }
    }

    /// Puts back the copy of the case at `index`.
    pub(super) fn put_back(&mut self, index: CaseIndex, copy: CaseState) {
        let old_bytes = self.case(index).map_or(0, CaseState::bytes);
        self.replace_bytes(old_bytes, 0);
        self.cases.insert(index, copy);
    }

    /// Returns the state of the case at `index`, once it was added.
    pub(super) fn case(&self, index: CaseIndex) -> Option<&CaseState> {
        self.cases.get(&index)
    }

    /// Returns the state of a step.
    pub(super) fn step(&self, index: CaseIndex, step: usize) -> Option<&StepState> {
        self.case(index)?.steps.get(step)
    }

    /// Returns the state of a step, to change it.
    fn step_mut(&mut self, index: CaseIndex, step: usize) -> Option<&mut StepState> {
        self.cases.get_mut(&index)?.steps.get_mut(step)
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
    fn properties_mut(&mut self, index: CaseIndex, owner: PropertyOwner) -> Option<&mut PropertyMap> {
        match owner {
            PropertyOwner::Project => Some(&mut self.project_properties),
            PropertyOwner::Suite => self.suite_properties.get_mut(&index.suite),
            PropertyOwner::Case => self.cases.get_mut(&index).map(|case| &mut case.properties),
            PropertyOwner::Step(step) => self.step_mut(index, step).map(|step| &mut step.properties),
        }
    }

    /// Notes the expanded value of the property `name`, if its name marks it as secret.
    pub(super) fn note_value(&self, name: &str, value: &str) {
        if !value.is_empty() && is_sensitive_variable(name) {
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
            .filter(|(name, value)| !value.is_empty() && is_sensitive_variable(name))
            .map(|(_, value)| value.to_owned())
            .chain(resolved_secrets)
            .collect()
    }
}

fn initial_step_state(step: &TestStep) -> StepState {
    StepState { properties: step.initial_properties(), response: None }
}
