//! `POST /login`: a session for login and password.

use axum::extract::{Request, State};
use axum::response::Response;

use super::answer::{Fault, Metadata};
use super::call::body;
use crate::api::caller::address;
use crate::api::state::ApiState;
use crate::syntax::source::{Node, NodeValue};

/// Answers with the session in `metadata`; with the login as it was given when it failed.
pub(super) async fn log_in(State(state): State<ApiState>, request: Request) -> Response {
    let address = address(&request);
    let body = match body(request).await {
        Ok(body) => body,
        Err(fault) => return Metadata::default().refuse(&fault),
    };
    let (login, password) = match (field(&body, "login"), field(&body, "password")) {
        (Ok(login), Ok(password)) => (login, password),
        (Err(fault), _) | (_, Err(fault)) => return Metadata::default().refuse(&fault),
    };
    let opened = state.accounts.open_session(&login, &password, address).await;
    match opened {
        Ok(session) => Metadata { login, session }.fine(),
        Err(refusal) => Metadata { login, session: String::new() }.refuse(&refusal.into()),
    }
}

fn field(body: &Node, name: &str) -> Result<String, Fault> {
    match body.get(name).map(|node| &node.value) {
        None | Some(NodeValue::Null) => Err(Fault::missing(name)),
        Some(NodeValue::Text(text)) if text.is_empty() => Err(Fault::missing(name)),
        Some(NodeValue::Text(text)) => Ok(text.clone()),
        Some(NodeValue::Int(number)) => Ok(number.to_string()),
        Some(_) => Err(Fault::invalid(name)),
    }
}
