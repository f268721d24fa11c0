//! Users (behaviour.md 1 "Roles" and /users). The hash of the password is the record's private part; a new
//! password, a lock or disabling ends all tokens and sessions.

use serde_json::{Map, Value};
use zeroize::Zeroizing;

use super::context::Bench;
use super::draft::{Draft, overlaid, whole};
use crate::domain::{Permission, Record, UserId};
use crate::schema::table::records::USER;
use crate::schema::typed::record::{UserSettings, read_fields};
use crate::service::accounts::{hash_password, login_fault, login_key, password_fault, permit_user_change};
use crate::service::caller::Refusal;
use crate::store::ConfigChange;
use crate::syntax::source::Node;
use crate::syntax::{MASK, ValidationError};

pub(super) async fn create(bench: &Bench<'_>, body: &Node) -> Result<Draft, Refusal> {
    let mut fields = whole(&USER, body)?;
    let password = password_of(&mut fields).unwrap_or_default();
    check(body, Some(&fields), Some(&password))?;
    let permit = permit_user_change(&*bench.parts.ledger, bench.caller, None, Some(&fields)).await?;
    let mut draft = Draft::new(fields);
    draft.unique = Some(login_key(bench.kind.name_of(&draft.fields)));
    draft.private = Some(hash_password(&password).await?);
    draft.permit = Some(permit);
    Ok(draft)
}

pub(super) async fn patch(bench: &Bench<'_>, old: &Record, body: &Node) -> Result<Draft, Refusal> {
    let administers = bench.caller.role.allows(Permission::Administer);
    if !administers && bench.caller.user != UserId(old.id) {
        bench.caller.require(Permission::Administer)?;
    }
    let mut fields = overlaid(&USER, &old.fields, body)?;
    let password = password_of(&mut fields).filter(|password| password.as_str() != MASK);
    let renamed = fields.get("login") != old.fields.get("login");
    check(body, renamed.then_some(&fields), password.as_deref().map(String::as_str))?;
    let mut draft = Draft::of(old, fields);
    if administers {
        let (ledger, after) = (&*bench.parts.ledger, Some(&draft.fields));
        draft.permit = Some(permit_user_change(ledger, bench.caller, Some(old), after).await?);
    } else if let Some(field) = beyond_own(&old.fields, &draft.fields) {
        let role = bench.caller.role;
        return Err(Refusal::Forbidden(format!(
            "The role {role} permits to change the own `name` and `password`, not `{field}`"
        )));
    }
    draft.unique = Some(login_key(bench.kind.name_of(&draft.fields)));
    let closes = is_open(&old.fields) && !is_open(&draft.fields);
    if closes || password.is_some() {
        draft.more.push(ConfigChange::RevokeTokens(UserId(old.id)));
    }
    if let Some(password) = password {
        draft.private = Some(hash_password(&password).await?);
    }
    Ok(draft)
}

pub(super) async fn remove(bench: &Bench<'_>, old: &Record) -> Result<Draft, Refusal> {
    let permit = permit_user_change(&*bench.parts.ledger, bench.caller, Some(old), None).await?;
    Ok(Draft { permit: Some(permit), ..Draft::default() })
}

fn password_of(fields: &mut Map<String, Value>) -> Option<Zeroizing<String>> {
    match fields.shift_remove("password") {
        Some(Value::String(password)) => Some(Zeroizing::new(password)),
        _ => None,
    }
}

/// What is wrong with a new login and a new password; a mask is no password.
fn check(body: &Node, fields: Option<&Map<String, Value>>, password: Option<&str>) -> Result<(), Refusal> {
    let login = fields.and_then(|fields| fields.get("login")).and_then(Value::as_str);
    let masked = password.filter(|password| *password == MASK).map(|_| {
        let message = "`password` is masked, and there is no value that it could stand for";
        super::draft::conflict(body, "password", message)
    });
    let short = if masked.is_some() { None } else { password.and_then(password_fault) };
    let faults: Vec<ValidationError> =
        login.and_then(login_fault).into_iter().chain(masked).chain(short).collect();
    if faults.is_empty() { Ok(()) } else { Err(Refusal::Faults(faults)) }
}

/// The first field that differs and is not for the user to change.
fn beyond_own(old: &Map<String, Value>, new: &Map<String, Value>) -> Option<&'static str> {
    let names = USER.fields().iter().map(|field| field.name).filter(|name| *name != "name");
    let mut differing = names.filter(|name| old.get(*name) != new.get(*name));
    differing.next()
}

fn is_open(fields: &Map<String, Value>) -> bool {
    read_fields(fields).is_ok_and(|user: UserSettings<'_>| user.is_open())
}
