//! Logins: checks passwords, throttles guessing, and records logins in the audit trail.

use std::net::IpAddr;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::account_service::{AccountService, with_address};
use super::issued_token::IssuedToken;
use super::password::matches_hash;
use super::tokens::{ACCESS_SECONDS, SESSION_SECONDS};
use super::users::{caller_from_user, is_active, login_key};
use crate::domain::{CustomerId, Record, RecordKind, Role, UserId};
use crate::service::caller::{Caller, EntryPoint, ServiceError};
use crate::store::{AuditObject, NewAuditEntry, TokenKind};

impl AccountService {
    /// Logs in for version 3. Attempts are throttled per login and per address.
    pub async fn log_in(
        &self,
        username: &str,
        password: &str,
        address: IpAddr,
    ) -> Result<IssuedToken, ServiceError> {
        let user = self.authenticate(username, password, address, EntryPoint::V3).await?;
        let token = self.issue_token(TokenKind::Access, &user, ACCESS_SECONDS).await?;
        self.audit_login(&with_address(address, caller_from_user(&user, EntryPoint::V3)?), "login").await?;
        Ok(IssuedToken { token, expires_in: ACCESS_SECONDS })
    }

    /// Logs in for the legacy API. Returns a session, which ends 15 minutes after its last use.
    pub async fn open_session(
        &self,
        login: &str,
        password: &str,
        address: IpAddr,
    ) -> Result<String, ServiceError> {
        let user = self.authenticate(login, password, address, EntryPoint::Legacy).await?;
        let session = self.issue_token(TokenKind::Session, &user, SESSION_SECONDS).await?;
        self.audit_login(&with_address(address, caller_from_user(&user, EntryPoint::Legacy)?), "login")
            .await?;
        Ok(session)
    }

    /// Returns the user with this login and password.
    async fn authenticate(
        &self,
        login: &str,
        password: &str,
        address: IpAddr,
        via: EntryPoint,
    ) -> Result<Record, ServiceError> {
        let key = login_key(login);
        let attempt =
            self.throttle.try_begin(&key, address, self.clock.now()).map_err(ServiceError::RateLimited)?;
        let outcome = self.verify_password(key, password).await;
        let (user, is_correct) = outcome.inspect_err(|_| self.throttle.cancel(&attempt))?;
        match user {
            Some(user) if is_correct => {
                self.throttle.record_success(&attempt, self.clock.now());
                if is_active(&user) {
                    return Ok(user);
                }
                self.audit_failed_login(Some(&user), "locked or disabled", address, via).await;
                Err(ServiceError::Locked)
            }
            user => {
                self.audit_failed_login(user.as_ref(), "wrong password", address, via).await;
                Err(ServiceError::InvalidCredentials)
            }
        }
    }

    /// Returns the user with this login and whether the password is correct. Takes the same time without a user.
    async fn verify_password(
        &self,
        key: String,
        password: &str,
    ) -> Result<(Option<Record>, bool), ServiceError> {
        let user = self.config.record_by_unique(RecordKind::User, key).await?;
        let is_correct =
            matches_hash(password, user.as_ref().and_then(|user| user.private_data.as_deref())).await?;
        Ok((user, is_correct))
    }

    /// Records that `caller` logged in or out.
    pub(super) async fn audit_login(
        &self,
        caller: &Caller,
        action: &'static str,
    ) -> Result<(), ServiceError> {
        let entry = self.login_entry(caller, action);
        self.config.write_changes(Vec::new(), vec![entry]).await?;
        Ok(())
    }

    fn login_entry(&self, caller: &Caller, action: &'static str) -> NewAuditEntry {
        let object = match caller.user {
            UserId(0) => AuditObject::None,
            UserId(id) => AuditObject::Id(id),
        };
        caller.audit_entry(self.clock.now(), action, "user", object, &*caller.login)
    }

    /// Records a failed login. An unknown login is not recorded as typed, since it may be a password; its entry goes to
    /// account 1, whose admins manage the host.
    async fn audit_failed_login(
        &self,
        user: Option<&Record>,
        why: &'static str,
        address: IpAddr,
        via: EntryPoint,
    ) {
        let now = self.clock.now();
        let recorded = self.failed_logins.lock().try_record(now);
        let Some(suppressed) = recorded else {
            tracing::debug!(%address, "failed login not recorded in the audit trail: too many");
            return;
        };
        tracing::info!(%address, via = via.as_str(), why, "login failed");
        let unknown_caller = Caller {
            customer: CustomerId(1),
            user: UserId(0),
            login: Arc::from(""),
            role: Role::ReportOnly,
            address: Some(address),
            via,
        };
        let caller = user
            .and_then(|user| caller_from_user(user, via).ok())
            .map(|caller| with_address(address, caller));
        let mut entry = self.login_entry(&caller.unwrap_or(unknown_caller), "login_failed");
        let why = if user.is_some() { why } else { "unknown login" };
        entry.after = Map::from_iter([("why".to_owned(), json!(why))]);
        if suppressed > 0 {
            entry.after.insert("left_out_before".to_owned(), Value::from(suppressed));
        }
        if let Err(error) = self.config.write_changes(Vec::new(), vec![entry]).await {
            tracing::warn!(error_kind = error.kind(), "failed to record a failed login: {error}");
        }
    }
}
