//! Users: records of kind user, with the password hash as private data.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio::sync::{Mutex, MutexGuard};

use super::account_service::AccountService;
use super::password::{generate_password, hash_password, login_error, password_error};
use crate::catalog::record_settings::{settings_from_record, settings_or_skip};
use crate::domain::{ConfigRecord, ConfigRecordKind, CustomerId, Permission, Revision, Role, UserId};
use crate::schema::typed::record::{UserSettings, parse_record_fields};
use crate::service::caller::{Caller, EntryPoint, ServiceError};
use crate::store::{
    AuditObject, ConfigChange, ConfigRecordFilter, ConfigStore, NewConfigRecord, Pagination, StoreError,
};
use crate::syntax::MASK;

const ALL_ROWS: Pagination = Pagination::ALL;

/// Serializes changes of users, so that two admins cannot demote each other at the same time.
static USER_CHANGE_LOCK: Mutex<()> = Mutex::const_new(());

/// Returns the form of a login for lookups, which is unique over all accounts.
#[must_use]
pub fn normalize_login(login: &str) -> String {
    login.trim().to_lowercase()
}

/// Guarantees that an authorized change of a user stays valid until this is dropped.
#[must_use = "keep it until the change is written"]
#[derive(Debug)]
pub struct UserChangeLock {
    _lock: MutexGuard<'static, ()>,
}

/// Authorizes `caller` to change the user `old` (`None` for a new one) to the fields `new_fields` (`None` to remove
/// it). Users may change their own password: then the fields stay the same. Refuses with 403
/// what only an ADMIN may do (behaviour.md 1 "Roles"), and with 409 what leaves the account without an ADMIN who can
/// log in.
pub async fn authorize_user_change(
    config_store: &dyn ConfigStore,
    caller: &Caller,
    old: Option<&ConfigRecord>,
    new_fields: Option<&Map<String, Value>>,
) -> Result<UserChangeLock, ServiceError> {
    let lock = USER_CHANGE_LOCK.lock().await;
    let is_own_password =
        old.is_some_and(|user| UserId(user.id) == caller.user_id && new_fields == Some(&user.fields));
    if is_own_password {
        return Ok(UserChangeLock { _lock: lock });
    }
    caller.require_permission(Permission::Administer)?;
    let admin = Role::Admin.name();
    let (old_settings, new_settings) =
        (old.map(settings_from_record).transpose()?, new_fields.map(parse_user_settings).transpose()?);
    let is_admin = |user: &Option<UserSettings<'_>>| user.is_some_and(|user| user.role_name == admin);
    let (was_admin, is_admin_after) = (is_admin(&old_settings), is_admin(&new_settings));
    if (was_admin || is_admin_after) && !caller.role.allows(Permission::ManageAdmins) {
        return Err(ServiceError::Forbidden(format!(
            "Only an {admin} may create, change or remove an {admin}"
        )));
    }
    let locks_or_unlocks = new_settings.is_some_and(|new_settings| {
        new_settings.locked != old_settings.is_some_and(|old_settings| old_settings.locked)
    });
    if locks_or_unlocks && !caller.role.allows(Permission::ManageAdmins) {
        return Err(ServiceError::Forbidden(format!("Only an {admin} may lock and unlock users")));
    }
    if let Some((user, old_settings)) =
        old.zip(old_settings).filter(|(_, old_settings)| is_active_admin(old_settings))
        && !new_settings.is_some_and(|new_settings| is_active_admin(&new_settings))
        && !has_other_active_admin(config_store, user).await?
    {
        let login = old_settings.login;
        return Err(ServiceError::Conflict(format!(
            "`{login}` is the last {admin} of the account who can log in"
        )));
    }
    Ok(UserChangeLock { _lock: lock })
}

/// Whether the user is an ADMIN who can log in.
fn is_active_admin(user: &UserSettings<'_>) -> bool {
    user.role_name == Role::Admin.name() && user.can_log_in()
}

/// Reads the settings of a user to be stored.
fn parse_user_settings(fields: &Map<String, Value>) -> Result<UserSettings<'_>, ServiceError> {
    parse_record_fields(fields).map_err(ServiceError::from)
}

async fn has_other_active_admin(
    config_store: &dyn ConfigStore,
    user: &ConfigRecord,
) -> Result<bool, StoreError> {
    let users = config_store
        .records(ConfigRecordFilter::new(ConfigRecordKind::User).for_customer(user.customer), ALL_ROWS)
        .await?
        .items;
    Ok(users
        .iter()
        .filter(|other| other.id != user.id)
        .any(|other| settings_or_skip(other).is_some_and(|other| is_active_admin(&other))))
}

/// Whether `user` may log in.
pub(super) fn can_log_in(user: &ConfigRecord) -> bool {
    settings_or_skip(user).is_some_and(|user: UserSettings<'_>| user.can_log_in())
}

/// Returns `user` as a caller.
pub(super) fn caller_from_user(user: &ConfigRecord, entry_point: EntryPoint) -> Result<Caller, ServiceError> {
    let settings: UserSettings<'_> = settings_from_record(user)?;
    let role = settings.role().map_err(|error| {
        tracing::error!(user = user.id, error = %error, "user ignored: unknown role");
        ServiceError::UserLocked
    })?;
    let (user_id, login) = (UserId(user.id), Arc::from(settings.login));
    Ok(Caller {
        customer: user.customer,
        user_id,
        login,
        role,
        token_scopes: None,
        client_address: None,
        entry_point,
    })
}

impl AccountService {
    /// Creates the user `admin` of account 1 when there is no user yet; returns the password if one was generated.
    pub async fn ensure_first_admin(&self, password: Option<String>) -> Result<Option<String>, ServiceError> {
        let one_row = Pagination { limit: 1, offset: 0 };
        if self.config_store.records(ConfigRecordFilter::new(ConfigRecordKind::User), one_row).await?.total
            > 0
        {
            return Ok(None);
        }
        let generated_password = password.is_none().then(generate_password);
        let password = password.or_else(|| generated_password.clone()).unwrap_or_default();
        let (customer, server_caller) =
            (CustomerId::OPERATOR, Self::host_admin_caller(CustomerId::OPERATOR, EntryPoint::Server));
        self.add_user(&server_caller, customer, "admin", Role::Admin, &password).await?;
        Ok(generated_password)
    }

    /// Creates a user.
    pub async fn add_user(
        &self,
        caller: &Caller,
        customer: CustomerId,
        login: &str,
        role: Role,
        password: &str,
    ) -> Result<UserId, ServiceError> {
        self.require_account_access(caller, customer).await?;
        let errors: Vec<_> = login_error(login).into_iter().chain(password_error(password)).collect();
        if !errors.is_empty() {
            return Err(errors.into());
        }
        let Value::Object(fields) = json!({
            "login": login, "name": "", "role": role.name(), "enabled": true, "locked": false,
        }) else {
            return Err(ServiceError::NotFound);
        };
        let password_hash = Some(hash_password(password).await?);
        let _guard = authorize_user_change(&*self.config_store, caller, None, Some(&fields)).await?;
        let now = self.clock.now();
        let mut entry = caller.audit_entry(now, "create", "user", AuditObject::CreatedInThisCall(0), login);
        (entry.customer, entry.after) = (customer, fields.clone());
        let record = NewConfigRecord {
            kind: ConfigRecordKind::User,
            customer: Some(customer),
            parent_id: None,
            unique_key: Some(normalize_login(login)),
            created_at: now,
            created_by: caller.login.to_string(),
            fields,
            private_data: password_hash,
        };
        match self.config_store.write_changes(vec![ConfigChange::CreateRecord(record)], vec![entry]).await {
            Ok(ids) => ids.first().map(|id| UserId(*id)).ok_or(ServiceError::NotFound),
            Err(StoreError::AlreadyExists(_)) => {
                Err(ServiceError::Conflict(format!("The login `{login}` is already in use")))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the users of `customer`, ordered by id.
    pub async fn users(
        &self,
        caller: &Caller,
        customer: CustomerId,
    ) -> Result<Vec<ConfigRecord>, ServiceError> {
        caller.require_permission(Permission::Administer)?;
        self.require_account_access(caller, customer).await?;
        Ok(self
            .config_store
            .records(ConfigRecordFilter::new(ConfigRecordKind::User).for_customer(customer), ALL_ROWS)
            .await?
            .items)
    }

    /// Sets the password of a user and revokes its tokens.
    pub async fn set_password(
        &self,
        caller: &Caller,
        login: &str,
        password: &str,
    ) -> Result<(), ServiceError> {
        if let Some(error) = password_error(password) {
            return Err(vec![error].into());
        }
        let password_hash = hash_password(password).await?;
        let user = self.find_user(caller, login).await?;
        let fields = user.fields.clone();
        let _guard = authorize_user_change(&*self.config_store, caller, Some(&user), Some(&fields)).await?;
        let updated = ConfigRecord { private_data: Some(password_hash), ..user.clone() };
        let audited_fields = (Map::new(), Map::from_iter([("password".to_owned(), json!(MASK))]));
        self.update_user_and_revoke_tokens(caller, user.revision, updated, audited_fields).await
    }

    /// Enables or disables a user and revokes its tokens.
    pub async fn set_enabled(&self, caller: &Caller, login: &str, enabled: bool) -> Result<(), ServiceError> {
        let user = self.find_user(caller, login).await?;
        let mut updated = user.clone();
        updated.fields.insert("enabled".to_owned(), json!(enabled));
        let _guard =
            authorize_user_change(&*self.config_store, caller, Some(&user), Some(&updated.fields)).await?;
        if updated.fields == user.fields {
            return Ok(());
        }
        let audited_field = |value: bool| Map::from_iter([("enabled".to_owned(), json!(value))]);
        self.update_user_and_revoke_tokens(
            caller,
            user.revision,
            updated,
            (audited_field(!enabled), audited_field(enabled)),
        )
        .await
    }

    /// Stores `updated` as the next revision; `audited_fields` are the fields before and after the change.
    async fn update_user_and_revoke_tokens(
        &self,
        caller: &Caller,
        old_revision: Revision,
        mut updated: ConfigRecord,
        audited_fields: (Map<String, Value>, Map<String, Value>),
    ) -> Result<(), ServiceError> {
        let now = self.clock.now();
        (updated.revision, updated.modified_at) = (Revision(old_revision.0 + 1), now);
        let login = settings_from_record::<UserSettings<'_>>(&updated)?.login;
        let mut entry = caller.audit_entry(now, "change", "user", AuditObject::Id(updated.id), login);
        (entry.customer, entry.before, entry.after) = (updated.customer, audited_fields.0, audited_fields.1);
        let revoke = ConfigChange::RevokeTokens(UserId(updated.id));
        let update = ConfigChange::UpdateRecord { record: Box::new(updated), expected: old_revision };
        self.config_store.write_changes(vec![update, revoke], vec![entry]).await?;
        Ok(())
    }

    /// Returns the user with this login, of the caller's account; the host may access all accounts.
    async fn find_user(&self, caller: &Caller, login: &str) -> Result<ConfigRecord, ServiceError> {
        let user =
            self.config_store.record_by_unique_key(ConfigRecordKind::User, normalize_login(login)).await?;
        user.filter(|user| caller.user_id == UserId::HOST || user.customer == caller.customer)
            .ok_or(ServiceError::NotFound)
    }

    /// Fails for another account, unless the caller is the host, and for an account that does not exist.
    async fn require_account_access(
        &self,
        caller: &Caller,
        customer: CustomerId,
    ) -> Result<(), ServiceError> {
        let is_allowed = caller.customer == customer || caller.user_id == UserId::HOST;
        let exists =
            is_allowed && self.config_store.record(ConfigRecordKind::Customer, customer.0).await?.is_some();
        if exists { Ok(()) } else { Err(ServiceError::NotFound) }
    }
}
