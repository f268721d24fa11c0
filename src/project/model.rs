//! What a project holds, as far as Vigie runs it.

use super::project_error::UnsupportedItem;
use super::property_map::PropertyMap;
use crate::syntax::node::Position;

/// A parsed project.
#[derive(Clone, Debug, Default)]
pub struct Project {
    pub(crate) properties: PropertyMap,
    pub(crate) suites: Vec<TestSuite>,
    /// Items of the project itself that cannot be run.
    pub(super) issues: Vec<UnsupportedItem>,
}

/// A suite of cases.
#[derive(Clone, Debug)]
pub(crate) struct TestSuite {
    pub(crate) name: String,
    pub(super) disabled: bool,
    pub(crate) properties: PropertyMap,
    pub(crate) cases: Vec<TestCase>,
    pub(super) issues: Vec<UnsupportedItem>,
}

/// A case: steps in order.
#[derive(Clone, Debug)]
pub(crate) struct TestCase {
    pub(crate) name: String,
    /// The id by which other cases call it.
    pub(super) id: String,
    pub(super) disabled: bool,
    /// Whether the first failed step ends it.
    pub(crate) fail_on_error: bool,
    /// Whether failed steps fail it.
    pub(crate) fail_on_failed_steps: bool,
    /// Whether cookies are kept from request to request.
    pub(crate) keep_session: bool,
    /// Whether `${name}` is searched in case, suite and project.
    pub(crate) search_properties: bool,
    /// Longest duration in milliseconds; 0 for none.
    pub(crate) timeout_ms: u64,
    pub(crate) properties: PropertyMap,
    pub(crate) steps: Vec<TestStep>,
    pub(super) issues: Vec<UnsupportedItem>,
}

/// The place of a case in its project: suite and case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CaseIndex {
    pub(crate) suite: usize,
    pub(crate) case: usize,
}

/// A step.
#[derive(Clone, Debug)]
pub(crate) struct TestStep {
    pub(crate) name: String,
    pub(crate) disabled: bool,
    pub(crate) action: StepAction,
    /// Where it begins in the file.
    pub(super) position: Position,
    pub(super) issues: Vec<UnsupportedItem>,
}

/// What a step does.
#[derive(Clone, Debug)]
pub(crate) enum StepAction {
    /// Sends a request and checks the response.
    Request(Box<RequestStep>),
    /// Copies values.
    Transfer(Vec<PropertyTransfer>),
    /// Holds values.
    Properties(PropertyMap),
    /// Waits for milliseconds, which may have expansions.
    Delay(String),
    /// Goes on at another step.
    Goto(Vec<GotoCondition>),
    /// Runs another case.
    Call(CaseCall),
    /// Cannot be run; the issues of the step say why.
    Unsupported,
}

/// How a request is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestProtocol {
    /// To a resource of a REST service.
    Rest,
    /// To a whole URL.
    Http,
    /// An envelope of SOAP 1.1.
    Soap11,
    /// An envelope of SOAP 1.2.
    Soap12,
}

impl RequestProtocol {
    /// Whether it sends an envelope.
    pub(crate) const fn is_soap(self) -> bool {
        matches!(self, Self::Soap11 | Self::Soap12)
    }
}

/// A request with its assertions. Texts may have expansions.
#[derive(Clone, Debug)]
pub(crate) struct RequestStep {
    pub(crate) protocol: RequestProtocol,
    pub(crate) method: String,
    pub(crate) endpoint: String,
    /// Path after the endpoint, with `{name}` for template parameters.
    pub(crate) path: String,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
    pub(crate) media_type: String,
    pub(crate) encoding: String,
    /// Action of a SOAP operation.
    pub(crate) soap_action: String,
    /// Whether the header `SOAPAction` is left out.
    pub(crate) skip_soap_action: bool,
    /// Whether the query is sent as the body.
    pub(crate) post_query_string: bool,
    pub(crate) send_empty_parameters: bool,
    /// Separates several values of one parameter; empty for none.
    pub(crate) multi_value_delimiter: String,
    /// Whether expanded values are escaped for XML.
    pub(crate) entitize_properties: bool,
    pub(crate) follow_redirects: bool,
    pub(crate) credentials: Option<RequestCredentials>,
    /// Longest duration in milliseconds, a text; empty for none.
    pub(crate) timeout_ms: String,
    /// The URL that the project was created from, which names the namespace of JSON as XML.
    pub(crate) original_uri: String,
    pub(crate) assertions: Vec<ResponseAssertion>,
}

/// User name and password of a request.
#[derive(Clone, Debug)]
pub(crate) struct RequestCredentials {
    pub(crate) username: String,
    pub(crate) password: String,
    /// Whether they are sent before the server asks.
    pub(crate) preemptive: bool,
}

/// Where a parameter goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParameterStyle {
    Query,
    Header,
    Template,
    Matrix,
    /// Nowhere: expansions and transfers read it.
    Plain,
}

/// A parameter of a request.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) style: ParameterStyle,
    pub(crate) required: bool,
    pub(crate) disable_url_encoding: bool,
    /// Whether a matrix parameter has no value.
    pub(crate) is_boolean: bool,
}

/// An assertion on a response.
#[derive(Clone, Debug)]
pub(crate) struct ResponseAssertion {
    pub(crate) name: String,
    pub(crate) rule: AssertionRule,
}

/// What an assertion checks. Texts may have expansions.
#[derive(Clone, Debug)]
pub(crate) enum AssertionRule {
    /// The status is one of these codes, or none of them.
    Status { codes: String, negated: bool },
    /// The body contains the token, or does not.
    Contains { token: String, ignore_case: bool, is_regex: bool, negated: bool },
    /// A node of the XPath has this content.
    XPath { path: String, content: String, comparison: XmlComparison },
    /// The value of the JSONPath is this.
    JsonEquals { path: String, content: String, allow_wildcards: bool },
    /// The JSONPath selects so many values.
    JsonCount { path: String, content: String },
    /// The JSONPath selects something, or nothing.
    JsonExists { path: String, content: String },
    /// The value of the JSONPath matches, or does not.
    JsonMatches { path: String, pattern: String, content: String },
    /// The response came within milliseconds.
    ResponseTime { limit_ms: String },
    /// The body is an envelope.
    SoapResponse,
    /// The envelope has a fault.
    SoapFault,
    /// The envelope has no fault.
    NoSoapFault,
}

/// How the content of an XPath is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct XmlComparison {
    /// Whether `*` stands for any text.
    pub(crate) allow_wildcards: bool,
    pub(crate) ignore_namespaces: bool,
    pub(crate) ignore_comments: bool,
}

/// The language of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathLanguage {
    XPath,
    JsonPath,
}

/// One end of a transfer.
#[derive(Clone, Debug)]
pub(crate) struct TransferEnd {
    /// Name of a step, or `#TestCase#`, `#TestSuite#`, `#Project#`.
    pub(crate) step: String,
    pub(crate) property: String,
    /// Empty for the whole property.
    pub(crate) path: String,
    pub(crate) language: PathLanguage,
}

/// Copies a value from one property to another.
#[derive(Clone, Debug)]
pub(crate) struct PropertyTransfer {
    pub(crate) name: String,
    pub(crate) source: TransferEnd,
    pub(crate) target: TransferEnd,
    /// Whether a missing source empties the target.
    pub(crate) set_null_on_missing_source: bool,
    /// Whether the text of an element is copied, and not the element.
    pub(crate) transfer_text_content: bool,
    pub(crate) fail_on_error: bool,
    pub(crate) ignore_empty: bool,
    /// Whether all nodes of the target are set.
    pub(crate) transfer_to_all: bool,
    pub(crate) entitize: bool,
    /// Whether the children of an element are copied.
    pub(crate) transfer_child_nodes: bool,
}

/// A condition of a goto: where to go on if the XPath is true for the response before.
#[derive(Clone, Debug)]
pub(crate) struct GotoCondition {
    pub(crate) expression: String,
    pub(crate) target_step: String,
}

/// How a called case shares its properties with other calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunMode {
    /// On a copy.
    Copy,
    /// On the case itself.
    Shared,
}

/// A call of another case.
#[derive(Clone, Debug)]
pub(crate) struct CaseCall {
    /// The id, or else the name, of the case.
    pub(super) target: String,
    pub(crate) properties: PropertyMap,
    /// Names of the properties that come back.
    pub(crate) return_properties: Vec<String>,
    pub(crate) run_mode: RunMode,
    pub(crate) copy_http_session: bool,
    pub(crate) ignore_empty_properties: bool,
}
