//! Users: records of kind user, whose private part is the hash of the password.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio::sync::{Mutex, MutexGuard};

use super::accounts_service::Accounts;
use super::password::{hash_password, login_fault, password_fault, readable_password};
use crate::catalog::stored::{listed, settings};
use crate::domain::{CustomerId, Permission, Record, RecordKind, Revision, Role, UserId};
use crate::schema::typed::record::{UserSettings, read_fields};
use crate::service::caller::{Caller, Refusal, Via};
use crate::store::{AuditObject, ConfigChange, ConfigStore, NewRecord, Pagination, RecordFilter, StoreError};
use crate::syntax::MASK;

const ALL: Pagination = Pagination { limit: u32::MAX, offset: 0 };

/// One change of users at a time: of two admins who demote each other at once, one is refused.
static CHANGES: Mutex<()> = Mutex::const_new(());

/// The form of a login that it is found by; unique over all accounts.
#[must_use]
pub fn login_key(login: &str) -> String {
    login.trim().to_lowercase()
}

/// A change of a user is in order as long as this is held: keep it until the change is written.
#[must_use = "keep it until the change is written"]
#[derive(Debug)]
pub struct UserPermit {
    _held: MutexGuard<'static, ()>,
}

/// Whether `caller` may turn the user `before` (`None` for a new one) into one with the fields `after` (`None`
/// to remove it). Everybody may change the own user as long as its fields stay: that is a new password. Refuses
/// with 403 what needs an ADMIN (behaviour.md 1 "Roles"), and with 409 what would leave
/// the account without an ADMIN who can log in.
pub async fn permit_user_change(
    ledger: &dyn ConfigStore,
    caller: &Caller,
    before: Option<&Record>,
    after: Option<&Map<String, Value>>,
) -> Result<UserPermit, Refusal> {
    let held = CHANGES.lock().await;
    let own = before.is_some_and(|user| UserId(user.id) == caller.user && after == Some(&user.fields));
    if own {
        return Ok(UserPermit { _held: held });
    }
    caller.require(Permission::Administer)?;
    let admin = Role::Admin.name();
    let (was, becomes) = (before.map(settings).transpose()?, after.map(read).transpose()?);
    let of_admin = |user: &Option<UserSettings<'_>>| user.is_some_and(|user| user.role == admin);
    let (was_admin, becomes_admin) = (of_admin(&was), of_admin(&becomes));
    if (was_admin || becomes_admin) && !caller.role.allows(Permission::ManageAdmins) {
        return Err(Refusal::Forbidden(format!("Only an {admin} may make, change or remove an {admin}")));
    }
    let locks = becomes.is_some_and(|becomes| becomes.locked != was.is_some_and(|was| was.locked));
    if locks && !caller.role.allows(Permission::ManageAdmins) {
        return Err(Refusal::Forbidden(format!("Only an {admin} may lock and unlock users")));
    }
    if let Some((user, was)) = before.zip(was).filter(|(_, was)| is_admin(was))
        && !becomes.is_some_and(|becomes| is_admin(&becomes))
        && !other_admin(ledger, user).await?
    {
        let login = was.login;
        return Err(Refusal::Conflict(format!(
            "`{login}` is the last {admin} of the account who can log in"
        )));
    }
    Ok(UserPermit { _held: held })
}

/// Whether these are the fields of an ADMIN who can log in.
fn is_admin(user: &UserSettings<'_>) -> bool {
    user.role == Role::Admin.name() && user.is_open()
}

/// The settings of a user that is to be kept.
fn read(fields: &Map<String, Value>) -> Result<UserSettings<'_>, Refusal> {
    read_fields(fields).map_err(Refusal::from)
}

async fn other_admin(ledger: &dyn ConfigStore, user: &Record) -> Result<bool, StoreError> {
    let users =
        ledger.records(RecordFilter::new(RecordKind::User).for_customer(user.customer), ALL).await?.items;
    Ok(users
        .iter()
        .filter(|other| other.id != user.id)
        .any(|other| listed(other).is_some_and(|other| is_admin(&other))))
}

/// Whether `user` may log in.
pub(super) fn is_open(user: &Record) -> bool {
    listed(user).is_some_and(|user: UserSettings<'_>| user.is_open())
}

/// `user` as who asks.
pub(super) fn as_caller(user: &Record, via: Via) -> Result<Caller, Refusal> {
    let known: UserSettings<'_> = settings(user)?;
    let role = known.role().map_err(|error| {
        tracing::error!(user = user.id, error = %error, "a user has a role that this version does not know");
        Refusal::Locked
    })?;
    let (user_id, login) = (UserId(user.id), Arc::from(known.login));
    Ok(Caller { customer: user.customer, user: user_id, login, role, address: None, via })
}

impl Accounts {
    /// Makes the user `admin` of account 1 when there is no user yet; answers the password when one was made.
    pub async fn first_admin(&self, password: Option<String>) -> Result<Option<String>, Refusal> {
        let one = Pagination { limit: 1, offset: 0 };
        if self.ledger.records(RecordFilter::new(RecordKind::User), one).await?.total > 0 {
            return Ok(None);
        }
        let made = password.is_none().then(readable_password);
        let password = password.or_else(|| made.clone()).unwrap_or_default();
        let (customer, server) = (CustomerId(1), Self::host(CustomerId(1), Via::Server));
        self.add_user(&server, customer, "admin", Role::Admin, &password).await?;
        Ok(made)
    }

    /// Makes a user.
    pub async fn add_user(
        &self,
        caller: &Caller,
        customer: CustomerId,
        login: &str,
        role: Role,
        password: &str,
    ) -> Result<UserId, Refusal> {
        self.require_account(caller, customer).await?;
        let faults: Vec<_> = login_fault(login).into_iter().chain(password_fault(password)).collect();
        if !faults.is_empty() {
            return Err(faults.into());
        }
        let Value::Object(fields) = json!({
            "login": login, "name": "", "role": role.name(), "enabled": true, "locked": false,
        }) else {
            return Err(Refusal::NotFound);
        };
        let private = Some(hash_password(password).await?);
        let _permit = permit_user_change(&*self.ledger, caller, None, Some(&fields)).await?;
        let now = self.clock.now();
        let mut entry = caller.entry(now, "create", "user", AuditObject::Created(0), login);
        (entry.customer, entry.after) = (customer, fields.clone());
        let record = NewRecord {
            kind: RecordKind::User,
            customer: Some(customer),
            parent_id: None,
            unique_key: Some(login_key(login)),
            created_at: now,
            created_by: caller.login.to_string(),
            fields,
            sealed: private,
        };
        match self.ledger.write_changes(vec![ConfigChange::CreateRecord(record)], vec![entry]).await {
            Ok(ids) => ids.first().map(|id| UserId(*id)).ok_or(Refusal::NotFound),
            Err(StoreError::AlreadyExists(_)) => {
                Err(Refusal::Conflict(format!("The login `{login}` is taken")))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Users of `customer`, by number.
    pub async fn users(&self, caller: &Caller, customer: CustomerId) -> Result<Vec<Record>, Refusal> {
        caller.require(Permission::Administer)?;
        self.require_account(caller, customer).await?;
        Ok(self.ledger.records(RecordFilter::new(RecordKind::User).for_customer(customer), ALL).await?.items)
    }

    /// Gives a user another password, and ends its tokens.
    pub async fn set_password(&self, caller: &Caller, login: &str, password: &str) -> Result<(), Refusal> {
        if let Some(fault) = password_fault(password) {
            return Err(vec![fault].into());
        }
        let private = hash_password(password).await?;
        let user = self.user(caller, login).await?;
        let fields = user.fields.clone();
        let _permit = permit_user_change(&*self.ledger, caller, Some(&user), Some(&fields)).await?;
        let after = Record { private_data: Some(private), ..user.clone() };
        let shown = (Map::new(), Map::from_iter([("password".to_owned(), json!(MASK))]));
        self.put_user(caller, user.revision, after, shown).await
    }

    /// Lets a user log in or not; ends its tokens either way.
    pub async fn set_enabled(&self, caller: &Caller, login: &str, enabled: bool) -> Result<(), Refusal> {
        let user = self.user(caller, login).await?;
        let mut after = user.clone();
        after.fields.insert("enabled".to_owned(), json!(enabled));
        let _permit = permit_user_change(&*self.ledger, caller, Some(&user), Some(&after.fields)).await?;
        if after.fields == user.fields {
            return Ok(());
        }
        let shown = |value: bool| Map::from_iter([("enabled".to_owned(), json!(value))]);
        self.put_user(caller, user.revision, after, (shown(!enabled), shown(enabled))).await
    }

    async fn put_user(
        &self,
        caller: &Caller,
        expected: Revision,
        mut after: Record,
        shown: (Map<String, Value>, Map<String, Value>),
    ) -> Result<(), Refusal> {
        let now = self.clock.now();
        (after.revision, after.modified_at) = (Revision(expected.0 + 1), now);
        let login = settings::<UserSettings<'_>>(&after)?.login;
        let mut entry = caller.entry(now, "change", "user", AuditObject::Id(after.id), login);
        (entry.customer, entry.before, entry.after) = (after.customer, shown.0, shown.1);
        let ends = ConfigChange::RevokeTokens(UserId(after.id));
        let put = ConfigChange::UpdateRecord { record: Box::new(after), expected };
        self.ledger.write_changes(vec![put, ends], vec![entry]).await?;
        Ok(())
    }

    /// The user with this login, of the caller's account; the host sees all accounts.
    async fn user(&self, caller: &Caller, login: &str) -> Result<Record, Refusal> {
        let user = self.ledger.record_by_unique(RecordKind::User, login_key(login)).await?;
        user.filter(|user| caller.user == UserId(0) || user.customer == caller.customer)
            .ok_or(Refusal::NotFound)
    }

    /// Refuses what is about another account, unless the host asks, and an account that does not exist.
    async fn require_account(&self, caller: &Caller, customer: CustomerId) -> Result<(), Refusal> {
        let mine = caller.customer == customer || caller.user == UserId(0);
        let there = mine && self.ledger.record(RecordKind::Customer, customer.0).await?.is_some();
        if there { Ok(()) } else { Err(Refusal::NotFound) }
    }
}
