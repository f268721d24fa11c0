//! `POST /login`: opens a session for login and password.

use axum::extract::{Request, State};
use axum::response::Response;

use super::call::read_json_object;
use super::response::{LegacyError, LoginAndSession};
use crate::api::credentials::client_address;
use crate::api::state::ApiState;
use crate::syntax::node::{Node, NodeValue};

/// Returns the session in `metadata`; on failure, returns the login as it was sent.
pub(super) async fn log_in(State(state): State<ApiState>, request: Request) -> Response {
    let address = client_address(&request);
    let body = match read_json_object(request).await {
        Ok(body) => body,
        Err(error) => return LoginAndSession::default().error_response(&error),
    };
    let (login, password) = match (required_text(&body, "login"), required_text(&body, "password")) {
        (Ok(login), Ok(password)) => (login, password),
        (Err(error), _) | (_, Err(error)) => return LoginAndSession::default().error_response(&error),
    };
    let session_result = state.account_service.open_session(&login, &password, address).await;
    match session_result {
        Ok(session) => LoginAndSession { login, session }.empty_response(),
        Err(error) => LoginAndSession { login, session: String::new() }.error_response(&error.into()),
    }
}

fn required_text(body: &Node, name: &str) -> Result<String, LegacyError> {
    match body.get(name).map(|node| &node.value) {
        None | Some(NodeValue::Null) => Err(LegacyError::missing_field(name)),
        Some(NodeValue::Text(text)) if text.is_empty() => Err(LegacyError::missing_field(name)),
        Some(NodeValue::Text(text)) => Ok(text.clone()),
        Some(NodeValue::Int(number)) => Ok(number.to_string()),
        Some(_) => Err(LegacyError::invalid_field(name)),
    }
}
