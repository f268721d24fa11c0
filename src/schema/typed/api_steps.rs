//! The settings of `website-api` and `website-ssl-api`.

use serde::Deserialize;

use super::website::HeaderSettings;
use crate::evaluate::assertion::AssertionSettings;
use crate::evaluate::variable::VariableSettings;

/// A sequence of requests, or a single request.
#[derive(Clone, Debug, Deserialize)]
pub struct WebsiteApiSettings<'a> {
    /// The requests, in order.
    #[serde(borrow)]
    pub api_steps: Option<Vec<ApiStepSettings<'a>>>,
    /// URL of the single request, instead of `api_steps`.
    pub url: Option<&'a str>,
    /// Method of the single request.
    pub http_method: Option<SingleRequestMethod>,
    /// Assertions on its response.
    pub assertions: Option<Vec<AssertionSettings>>,
    /// Whether requests carry a W3C traceparent.
    pub trace_requests: bool,
}

/// A request and the assertions on its response.
#[derive(Clone, Debug, Deserialize)]
pub struct ApiStepSettings<'a> {
    /// Requested URL.
    pub url: &'a str,
    /// Method of the request.
    pub http_method: StepMethod,
    /// The method, with `http_method` CUSTOM.
    pub custom_method: Option<&'a str>,
    /// Headers and credentials.
    #[serde(borrow)]
    pub head: StepHeadSettings<'a>,
    /// Display name.
    pub step_name: &'a str,
    /// Position in the order; defaults to the position in the list.
    pub step_number: Option<u32>,
    /// The body.
    pub post: Option<StepBodySettings<'a>>,
    /// Assertions on the response.
    pub assertions: Vec<AssertionSettings>,
    /// Variables for later steps.
    pub variables: Vec<VariableSettings>,
    /// Whether redirects are followed.
    pub follow_redirects: bool,
}

impl<'a> ApiStepSettings<'a> {
    /// Creates the step of a monitor that has a single request instead of steps.
    #[must_use]
    pub fn from_single_request(
        url: &'a str,
        http_method: SingleRequestMethod,
        assertions: Vec<AssertionSettings>,
    ) -> Self {
        Self {
            url,
            http_method: http_method.into(),
            custom_method: None,
            head: StepHeadSettings::default(),
            step_name: "Step 1",
            step_number: Some(1),
            post: None,
            assertions,
            variables: Vec::new(),
            follow_redirects: true,
        }
    }
}

/// Method of the single request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum SingleRequestMethod {
    /// GET.
    Get,
    /// POST.
    Post,
    /// HEAD.
    Head,
}

impl From<SingleRequestMethod> for StepMethod {
    fn from(method: SingleRequestMethod) -> Self {
        match method {
            SingleRequestMethod::Get => Self::Get,
            SingleRequestMethod::Post => Self::Post,
            SingleRequestMethod::Head => Self::Head,
        }
    }
}

/// Method of the request of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum StepMethod {
    /// GET.
    Get,
    /// POST.
    Post,
    /// HEAD.
    Head,
    /// The method in `custom_method`.
    Custom,
}

/// Headers and credentials of a step.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct StepHeadSettings<'a> {
    /// Headers of the request.
    #[serde(borrow)]
    pub headers: Vec<HeaderSettings<'a>>,
    /// User name for Basic authentication.
    pub http_basic_auth_username: Option<&'a str>,
    /// Password for Basic authentication.
    pub http_basic_auth_password: Option<&'a str>,
    /// Whether the credentials are sent before the server asks for them.
    pub preemptive_authentication: bool,
    /// Token for Bearer authentication.
    pub bearer_token: Option<&'a str>,
}

/// Body of a step.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct StepBodySettings<'a> {
    /// Type of the body.
    pub content_type: &'a str,
    /// The body.
    pub body: &'a str,
}
