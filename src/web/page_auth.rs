//! Access control of the pages and the metrics.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode, Version, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::cookies::{Cookie, CookieScope};
use super::csrf::{form_token, request_authority};
use super::known_hosts::KnownHosts;
use super::location_switch::LocationSwitch;
use super::monitor_metrics::MetricsScope;
use super::notice::{render_notice_page, render_retry_page};
use super::page_frame::{PageFrame, render_page};
use super::preferences::Preferences;
use super::query_masks::HideQueryValues;
use super::viewer::{CaptureAccess, SessionControl, Viewer};
use crate::domain::{CustomerId, Permission, StoreError, UserId};
use crate::service::{AccountService, Caller, ClientConnection, MonitorReader, ServiceError, bearer_token};
use crate::texts::Zone;

/// Decides by its address whether a client may read the metrics.
pub type AddressRule = Arc<dyn Fn(IpAddr) -> bool + Send + Sync>;

/// Who may open pages and metrics.
#[derive(Clone)]
pub struct PageAuth {
    /// Whether everyone may see the pages, without captures.
    pub is_public: bool,
    /// Verifies sessions and tokens.
    pub account_service: Arc<AccountService>,
    /// Supplies the time zones of accounts and the locations; without it, that of all is UTC, and there are none.
    pub account_data: Option<Arc<MonitorReader>>,
    /// Names under which browsers may reach the pages.
    pub known_hosts: KnownHosts,
    /// Clients that may read the metrics without a token.
    pub allows_metrics: AddressRule,
}

impl PageAuth {
    /// Requires a login for everything.
    #[must_use]
    pub fn new(account_service: Arc<AccountService>) -> Self {
        Self {
            is_public: false,
            account_service,
            account_data: None,
            known_hosts: KnownHosts::default(),
            allows_metrics: Arc::new(|_| false),
        }
    }

    /// Returns the response to a request whose `Host` is not known; `None` if it is known.
    pub(super) fn unknown_host_refusal(&self, head: &Parts) -> Option<Response> {
        let host = request_authority(&head.uri, &head.headers).unwrap_or_default();
        if self.known_hosts.contains(&host) {
            return None;
        }
        let message = format!(
            "The server does not know the host name `{host}`. Use an address or `localhost`, or add the name to the \
             setting server.hosts. Calls with an access token (Authorization: Bearer …) may use any name."
        );
        let page = render_notice_page("Unknown host name", &message);
        Some((StatusCode::MISDIRECTED_REQUEST, page).into_response())
    }

    /// Returns who asks for a page, or the response to somebody who may not see it.
    pub(super) async fn admit(&self, head: &Parts) -> Result<Viewer, Response> {
        let bearer = bearer_token(&head.headers);
        if bearer.is_none()
            && let Some(refusal) = self.unknown_host_refusal(head)
        {
            return Err(refusal);
        }
        let caller = match &bearer {
            Some(token) => self.bearer_caller(head, token).await.map(|caller| Some((caller?, None))),
            None => self
                .session_caller(head)
                .await
                .map(|found| found.map(|(caller, session)| (caller, Some(session)))),
        };
        let mut preferences = Preferences::from_head(head);
        let caller = match caller {
            Ok(Some((caller, session))) => match self.in_account(caller, &mut preferences).await {
                Ok((caller, account_name)) => Ok(Some((caller, session, account_name))),
                Err(error) => Err(error.into()),
            },
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        };
        let viewer = match caller {
            Ok(Some((caller, session, account_name))) => {
                let session = session.map(|session| session_control(&caller, &session, account_name));
                viewer_for(&caller, session.unwrap_or(SessionControl::Nothing), preferences).map(Some)
            }
            Ok(None) => Ok(None),
            Err(error) => return Err(login_check_unavailable(&error)),
        };
        let viewer = match viewer {
            // On public pages, a login must not reduce what the caller sees.
            Ok(Some(viewer)) if self.is_public && viewer.preferences.account.is_none() => {
                // Of other accounts, it sees what everybody sees.
                let is_host = viewer.visible_account.is_none();
                let can_see_query_values = viewer.can_see_query_values && is_host;
                Ok(Viewer { visible_account: None, can_see_query_values, ..viewer })
            }
            Ok(Some(viewer)) => Ok(viewer),
            Err(session_control) if self.is_public => Ok(public_viewer(session_control, preferences)),
            Err(session_control) => Err(forbidden(session_control, preferences)),
            Ok(None) if self.is_public => Ok(public_viewer(SessionControl::SignIn, preferences)),
            Ok(None) if bearer.is_none() && wants_html(head) => Err(redirect_to_sign_in(head)),
            Ok(None) => Err(login_required(head)),
        };
        viewer.map(|viewer| Viewer { location_switch: self.location_switch(&viewer), ..viewer })
    }

    /// Returns the location that `viewer` looks at.
    fn location_switch(&self, viewer: &Viewer) -> LocationSwitch {
        let audience = viewer.location_audience();
        let locations = self.account_data.as_ref().map(|account_data| account_data.locations_for(audience));
        LocationSwitch::new(locations.unwrap_or_default(), &viewer.preferences)
    }

    /// Returns the caller in the account that the host has chosen, with the name of that account, and adds what `preferences`
    /// take from the account: without a time zone of their own, they show that of the account.
    async fn in_account(
        &self,
        caller: Caller,
        preferences: &mut Preferences,
    ) -> Result<(Caller, Option<String>), StoreError> {
        let is_host = caller.user_id == UserId::HOST;
        let chosen = preferences.account.take().filter(|_| is_host);
        let Some(account_data) = &self.account_data else { return Ok((caller, None)) };
        let mut labels = account_data.account_labels(chosen.unwrap_or(caller.customer)).await?;
        // An account that does not exist is no choice.
        preferences.account =
            chosen.filter(|_| labels.as_ref().is_some_and(|labels| !labels.name.is_empty()));
        if chosen.is_some() && preferences.account.is_none() {
            labels = account_data.account_labels(caller.customer).await?;
        }
        let zone = labels.as_ref().and_then(|labels| Zone::from_name(labels.time_zone.as_deref()?));
        *preferences = preferences.with_account_zone(zone.unwrap_or_default());
        Ok(match (preferences.account, labels) {
            (Some(customer), Some(labels)) => (Caller { customer, ..caller }, Some(labels.name)),
            _ => (caller, None),
        })
    }

    /// Returns who asks for metrics, or the response to somebody of whom that cannot be told.
    async fn metrics_client(&self, head: &Parts) -> Result<MetricsClient, Response> {
        let caller = if let Some(token) = bearer_token(&head.headers) {
            self.bearer_caller(head, token).await
        } else {
            if let Some(refusal) = self.unknown_host_refusal(head) {
                return Err(refusal);
            }
            let client = ClientConnection::from_extensions(&head.extensions);
            if !client.may_be_forwarded && (self.allows_metrics)(client.address) {
                return Ok(MetricsClient::Local);
            }
            self.session_caller(head).await.map(|found| found.map(|(caller, _)| caller))
        };
        match caller {
            Ok(Some(caller)) => Ok(MetricsClient::Caller(Box::new(caller))),
            Ok(None) => Ok(MetricsClient::Unknown),
            Err(error) => Err(login_check_unavailable(&error)),
        }
    }

    /// Returns the caller with the session in the cookie of the request, and the value of the cookie.
    pub(super) async fn session_caller(
        &self,
        head: &Parts,
    ) -> Result<Option<(Caller, String)>, ServiceError> {
        let Some(session) = CookieScope::of(head).read(Cookie::Session, &head.headers) else {
            return Ok(None);
        };
        let address = ClientConnection::from_extensions(&head.extensions).address;
        match self.account_service.authenticate_page_session(&session, address).await {
            Ok(caller) => Ok(Some((caller, session))),
            Err(ServiceError::Unauthenticated(_) | ServiceError::UserLocked) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the caller with the bearer token of the request; `None` for an invalid one.
    async fn bearer_caller(&self, head: &Parts, token: &str) -> Result<Option<Caller>, ServiceError> {
        let address = ClientConnection::from_extensions(&head.extensions).address;
        match self.account_service.authenticate_bearer(token, address).await {
            Ok(caller) => Ok(Some(caller)),
            Err(ServiceError::StoreFailed(error)) => Err(ServiceError::StoreFailed(error)),
            Err(_) => Ok(None),
        }
    }
}

/// Admits a request to a page only if `auth` allows it.
pub(super) async fn require_page_access(
    State(auth): State<PageAuth>,
    request: Request,
    next: Next,
) -> Response {
    let (mut head, body) = request.into_parts();
    let viewer = match auth.admit(&head).await {
        Ok(viewer) => viewer,
        Err(refusal) => return refusal,
    };
    let hides_query_values = !viewer.can_see_query_values && !head.uri.path().starts_with("/manual");
    head.extensions.insert(viewer);
    let mut response = next.run(Request::from_parts(head, body)).await;
    if hides_query_values && response.extensions().get::<OwnFormPage>().is_none() {
        response.extensions_mut().insert(HideQueryValues);
    }
    response
}

/// Marks the page of a form that only somebody who may change what it shows gets: its values go back as they are shown, so
/// nothing is hidden.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnFormPage;

/// Admits a request to the metrics of the server only if `auth` allows it.
pub(super) async fn require_metrics_access(
    State(auth): State<PageAuth>,
    request: Request,
    next: Next,
) -> Response {
    let (head, body) = request.into_parts();
    match auth.metrics_client(&head).await {
        Ok(MetricsClient::Local) => next.run(Request::from_parts(head, body)).await,
        Ok(MetricsClient::Caller(caller)) if caller.may_read_metrics() => {
            next.run(Request::from_parts(head, body)).await
        }
        Ok(_) => {
            let message = "The metrics are open to the networks of the setting server.metrics_allow, unless a proxy \
                           forwards the request, and to access tokens (Authorization: Bearer …) of users of account 1 \
                           who may view.";
            unauthorized(message)
        }
        Err(refusal) => refusal,
    }
}

/// Admits a request to the metrics of monitors only if `auth` allows it: a caller to those of its account, the host and
/// clients without a token to those of all accounts.
pub(super) async fn require_monitor_metrics_access(
    State(auth): State<PageAuth>,
    request: Request,
    next: Next,
) -> Response {
    let (mut head, body) = request.into_parts();
    let scope = match auth.metrics_client(&head).await {
        Ok(MetricsClient::Local) => MetricsScope(None),
        Ok(MetricsClient::Caller(caller)) if caller.may_read_monitor_metrics() => {
            let sees_everything = caller.user_id == UserId::HOST && caller.customer == CustomerId::OPERATOR;
            MetricsScope((!sees_everything).then_some(caller.customer))
        }
        Ok(_) => {
            let message = "The metrics of monitors are open to the networks of the setting server.metrics_allow, \
                           unless a proxy forwards the request, and to access tokens (Authorization: Bearer …) of \
                           users who may view: each sees its account.";
            return unauthorized(message);
        }
        Err(refusal) => return refusal,
    };
    head.extensions.insert(scope);
    next.run(Request::from_parts(head, body)).await
}

/// Who asks for metrics.
enum MetricsClient {
    /// A client without a token at an address that needs none.
    Local,
    /// Somebody who is logged in.
    Caller(Box<Caller>),
    /// Anybody else.
    Unknown,
}

/// Returns what the header offers to `caller`, who looks at one of several accounts if that has a name.
fn session_control(caller: &Caller, session: &str, account_name: Option<String>) -> SessionControl {
    let login = match account_name {
        Some(name) => Arc::from(format!("{} · {name}", caller.login)),
        None => Arc::clone(&caller.login),
    };
    SessionControl::SignOut { login, form_token: form_token(session) }
}

/// Returns what `caller` may see: its own account, and for the host, which is no user, all accounts unless it has chosen one.
/// Without the right to view, returns what the header of the refusal offers.
fn viewer_for(
    caller: &Caller,
    session_control: SessionControl,
    preferences: Preferences,
) -> Result<Viewer, SessionControl> {
    if !caller.allows(Permission::View) {
        return Err(session_control);
    }
    let can_see_query_values = caller.role.allows(Permission::Edit);
    let sees_everything = caller.user_id == UserId::HOST
        && caller.customer == CustomerId::OPERATOR
        && preferences.account.is_none();
    let (visible_account, captures) = if sees_everything {
        (None, CaptureAccess::Everybody)
    } else {
        (Some(caller.customer), CaptureAccess::Account(caller.customer))
    };
    Ok(Viewer {
        visible_account,
        caller: Some(caller.clone()),
        captures,
        can_see_query_values,
        session_control,
        preferences,
        location_switch: LocationSwitch::default(),
    })
}

/// Returns the viewer of public pages: all accounts, but no captures and no query values.
fn public_viewer(session_control: SessionControl, preferences: Preferences) -> Viewer {
    let captures = CaptureAccess::Nobody;
    Viewer {
        visible_account: None,
        caller: None,
        captures,
        can_see_query_values: false,
        session_control,
        preferences,
        location_switch: LocationSwitch::default(),
    }
}

/// Whether a person with a browser asks for a page, and not a script for a part of one.
fn wants_html(head: &Parts) -> bool {
    let is_read = matches!(head.method, Method::GET | Method::HEAD);
    let mut accepted = head.headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    is_read && !is_from_script(head) && accepted.any(|value| value.contains("text/html"))
}

/// Whether the scripts of a page sent the request. They cannot show the page that they would be redirected to.
fn is_from_script(head: &Parts) -> bool {
    head.headers.contains_key("hx-request")
}

fn redirect_to_sign_in(head: &Parts) -> Response {
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("next", path);
    let location = format!("/sign-in?{}", query.finish());
    (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response()
}

fn login_required(head: &Parts) -> Response {
    // Load balancers often check over HTTP/1.0; tell them which endpoints are open.
    let hint = if head.version == Version::HTTP_10 { " /healthz and /readyz need no login." } else { "" };
    let message = format!(
        "Sign in at /sign-in, or send an access token (Authorization: Bearer …) of a user who may view. The setting \
         server.public_pages opens the pages to everyone.{hint}"
    );
    unauthorized(&message)
}

/// Builds a response with the status 401, which asks for a bearer token.
fn unauthorized(message: &str) -> Response {
    let page = render_notice_page("A login is needed", message);
    let mut response = (StatusCode::UNAUTHORIZED, page).into_response();
    response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}

/// Builds the response to a signed-in user whose role may not view.
fn forbidden(session_control: SessionControl, preferences: Preferences) -> Response {
    let viewer = public_viewer(session_control, preferences);
    let t = viewer.locale();
    let title = t.text("Not permitted");
    let text = t.text(
        "Your role does not permit viewing monitors. Results and reports are open to it through the API.",
    );
    let body = format!(r#"<h1>{title}</h1><p class="notice">{text}</p>"#);
    let page = render_page(PageFrame::new(&format!("{title} · Vigie"), &viewer), &body);
    (StatusCode::FORBIDDEN, page).into_response()
}

/// Returns the response to a request whose login could not be checked.
pub(super) fn login_check_unavailable(error: &ServiceError) -> Response {
    tracing::warn!(error = ?error, "failed to check a login to the pages");
    let message = "The login cannot be checked now; see the server log. Nothing was changed.";
    (StatusCode::SERVICE_UNAVAILABLE, render_retry_page("Login not available", message)).into_response()
}
