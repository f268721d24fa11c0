//! What a script is given: names, variables, request and response, as JSON.

use http::HeaderMap;
use serde_json::{Value, json};

use crate::collection::{ScopeKind, VariableScopes};
use crate::evaluate::charset;
use crate::probe::request_steps::StepResponse;
use crate::protocol::http::client::content_type;

/// Names of the run and its request.
#[derive(Clone, Copy)]
pub(super) struct ScriptInfo<'a> {
    /// `prerequest` or `test`.
    pub(super) event: &'a str,
    pub(super) iteration: usize,
    pub(super) iteration_count: usize,
    pub(super) request_name: &'a str,
    pub(super) request_id: &'a str,
    /// The collection, the folders and the request.
    pub(super) location: &'a [String],
    pub(super) environment_name: &'a str,
}

/// Returns the context of a script.
pub(super) fn script_context(
    info: ScriptInfo<'_>,
    scopes: &VariableScopes,
    request: &Value,
    response: Option<&Value>,
    cookies: &[(String, String)],
) -> String {
    let entries = |kind: ScopeKind| json!(scopes.entries(kind));
    json!({
        "info": {
            "event": info.event,
            "iteration": info.iteration,
            "iterationCount": info.iteration_count,
            "requestName": info.request_name,
            "requestId": info.request_id,
            "location": info.location,
            "environmentName": info.environment_name,
        },
        "scopes": {
            "local": entries(ScopeKind::Local),
            "data": entries(ScopeKind::Data),
            "environment": entries(ScopeKind::Environment),
            "collection": entries(ScopeKind::Collection),
            "globals": entries(ScopeKind::Globals),
        },
        "request": request,
        "response": response,
        "cookies": cookies,
    })
    .to_string()
}

/// Returns a response in the form that scripts read.
pub(super) fn response_json(response: &StepResponse, cookies: &[(String, String)]) -> Value {
    let head = &response.head;
    let text = charset::decode_body(&response.body, content_type(&head.headers));
    let reason = head.reason_phrase.as_deref().filter(|reason| !reason.is_empty());
    json!({
        "code": head.status.as_u16(),
        "status": reason.or_else(|| head.status.canonical_reason()).unwrap_or_default(),
        "headers": header_entries(&head.headers),
        "body": text,
        "responseTime": u64::try_from(response.elapsed.as_millis()).unwrap_or(u64::MAX),
        "responseSize": response.body_bytes,
        "cookies": cookies,
    })
}

fn header_entries(headers: &HeaderMap) -> Vec<Value> {
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers.iter().map(|(name, value)| json!({"key": name.as_str(), "value": text(value)})).collect()
}
