//! Authentication (interface.md 5), authorization and body of a legacy call.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use axum::response::Response;
use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::response::{LegacyError, LegacyResponse, LoginAndSession};
use crate::api::credentials::client_address;
use crate::api::state::ApiState;
use crate::domain::Permission;
use crate::service::Caller;
use crate::syntax::node::{Node, NodeValue};

/// Decodes tokens with and without padding, since clients send both.
const BASE64_ANY_PADDING: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A call of an authenticated and authorized caller.
pub(super) struct LegacyCall {
    pub(super) state: ApiState,
    pub(super) caller: Caller,
    pub(super) request: Request,
}

/// Authenticates the caller, requires the permission `permission` and runs the handler `handler`.
pub(super) async fn authorize_and_run<F, R>(
    state: ApiState,
    permission: Permission,
    request: Request,
    handler: F,
) -> Response
where
    F: FnOnce(LegacyCall) -> R,
    R: Future<Output = Result<LegacyResponse, LegacyError>>,
{
    let (login_and_session, client_address) = (session_credentials(&request), client_address(&request));
    let authentication = async {
        let LoginAndSession { login, session } = &login_and_session;
        if login.is_empty() || session.is_empty() {
            return Err(LegacyError::invalid_login());
        }
        Ok(state.account_service.authenticate_session(login, session, client_address).await?)
    };
    let caller = match authentication.await {
        Ok(caller) => caller,
        Err(error) => return login_and_session.error_response(&error),
    };
    let result = match caller.require_permission(permission) {
        Ok(()) => {
            let _permit = state.upload_permits.acquire(caller.customer, &request).await;
            handler(LegacyCall { state, caller: caller.clone(), request }).await
        }
        Err(error) => Err(error.into()),
    };
    let mut response = match result {
        Ok(result) => login_and_session.success_response(result),
        Err(error) => login_and_session.error_response(&error),
    };
    // The middleware that logs calls reads the caller from here.
    response.extensions_mut().insert(caller);
    response
}

/// Returns login and session: from the query when it has both, else from the header.
fn session_credentials(request: &Request) -> LoginAndSession {
    let parameter = |name| super::device_filter::query_parameter(request.uri(), name).unwrap_or_default();
    let (login, session) = (parameter("login"), parameter("session"));
    if !login.is_empty() && !session.is_empty() {
        return LoginAndSession { login, session };
    }
    bearer_credentials(request.headers()).unwrap_or(LoginAndSession { login, session })
}

/// Reads `Authorization: Bearer` with the Base64 text of the login, a colon and the session.
fn bearer_credentials(headers: &HeaderMap) -> Option<LoginAndSession> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    let bytes =
        BASE64_ANY_PADDING.decode(token.trim()).ok().filter(|_| scheme.eq_ignore_ascii_case("bearer"))?;
    // A login may contain a colon, a session never does.
    let text = String::from_utf8(bytes).ok()?;
    let (login, session) = text.rsplit_once(':')?;
    Some(LoginAndSession { login: login.to_owned(), session: session.to_owned() })
}

/// Reads the body, which must be a JSON object.
pub(super) async fn read_json_object(request: Request) -> Result<Node, LegacyError> {
    let content_type =
        request.headers().get(header::CONTENT_TYPE).and_then(|content_type| content_type.to_str().ok());
    let media_type = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if !media_type.eq_ignore_ascii_case("application/json") {
        return Err(LegacyError::invalid_field("Content-Type"));
    }
    let bytes = Bytes::from_request(request, &()).await.map_err(|_| LegacyError::invalid_field("body"))?;
    let node = Node::from_json(&bytes).map_err(|_| LegacyError::invalid_field("body"))?;
    match node.value {
        NodeValue::Map(_) => Ok(node),
        _ => Err(LegacyError::invalid_field("body")),
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    fn credentials_of(path: &str, header: &str) -> (String, String) {
        let request = Request::get(path).header("authorization", header).body(Body::empty()).unwrap();
        let LoginAndSession { login, session } = session_credentials(&request);
        (login, session)
    }

    #[test]
    fn credentials_come_from_the_query_or_the_header() {
        let pair = |login: &str, session: &str| (login.to_owned(), session.to_owned());
        // anna:b@x:s3ss10n
        let token = "Bearer YW5uYTpiQHg6czNzczEwbg==";
        assert_eq!(credentials_of("/devices?login=a%40x&session=s1", ""), pair("a@x", "s1"));
        assert_eq!(credentials_of("/devices?login=a%40x&session=s1", token), pair("a@x", "s1"));
        assert_eq!(credentials_of("/devices", token), pair("anna:b@x", "s3ss10n"));
        assert_eq!(credentials_of("/devices", "bearer YW5uYTpiQHg6czNzczEwbg"), pair("anna:b@x", "s3ss10n"));
        assert_eq!(
            credentials_of("/devices?login=a", token),
            pair("anna:b@x", "s3ss10n"),
            "half a pair is none"
        );
        for invalid in ["", "Basic YW5uYTpiQHg6czNzczEwbg==", "Bearer %%%", "Bearer YW5uYQ=="] {
            assert_eq!(credentials_of("/devices", invalid), pair("", ""), "{invalid}");
        }
    }
}
