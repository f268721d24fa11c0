//! Users (behaviour.md 1 "Roles" and /users). The password hash is the private data of the record. A new
//! password, locking and disabling revoke all tokens and sessions.

use serde_json::{Map, Value};
use zeroize::Zeroizing;

use super::record_context::RecordContext;
use super::record_draft::{
    RecordDraft, field_conflict_error, fields_with_defaults, invalid_request_error, merged_fields,
};
use crate::domain::{ConfigRecord, Permission, UserId};
use crate::schema::table::records::USER;
use crate::schema::typed::record::{UserSettings, parse_record_fields};
use crate::service::accounts::{
    authorize_user_change, hash_password, login_error, normalize_login, password_error,
};
use crate::service::caller::ServiceError;
use crate::store::ConfigChange;
use crate::syntax::node::Node;
use crate::syntax::{MASK, ValidationError};

pub(super) async fn creation_draft(cx: &RecordContext<'_>, body: &Node) -> Result<RecordDraft, ServiceError> {
    let mut fields = fields_with_defaults(&USER, body)?;
    let password = take_password(&mut fields, "password").unwrap_or_default();
    if take_password(&mut fields, "current_password").is_some() {
        return Err(only_for_own_password_error(body));
    }
    validate(body, Some(&fields), Some(&password))?;
    let guard = authorize_user_change(&*cx.dependencies.config_store, cx.caller, None, Some(&fields)).await?;
    let mut draft = RecordDraft::new(fields);
    draft.unique_key = Some(normalize_login(cx.definition.record_name(&draft.fields)));
    draft.private_data = Some(hash_password(&password).await?);
    draft.user_change_lock = Some(guard);
    Ok(draft)
}

pub(super) async fn change_draft(
    cx: &RecordContext<'_>,
    old: &ConfigRecord,
    body: &Node,
) -> Result<RecordDraft, ServiceError> {
    let can_administer = cx.caller.role.allows(Permission::Administer);
    if !can_administer && cx.caller.user_id != UserId(old.id) {
        cx.caller.require_permission(Permission::Administer)?;
    }
    let mut fields = merged_fields(&USER, &old.fields, body)?;
    let password = take_password(&mut fields, "password").filter(|password| password.as_str() != MASK);
    let current_password =
        take_password(&mut fields, "current_password").filter(|password| password.as_str() != MASK);
    let changes_login = fields.get("login") != old.fields.get("login");
    validate(body, changes_login.then_some(&fields), password.as_deref().map(String::as_str))?;
    require_current_password(cx, old, body, password.is_some(), current_password.as_deref()).await?;
    let mut draft = RecordDraft::from_record(old, fields);
    if can_administer {
        let (config_store, new_fields) = (&*cx.dependencies.config_store, Some(&draft.fields));
        draft.user_change_lock =
            Some(authorize_user_change(config_store, cx.caller, Some(old), new_fields).await?);
    } else if let Some(field) = first_restricted_change(&old.fields, &draft.fields) {
        let role = cx.caller.role;
        return Err(ServiceError::Forbidden(format!(
            "The role {role} permits changing your own `name` and `password`, not `{field}`"
        )));
    }
    draft.unique_key = Some(normalize_login(cx.definition.record_name(&draft.fields)));
    let deactivates = can_log_in(&old.fields) && !can_log_in(&draft.fields);
    if deactivates || password.is_some() {
        draft.additional_changes.push(ConfigChange::RevokeTokens(UserId(old.id)));
    }
    if let Some(password) = password {
        draft.private_data = Some(hash_password(&password).await?);
        draft.changed_secrets.push("password");
    }
    Ok(draft)
}

pub(super) async fn removal_draft(
    cx: &RecordContext<'_>,
    old: &ConfigRecord,
) -> Result<RecordDraft, ServiceError> {
    let guard = authorize_user_change(&*cx.dependencies.config_store, cx.caller, Some(old), None).await?;
    let additional_changes = super::view::removals_of_user(cx, UserId(old.id)).await?;
    Ok(RecordDraft { user_change_lock: Some(guard), additional_changes, ..RecordDraft::default() })
}

/// Users who change their own password prove that they know the current one: a token or session that somebody else has
/// does not lock them out. The token of a program, which holds no password, needs the scope `admin` to change its user
/// at all.
async fn require_current_password(
    cx: &RecordContext<'_>,
    old: &ConfigRecord,
    body: &Node,
    changes_password: bool,
    current_password: Option<&String>,
) -> Result<(), ServiceError> {
    let caller = cx.caller;
    if caller.token_scopes.is_some() {
        caller.require_permission(Permission::Administer)?;
    }
    let changes_own_password = changes_password && caller.user_id == UserId(old.id);
    match current_password {
        Some(_) if !changes_own_password => Err(only_for_own_password_error(body)),
        Some(current_password) => {
            if cx.dependencies.account_service.verify_own_password(caller, old, current_password).await? {
                return Ok(());
            }
            let message = "`current_password` is wrong";
            Err(invalid_request_error(field_conflict_error(body, "current_password", message)))
        }
        None if changes_own_password => {
            let message = "`current_password` is required to change your own password";
            Err(invalid_request_error(field_conflict_error(body, "password", message)))
        }
        None => Ok(()),
    }
}

fn only_for_own_password_error(body: &Node) -> ServiceError {
    let message = "`current_password` is only for a new password of your own";
    invalid_request_error(field_conflict_error(body, "current_password", message))
}

fn take_password(fields: &mut Map<String, Value>, name: &str) -> Option<Zeroizing<String>> {
    match fields.shift_remove(name) {
        Some(Value::String(password)) => Some(Zeroizing::new(password)),
        _ => None,
    }
}

/// Validates a new login and a new password. The mask is rejected as a password.
fn validate(
    body: &Node,
    fields: Option<&Map<String, Value>>,
    password: Option<&str>,
) -> Result<(), ServiceError> {
    let login = fields.and_then(|fields| fields.get("login")).and_then(Value::as_str);
    let mask_error = password.filter(|password| *password == MASK).map(|_| {
        let message = "`password` is masked, but no value is stored";
        field_conflict_error(body, "password", message)
    });
    let rule_error = if mask_error.is_some() { None } else { password.and_then(password_error) };
    let errors: Vec<ValidationError> =
        login.and_then(login_error).into_iter().chain(mask_error).chain(rule_error).collect();
    if errors.is_empty() { Ok(()) } else { Err(ServiceError::Invalid(errors)) }
}

/// Returns the first changed field that users may not change themselves.
fn first_restricted_change(old: &Map<String, Value>, new: &Map<String, Value>) -> Option<&'static str> {
    let names = USER.fields().iter().map(|field| field.name).filter(|name| *name != "name");
    let mut differing = names.filter(|name| old.get(*name) != new.get(*name));
    differing.next()
}

fn can_log_in(fields: &Map<String, Value>) -> bool {
    parse_record_fields(fields).is_ok_and(|user: UserSettings<'_>| user.can_log_in())
}
