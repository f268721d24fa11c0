//! Logins: checks passwords, throttles guessing, and records logins in the audit trail.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::account_service::{AccountService, with_client_address};
use super::issued_token::IssuedToken;
use super::password::password_matches;
use super::tokens::{ACCESS_TOKEN_SECONDS, SESSION_SECONDS};
use super::users::{caller_from_user, can_log_in, normalize_login};
use crate::domain::{ConfigRecord, ConfigRecordKind, CustomerId, Role, UserId};
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
        let user = self.authenticate(username, password, address, EntryPoint::ApiV3).await?;
        let token = self.issue_token(TokenKind::Access, &user, address, ACCESS_TOKEN_SECONDS).await?;
        self.audit_session_event(
            &with_client_address(address, caller_from_user(&user, EntryPoint::ApiV3)?),
            "login",
        )
        .await?;
        Ok(IssuedToken { token, expires_in: ACCESS_TOKEN_SECONDS })
    }

    /// Logs in for the legacy API. Returns a session, which ends 15 minutes after its last use.
    pub async fn open_session(
        &self,
        login: &str,
        password: &str,
        address: IpAddr,
    ) -> Result<String, ServiceError> {
        let user = self.authenticate(login, password, address, EntryPoint::LegacyApi).await?;
        let session = self.issue_token(TokenKind::LegacySession, &user, address, SESSION_SECONDS).await?;
        self.audit_session_event(
            &with_client_address(address, caller_from_user(&user, EntryPoint::LegacyApi)?),
            "login",
        )
        .await?;
        Ok(session)
    }

    /// Returns the user with this login and password, who may log in. Throttles guessing, and audits failures.
    pub(super) async fn authenticate(
        &self,
        login: &str,
        password: &str,
        address: IpAddr,
        entry_point: EntryPoint,
    ) -> Result<ConfigRecord, ServiceError> {
        let normalized_login = normalize_login(login);
        let attempt = self.login_throttle.try_admit(&normalized_login, address, self.clock.now()).await?;
        let (user, is_correct) = match self.verify_password(normalized_login, password).await {
            Ok(verified) => verified,
            Err(error) => {
                self.login_throttle.uncount(&attempt, self.clock.now()).await;
                return Err(error);
            }
        };
        match user {
            Some(user) if is_correct => {
                self.login_throttle.record_success(&attempt, self.clock.now()).await?;
                if can_log_in(&user) {
                    return Ok(user);
                }
                self.audit_failed_login(Some(&user), "locked or disabled", address, entry_point).await;
                Err(ServiceError::UserLocked)
            }
            user => {
                self.audit_failed_login(user.as_ref(), "wrong password", address, entry_point).await;
                Err(ServiceError::InvalidCredentials)
            }
        }
    }

    /// Whether `password` is that of `user`, who is the caller. Attempts are throttled like logins.
    pub async fn verify_own_password(
        &self,
        caller: &Caller,
        user: &ConfigRecord,
        password: &str,
    ) -> Result<bool, ServiceError> {
        let address = caller.client_address.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
        let login = normalize_login(&caller.login);
        let attempt = self.login_throttle.try_admit(&login, address, self.clock.now()).await?;
        let is_correct = match password_matches(password, user.private_data.as_deref()).await {
            Ok(is_correct) => is_correct,
            Err(error) => {
                self.login_throttle.uncount(&attempt, self.clock.now()).await;
                return Err(error);
            }
        };
        if is_correct {
            self.login_throttle.record_success(&attempt, self.clock.now()).await?;
        } else {
            self.audit_failed_login(Some(user), "wrong current password", address, caller.entry_point).await;
        }
        Ok(is_correct)
    }

    /// Returns the user with this login and whether the password is correct. Takes the same time without a user.
    async fn verify_password(
        &self,
        normalized_login: String,
        password: &str,
    ) -> Result<(Option<ConfigRecord>, bool), ServiceError> {
        let user = self.config_store.record_by_unique_key(ConfigRecordKind::User, normalized_login).await?;
        let is_correct =
            password_matches(password, user.as_ref().and_then(|user| user.private_data.as_deref())).await?;
        Ok((user, is_correct))
    }

    /// Records in the audit trail that `caller` logged in or out; `action` is `login` or `logout`.
    pub(super) async fn audit_session_event(
        &self,
        caller: &Caller,
        action: &'static str,
    ) -> Result<(), ServiceError> {
        let entry = self.session_audit_entry(caller, action);
        self.config_store.write_changes(Vec::new(), vec![entry]).await?;
        Ok(())
    }

    fn session_audit_entry(&self, caller: &Caller, action: &'static str) -> NewAuditEntry {
        let object = match caller.user_id {
            UserId::HOST => AuditObject::None,
            UserId(id) => AuditObject::Id(id),
        };
        caller.audit_entry(self.clock.now(), action, "user", object, &*caller.login)
    }

    /// Records a failed login. An unknown login is not recorded as typed, since it may be a password; its entry goes to
    /// account 1, whose admins manage the host.
    async fn audit_failed_login(
        &self,
        user: Option<&ConfigRecord>,
        why: &'static str,
        address: IpAddr,
        entry_point: EntryPoint,
    ) {
        let now = self.clock.now();
        let skipped_before = self.failed_login_audit.lock().try_audit(now);
        let Some(skipped_count) = skipped_before else {
            tracing::debug!(%address, "failed login not recorded in the audit trail: too many");
            return;
        };
        tracing::info!(%address, via = entry_point.as_str(), why, "login failed");
        let unknown_caller = Caller {
            customer: CustomerId::OPERATOR,
            user_id: UserId::HOST,
            login: Arc::from(""),
            role: Role::ReportOnly,
            token_scopes: None,
            client_address: Some(address),
            entry_point,
        };
        let caller = user
            .and_then(|user| caller_from_user(user, entry_point).ok())
            .map(|caller| with_client_address(address, caller));
        let mut entry = self.session_audit_entry(&caller.unwrap_or(unknown_caller), "login_failed");
        let why = if user.is_some() { why } else { "unknown login" };
        entry.after = Map::from_iter([("why".to_owned(), json!(why))]);
        if skipped_count > 0 {
            entry.after.insert("left_out_before".to_owned(), Value::from(skipped_count));
        }
        if let Err(error) = self.config_store.write_changes(Vec::new(), vec![entry]).await {
            tracing::warn!(error_kind = error.kind(), "failed to record a failed login: {error}");
        }
    }
}
