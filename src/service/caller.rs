//! Callers of use cases, and the errors that they get.

use std::net::IpAddr;
use std::sync::Arc;

use crate::domain::{CustomerId, Permission, Role, TokenScope, TokenScopes, UserId};
use crate::schema::InvalidFieldValue;
use crate::store::{AuditObject, NewAuditEntry, StoreError};
use crate::syntax::ValidationError;

/// The entry point of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryPoint {
    /// `/api/v3`.
    ApiV3,
    /// `/legacy-api`.
    LegacyApi,
    /// The pages.
    Pages,
    /// `vigie apply`.
    Apply,
    /// The command line on the server's host.
    Cli,
    /// The server itself, for example at its first start.
    Server,
}

impl EntryPoint {
    /// Returns the name in the audit trail.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ApiV3 => "v3",
            Self::LegacyApi => "legacy",
            Self::Pages => "pages",
            Self::Apply => "apply",
            Self::Cli => "cli",
            Self::Server => "server",
        }
    }
}

/// Who calls a use case: a logged-in user, or the host itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The account.
    pub customer: CustomerId,
    /// The user; 0 for the host itself.
    pub user_id: UserId,
    /// The login, for the audit trail.
    pub login: Arc<str>,
    /// What the user may do, limited to the scopes of its token.
    pub role: Role,
    /// Scopes of the token of a program; `None` for a login.
    pub token_scopes: Option<TokenScopes>,
    /// Its network address; `None` on the host itself.
    pub client_address: Option<IpAddr>,
    /// The entry point.
    pub entry_point: EntryPoint,
}

impl Caller {
    /// Whether the caller has `permission`.
    #[must_use]
    pub fn allows(&self, permission: Permission) -> bool {
        self.role.allows(permission) && self.token_scopes.is_none_or(|scopes| scopes.allows(permission))
    }

    /// Whether the caller may read the metrics, which are about all accounts: the host, and users of account 1 who may
    /// view, a token of a program also needs the scope `metrics`.
    #[must_use]
    pub fn may_read_metrics(&self) -> bool {
        let has_scope = self.token_scopes.is_none_or(|scopes| scopes.contains(TokenScope::Metrics));
        let may_view_first_account =
            self.customer == CustomerId::OPERATOR && self.role.allows(Permission::View);
        has_scope && (self.user_id == UserId::HOST || may_view_first_account)
    }

    /// Whether the caller may read the metrics of the monitors of its account: who may view, a token of a program also
    /// needs the scope `metrics` or one that includes `read`.
    #[must_use]
    pub fn may_read_monitor_metrics(&self) -> bool {
        let has_scope = self
            .token_scopes
            .is_none_or(|scopes| scopes.contains(TokenScope::Metrics) || scopes.allows(Permission::View));
        has_scope && self.role.allows(Permission::View)
    }

    /// Fails when the role, or the scopes of the token, lack `permission`.
    pub fn require_permission(&self, permission: Permission) -> Result<(), ServiceError> {
        if self.allows(permission) {
            Ok(())
        } else {
            Err(ServiceError::Forbidden(match self.token_scopes {
                Some(_) => "The scopes of the token, or the role of its user, do not permit this".to_owned(),
                None => format!("The role {} does not permit this", self.role),
            }))
        }
    }

    /// Returns an audit entry of this caller about `object`, without changes yet.
    #[must_use]
    pub fn audit_entry(
        &self,
        occurred_at: crate::domain::Timestamp,
        action: &'static str,
        object_kind: &'static str,
        object_id: AuditObject,
        object_name: impl Into<String>,
    ) -> NewAuditEntry {
        NewAuditEntry {
            customer: self.customer,
            occurred_at,
            login: self.login.to_string(),
            address: self.client_address.map(|address| address.to_string()).unwrap_or_default(),
            entry_point: self.entry_point.as_str(),
            action,
            object_kind,
            object_id,
            object_name: object_name.into(),
            before: serde_json::Map::new(),
            after: serde_json::Map::new(),
        }
    }
}

/// Why a call failed; nothing was changed then.
#[derive(Clone, Debug, PartialEq)]
pub enum ServiceError {
    /// The document has these errors: 400; legacy 64 or 66.
    Invalid(Vec<ValidationError>),
    /// No login, or an invalid or expired one: 401; legacy 40.
    Unauthenticated(String),
    /// The login was refused: 400 `invalid_request - User authentication failed.`; legacy 40.
    InvalidCredentials,
    /// The user is locked or not yet active: the same response as for a wrong login; legacy 47.
    UserLocked,
    /// The role lacks a permission, a file manages the object, or an id of a bulk edit is not the caller's: 403;
    /// legacy 63.
    Forbidden(String),
    /// It does not exist in the caller's account: 404; legacy 65.
    NotFound,
    /// The request conflicts with the current state: 409.
    Conflict(String),
    /// `If-Match` has another revision, or the object was changed concurrently: 412.
    PreconditionFailed,
    /// Too many calls of this kind; retry after this many seconds: 429.
    RateLimited(u64),
    /// The server is busy or shutting down: 503.
    Unavailable(String),
    /// The store failed: 503 or 500.
    StoreFailed(StoreError),
}

impl From<InvalidFieldValue> for ServiceError {
    fn from(error: InvalidFieldValue) -> Self {
        Self::Invalid(vec![error.into()])
    }
}

impl From<StoreError> for ServiceError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Stale => Self::PreconditionFailed,
            other => Self::StoreFailed(other),
        }
    }
}

impl From<Vec<ValidationError>> for ServiceError {
    fn from(errors: Vec<ValidationError>) -> Self {
        Self::Invalid(errors)
    }
}

/// What a create or change returns about the object that it saved.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SavedObject {
    /// Its id.
    pub id: i64,
    /// Its revision now, for the `ETag`.
    pub revision: i64,
    /// Warnings for its author, one sentence each.
    pub warnings: Vec<String>,
    /// Fields that only this response contains, such as the enrolment secret of a location.
    pub create_response_fields: serde_json::Map<String, serde_json::Value>,
}
