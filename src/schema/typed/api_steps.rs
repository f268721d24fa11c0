//! The settings of `website-api` and `website-ssl-api`.

use serde::Deserialize;

use super::website::{HeaderSettings, HttpMethod};

/// Requests one after another, or one request.
#[derive(Clone, Debug, Deserialize)]
pub struct ApiStepsSettings<'a> {
    /// The requests, in order.
    #[serde(borrow)]
    pub api_steps: Option<Vec<ApiStepSettings<'a>>>,
    /// The one request, instead of `api_steps`.
    pub url: Option<&'a str>,
    /// Method of the one request.
    pub http_method: Option<HttpMethod>,
    /// What has to hold for it.
    #[serde(borrow)]
    pub assertions: Option<Vec<AssertionSettings<'a>>>,
}

/// One request and what has to hold for its response.
#[derive(Clone, Debug, Deserialize)]
pub struct ApiStepSettings<'a> {
    /// What is asked for.
    pub url: &'a str,
    /// Method of the request.
    pub http_method: StepMethod,
    /// The method when `http_method` is CUSTOM.
    pub custom_method: Option<&'a str>,
    /// Headers and login.
    #[serde(borrow)]
    pub head: HeadSettings<'a>,
    /// What people call it.
    pub step_name: &'a str,
    /// Its place in the order; without it that in the list.
    pub step_number: Option<u32>,
    /// The body.
    pub post: Option<PostSettings<'a>>,
    /// What has to hold.
    #[serde(borrow)]
    pub assertions: Vec<AssertionSettings<'a>>,
    /// What later steps use.
    #[serde(borrow)]
    pub variables: Vec<VariableSettings<'a>>,
    /// Whether redirects are followed.
    pub follow_redirects: bool,
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
    /// That of `custom_method`.
    Custom,
}

/// Headers and login of a step.
#[derive(Clone, Debug, Deserialize)]
pub struct HeadSettings<'a> {
    /// Headers of the request.
    #[serde(borrow)]
    pub headers: Vec<HeaderSettings<'a>>,
    /// User name for Basic authentication.
    pub http_basic_auth_username: Option<&'a str>,
    /// Password for Basic authentication.
    pub http_basic_auth_password: Option<&'a str>,
    /// Whether the login is sent before the server asks for it.
    pub preemptive_authentication: bool,
    /// Token for Bearer authentication.
    pub bearer_token: Option<&'a str>,
}

/// Body of a step.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct PostSettings<'a> {
    /// Type of the body.
    pub content_type: &'a str,
    /// The body.
    pub body: &'a str,
}

/// What has to hold for a response.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct AssertionSettings<'a> {
    /// What it looks at.
    pub source: &'a str,
    /// JSONPath, XPath or name of the header.
    pub property: Option<&'a str>,
    /// How it compares.
    pub comparison: &'a str,
    /// What it compares with.
    pub value: &'a str,
}

/// A variable that a step fills.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct VariableSettings<'a> {
    /// Its name.
    pub name: &'a str,
    /// JSONPath, XPath, name of a header, or regular expression with a group.
    pub property: &'a str,
    /// Where it is found; without it that follows from the response.
    pub source: Option<&'a str>,
}
