//! Forms that change something: sent by a signed-in person from a page of this server.

use std::collections::HashMap;

use axum::extract::Request;
use axum::response::Response;

use super::refusal::refused;
use crate::service::ServiceError;
use crate::web::cookies::{Cookie, CookieScope};
use crate::web::csrf::{FORM_TOKEN_FIELD, RequestOrigin};
use crate::web::forms::{foreign_form_response, is_own_form, origin_from_head, read_fields, server_address};
use crate::web::page_auth::PageAuth;
use crate::web::viewer::Viewer;

/// Largest body of a form with a button and little else, in bytes.
pub(in crate::web) const MAX_BUTTON_FORM_BYTES: usize = 16 * 1024;
/// Largest body of the form of a monitor, in bytes: as much as the API reads without a permit. Longer texts have no input.
pub(in crate::web) const MAX_MONITOR_FORM_BYTES: usize = 1024 * 1024;

/// A form of a signed-in person.
pub(in crate::web) struct OwnForm {
    /// The person.
    pub(in crate::web) viewer: Viewer,
    /// The fields.
    pub(in crate::web) fields: HashMap<String, String>,
    /// The address of this server, as the browser knows it, without a path.
    pub(in crate::web) server: String,
}

/// Reads a form of at most `max_bytes`, unless it comes from another site or from nobody who may change monitors: their
/// bodies are not even read.
pub(in crate::web) async fn read_own_form(
    auth: &PageAuth,
    request: Request,
    max_bytes: usize,
) -> Result<OwnForm, Response> {
    let form = read_form_of_person(auth, request, max_bytes, FormSender::Editor).await?;
    own(form).ok_or_else(foreign_form_response)
}

/// Like [`read_own_form`], for forms of everybody who is signed in.
pub(in crate::web) async fn read_form_of_anybody(
    auth: &PageAuth,
    request: Request,
    max_bytes: usize,
) -> Result<OwnForm, Response> {
    let form = read_form_of_person(auth, request, max_bytes, FormSender::Anybody).await?;
    own(form).ok_or_else(foreign_form_response)
}

fn own((form, session): (OwnForm, FormSession)) -> Option<OwnForm> {
    (session == FormSession::Same).then_some(form)
}

/// Who may send a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::web) enum FormSender {
    /// Whoever may change monitors.
    Editor,
    /// Whoever is signed in.
    Anybody,
}

/// Which session a form was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::web) enum FormSession {
    /// The one that sent it.
    Same,
    /// Another one, by a page of this server: the person has signed in again since. It must not change anything.
    Earlier,
    /// None of this server.
    Foreign,
}

/// Like [`read_own_form`], also for forms of other sessions.
pub(in crate::web) async fn read_form_of_person(
    auth: &PageAuth,
    request: Request,
    max_bytes: usize,
    sender: FormSender,
) -> Result<(OwnForm, FormSession), Response> {
    let (head, body) = request.into_parts();
    let viewer = auth.admit(&head).await?;
    if viewer.form_token().is_none() {
        return Err(foreign_form_response());
    }
    if sender == FormSender::Editor && !viewer.may_edit() {
        let message = "Your role does not permit changing monitors";
        return Err(refused(&ServiceError::Forbidden(message.to_owned())));
    }
    let fields = read_fields(body, max_bytes).await?;
    let session = CookieScope::of(&head).read(Cookie::Session, &head.headers);
    let token = fields.get(FORM_TOKEN_FIELD).map(String::as_str).unwrap_or_default();
    let session = if is_own_form(&head, session.as_deref(), token) {
        FormSession::Same
    } else if origin_from_head(&head) == RequestOrigin::SameOrigin {
        FormSession::Earlier
    } else {
        FormSession::Foreign
    };
    Ok((OwnForm { viewer, fields, server: server_address(&head) }, session))
}
