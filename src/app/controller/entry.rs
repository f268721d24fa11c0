//! What a controller does with requests: it serves them while it leads, and hands them on otherwise.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tokio::sync::watch;
use tower::ServiceExt;

use super::forwarded_request::{FORWARDED, ForwardedClient};
use super::forwarder::{Forwarder, unavailable};
use crate::api;
use crate::app::server::{ConnectionRules, client_connection};
use crate::clock::Clock;
use crate::domain::CustomerId;
use crate::service::{AccountService, bearer_token};
use crate::store::ControllerAddress;
use crate::telemetry::HealthCondition;
use crate::vault::Keyring;
use crate::web;

/// How long a request waits for a controller that leads: a failed one is replaced within that.
const LEADER_WAIT: Duration = Duration::from_secs(10);

/// What this controller is.
#[derive(Clone)]
pub(super) enum Role {
    /// Another controller leads.
    Standby,
    /// This one leads, and serves requests.
    Leading(axum::Router),
}

/// Takes all requests of a controller.
pub(super) struct ControllerEntry {
    pub(super) name: String,
    pub(super) role: watch::Sender<Role>,
    /// The other controller that leads, as far as known.
    pub(super) leader: watch::Receiver<Option<ControllerAddress>>,
    pub(super) forwarder: Forwarder,
    pub(super) keyring: Arc<Keyring>,
    pub(super) clock: Arc<dyn Clock>,
    /// The token for commands on this host.
    pub(super) host_token: String,
    pub(super) rules: ConnectionRules,
}

impl ControllerEntry {
    /// Returns the router that takes all requests.
    pub(super) fn router(self: &Arc<Self>) -> axum::Router {
        axum::Router::new().fallback(handle).with_state(Arc::clone(self))
    }

    /// Returns the account for which a request shows the host token.
    fn host_account(&self, headers: &HeaderMap) -> Option<CustomerId> {
        AccountService::host_token_account(bearer_token(headers)?, &self.host_token)
    }

    /// Serves `request` with the router of the leader.
    async fn serve(&self, router: axum::Router, mut request: Request) -> Response {
        match ForwardedClient::take_from(&mut request, &self.keyring, self.clock.now()) {
            Ok(None) => {}
            Ok(Some(client)) => {
                if let Some(account) = client.host_account {
                    let token = AccountService::host_token_for(&self.host_token, account);
                    if let Ok(value) = HeaderValue::try_from(format!("Bearer {token}")) {
                        request.headers_mut().insert(header::AUTHORIZATION, value);
                    }
                }
                request.extensions_mut().insert(client.connection);
            }
            Err(_) => {
                let message =
                    "The controller that handed this request on has another key file, or its clock is wrong";
                return api::ApiError::new(StatusCode::BAD_REQUEST, message).into_response();
            }
        }
        let Ok(response) = router.oneshot(request).await;
        response
    }

    /// Hands `request` on to the controller that leads, once there is one.
    async fn hand_on(&self, mut request: Request) -> Response {
        // Another controller takes this one for the leader: it is about to lead, or has just lost the lead.
        let is_handed_on = request.headers().contains_key(FORWARDED);
        let (mut role, mut leader) = (self.role.subscribe(), self.leader.clone());
        let next = async {
            tokio::select! {
                Ok(role) = role.wait_for(|role| matches!(role, Role::Leading(_))) => Next::from_role(&role),
                Ok(leader) = leader.wait_for(Option::is_some), if !is_handed_on => leader.clone().map(Next::Forward),
            }
        };
        match tokio::time::timeout(LEADER_WAIT, next).await {
            Ok(Some(Next::Serve(router))) => self.serve(router, request).await,
            Ok(Some(Next::Forward(leader))) => {
                let client = ForwardedClient {
                    connection: client_connection(&request, &self.rules),
                    host_account: self.host_account(request.headers()),
                };
                if client.host_account.is_some() {
                    request.headers_mut().remove(header::AUTHORIZATION);
                }
                let (method, uri) = (request.method().clone(), request.uri().clone());
                let field = client.to_header(&self.keyring, &method, &uri, self.clock.now());
                request.headers_mut().insert(FORWARDED, field);
                self.forwarder.forward(&leader, request).await
            }
            _ => unavailable("No controller leads now; try again"),
        }
    }

    /// Returns whether this controller can hand requests on.
    fn readiness(&self) -> HealthCondition {
        match *self.leader.borrow() {
            Some(_) => HealthCondition::met("leader"),
            None => HealthCondition::unmet("leader", "no controller leads"),
        }
    }
}

/// What happens to a request once a controller leads.
enum Next {
    Serve(axum::Router),
    Forward(ControllerAddress),
}

impl Next {
    fn from_role(role: &Role) -> Option<Self> {
        match role {
            Role::Leading(router) => Some(Self::Serve(router.clone())),
            Role::Standby => None,
        }
    }
}

async fn handle(State(entry): State<Arc<ControllerEntry>>, request: Request) -> Response {
    let role = entry.role.borrow().clone();
    let mut response = match (role, request.uri().path()) {
        (Role::Leading(router), _) => entry.serve(router, request).await,
        (Role::Standby, "/healthz") => web::health_response(&[]),
        (Role::Standby, "/readyz") => web::health_response(&[entry.readiness()]),
        (Role::Standby, _) => entry.hand_on(request).await,
    };
    // Which controller worked for a request helps to find its log. A response that was handed on has the name already.
    if let Ok(name) = HeaderValue::try_from(&entry.name) {
        response.headers_mut().entry("vigie-controller").or_insert(name);
    }
    response
}
