//! Logins: a password is checked, slowed down when it is guessed at, and noted in the audit trail.

use std::net::IpAddr;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::accounts_service::{Accounts, at};
use super::password::is_right;
use super::sessions::Issued;
use super::tokens::{ACCESS_SECONDS, SESSION_SECONDS};
use super::users::{as_caller, is_open, login_key};
use crate::domain::{CustomerId, Record, RecordKind, Role, UserId};
use crate::service::caller::{Caller, Refusal, Via};
use crate::store::{AuditObject, NewAuditEntry, TokenKind};

impl Accounts {
    /// Version 3 login. Throttled per login and per address, without locking the owner out.
    pub async fn log_in(&self, username: &str, password: &str, address: IpAddr) -> Result<Issued, Refusal> {
        let user = self.judge(username, password, address, Via::V3).await?;
        let token = self.issue(TokenKind::Access, &user, ACCESS_SECONDS).await?;
        self.note(&at(address, as_caller(&user, Via::V3)?), "login").await?;
        Ok(Issued { token, expires_in: ACCESS_SECONDS })
    }

    /// Legacy login: answers a session, which ends 15 minutes after its last use.
    pub async fn open_session(
        &self,
        login: &str,
        password: &str,
        address: IpAddr,
    ) -> Result<String, Refusal> {
        let user = self.judge(login, password, address, Via::Legacy).await?;
        let session = self.issue(TokenKind::Session, &user, SESSION_SECONDS).await?;
        self.note(&at(address, as_caller(&user, Via::Legacy)?), "login").await?;
        Ok(session)
    }

    /// Who has this login and password.
    async fn judge(&self, login: &str, password: &str, address: IpAddr, via: Via) -> Result<Record, Refusal> {
        let key = login_key(login);
        let began = self.throttle.begin(&key, address, self.clock.now()).map_err(Refusal::Throttled)?;
        let judged = self.compare(key, password).await;
        let (user, right) = judged.inspect_err(|_| self.throttle.void(&began))?;
        match user {
            Some(user) if right => {
                self.throttle.good(&began, self.clock.now());
                if is_open(&user) {
                    return Ok(user);
                }
                self.note_failed(Some(&user), "locked or disabled", address, via).await;
                Err(Refusal::Locked)
            }
            user => {
                self.note_failed(user.as_ref(), "wrong password", address, via).await;
                Err(Refusal::WrongLogin)
            }
        }
    }

    /// The user with this login, if any, and whether the password is right. Takes as long without a user.
    async fn compare(&self, key: String, password: &str) -> Result<(Option<Record>, bool), Refusal> {
        let user = self.ledger.record_by_unique(RecordKind::User, key).await?;
        let right = is_right(password, user.as_ref().and_then(|user| user.private_data.as_deref())).await?;
        Ok((user, right))
    }

    /// Notes that `caller` logged in or out.
    pub(super) async fn note(&self, caller: &Caller, action: &'static str) -> Result<(), Refusal> {
        let entry = self.entry(caller, action);
        self.ledger.write_changes(Vec::new(), vec![entry]).await?;
        Ok(())
    }

    fn entry(&self, caller: &Caller, action: &'static str) -> NewAuditEntry {
        let object = match caller.user {
            UserId(0) => AuditObject::None,
            UserId(id) => AuditObject::Id(id),
        };
        caller.entry(self.clock.now(), action, "user", object, &*caller.login)
    }

    /// Notes a failed login. What was typed as an unknown login is left out: it may well be a password. Such
    /// entries go to account 1, whose admins look after the host.
    async fn note_failed(&self, user: Option<&Record>, why: &'static str, address: IpAddr, via: Via) {
        let now = self.clock.now();
        let taken = self.failed.lock().take(now);
        let Some(left_out) = taken else {
            tracing::debug!(%address, "a failed login was left out of the audit trail");
            return;
        };
        tracing::info!(%address, via = via.name(), why, "a login failed");
        let stranger = Caller {
            customer: CustomerId(1),
            user: UserId(0),
            login: Arc::from(""),
            role: Role::ReportOnly,
            address: Some(address),
            via,
        };
        let caller = user.and_then(|user| as_caller(user, via).ok()).map(|caller| at(address, caller));
        let mut entry = self.entry(&caller.unwrap_or(stranger), "login_failed");
        let why = if user.is_some() { why } else { "unknown login" };
        entry.after = Map::from_iter([("why".to_owned(), json!(why))]);
        if left_out > 0 {
            entry.after.insert("left_out_before".to_owned(), Value::from(left_out));
        }
        if let Err(error) = self.ledger.write_changes(Vec::new(), vec![entry]).await {
            tracing::warn!(error_kind = error.kind(), "a failed login could not be noted: {error}");
        }
    }
}
