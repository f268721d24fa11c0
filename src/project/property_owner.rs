//! Where properties belong, and which values steps have at first.

use super::expansion::PropertyReference;
use super::model::{CaseCall, RequestStep, StepAction, TestCase, TestStep};
use super::property_map::PropertyMap;

/// Where a property belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PropertyOwner {
    Project,
    Suite,
    Case,
    /// The step with this index.
    Step(usize),
}

/// Whether `name` names the response of a step.
pub(crate) fn is_response_name(name: &str) -> bool {
    ["response", "rawresponse", "responseasxml"].iter().any(|other| other.eq_ignore_ascii_case(name))
}

impl TestCase {
    /// Returns the owner that `name` names: a scope such as `#TestCase#`, or a step.
    pub(crate) fn find_owner(&self, name: &str) -> Option<PropertyOwner> {
        match name {
            "#Project#" => Some(PropertyOwner::Project),
            "#TestSuite#" => Some(PropertyOwner::Suite),
            "#TestCase#" => Some(PropertyOwner::Case),
            step => self.find_step(step).map(PropertyOwner::Step),
        }
    }

    /// Returns the owner and the name of the property that `reference` stands for; `has_property` tells which owners have
    /// one of a name.
    pub(crate) fn resolve_owner<'e>(
        &self,
        reference: PropertyReference<'e>,
        has_property: impl Fn(PropertyOwner, &str) -> bool,
    ) -> (Option<PropertyOwner>, &'e str) {
        match reference {
            PropertyReference::Name(name) => {
                let owners = [PropertyOwner::Case, PropertyOwner::Suite, PropertyOwner::Project];
                let mut owners = owners.into_iter().filter(|_| self.search_properties);
                (owners.find(|owner| has_property(*owner, name)), name)
            }
            PropertyReference::Scoped("Project", name) => (Some(PropertyOwner::Project), name),
            PropertyReference::Scoped("TestSuite", name) => (Some(PropertyOwner::Suite), name),
            PropertyReference::Scoped("TestCase", name) => (Some(PropertyOwner::Case), name),
            // Properties of the host, and of an installation of SoapUI: there are none.
            PropertyReference::Scoped(_, name) => (None, name),
            PropertyReference::Step(step, name) => (self.find_owner(step), name),
        }
    }
}

impl TestStep {
    /// Returns its properties as the file has them: `Request`, `Endpoint` and the parameters of a request, those of other
    /// steps as they are.
    pub(crate) fn initial_properties(&self) -> PropertyMap {
        match &self.action {
            StepAction::Request(request) => request_properties(request),
            StepAction::Properties(properties) => properties.clone(),
            StepAction::Call(call) => call_properties(call),
            _ => PropertyMap::default(),
        }
    }
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
