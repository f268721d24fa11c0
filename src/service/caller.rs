//! Who asks for something, and why it is refused.

use std::net::IpAddr;
use std::sync::Arc;

use crate::domain::{CustomerId, Permission, Role, UserId};
use crate::schema::InvalidSettings;
use crate::store::{AuditObject, NewAuditEntry, StoreError};
use crate::syntax::ValidationError;

/// The door that a call came through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryPoint {
    /// `/api/v3`.
    V3,
    /// `/legacy-api`.
    Legacy,
    /// `vigie apply`.
    Apply,
    /// The command line on the host of the data.
    Cli,
    /// The server itself, as at its first start.
    Server,
}

impl EntryPoint {
    /// The word of the audit trail.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V3 => "v3",
            Self::Legacy => "legacy",
            Self::Apply => "apply",
            Self::Cli => "cli",
            Self::Server => "server",
        }
    }
}

/// Who asks: a user who is logged in, or the host itself.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The account.
    pub customer: CustomerId,
    /// The user; 0 for the host itself.
    pub user: UserId,
    /// The login, for the audit trail.
    pub login: Arc<str>,
    /// What the user may do.
    pub role: Role,
    /// From where; `None` on the host itself.
    pub address: Option<IpAddr>,
    /// Through which door.
    pub via: EntryPoint,
}

impl Caller {
    /// Refuses when the role lacks `right`.
    pub fn require_right(&self, right: Permission) -> Result<(), ServiceError> {
        if self.role.allows(right) {
            Ok(())
        } else {
            Err(ServiceError::Forbidden(format!("The role {} does not permit this", self.role)))
        }
    }

    /// An audit entry of this caller about `object`, with no changes noted yet.
    #[must_use]
    pub fn audit_entry(
        &self,
        at: crate::domain::Timestamp,
        action: &'static str,
        object: &'static str,
        object_id: AuditObject,
        object_name: impl Into<String>,
    ) -> NewAuditEntry {
        NewAuditEntry {
            customer: self.customer,
            at,
            login: self.login.to_string(),
            address: self.address.map(|address| address.to_string()).unwrap_or_default(),
            entry_point: self.via.as_str(),
            action,
            object,
            object_id,
            object_name: object_name.into(),
            before: serde_json::Map::new(),
            after: serde_json::Map::new(),
        }
    }
}

/// Why a call was not carried out; nothing was changed then.
#[derive(Clone, Debug, PartialEq)]
pub enum ServiceError {
    /// The document has these faults: 400; legacy 64 or 66.
    Invalid(Vec<ValidationError>),
    /// No login, or one that is wrong or over: 401; legacy 40.
    Unauthenticated(String),
    /// The login was refused: 400 `invalid_request - User authentication failed.`; legacy 40.
    InvalidCredentials,
    /// The account is locked or not yet active: as a wrong login; legacy 47.
    Locked,
    /// The role may not, a file manages it, or an id of a bulk edit is not the caller's: 403; legacy 63.
    Forbidden(String),
    /// There is no such thing in the caller's account: 404; legacy 65.
    NotFound,
    /// It cannot be done as things stand: 409.
    Conflict(String),
    /// `If-Match` names another version, or somebody changed it meanwhile: 412.
    PreconditionFailed,
    /// Too many calls of this kind; worth trying after so many seconds: 429.
    RateLimited(u64),
    /// The server is busy or shutting down: 503.
    Unavailable(String),
    /// The store failed: 503 or 500.
    Store(StoreError),
}

impl From<InvalidSettings> for ServiceError {
    fn from(error: InvalidSettings) -> Self {
        Self::Invalid(vec![error.into()])
    }
}

impl From<StoreError> for ServiceError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Stale => Self::PreconditionFailed,
            other => Self::Store(other),
        }
    }
}

impl From<Vec<ValidationError>> for ServiceError {
    fn from(errors: Vec<ValidationError>) -> Self {
        Self::Invalid(errors)
    }
}

/// What was saved.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SavedObject {
    /// Its number.
    pub id: i64,
    /// Its version now, for the `ETag`.
    pub revision: i64,
    /// What its author should know, one sentence each.
    pub warnings: Vec<String>,
    /// Fields that only this answer shows, such as the enrolment secret of a location.
    pub shown_once: serde_json::Map<String, serde_json::Value>,
}
