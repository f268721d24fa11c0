//! Users: creation, changes, and who may make them.

use serde_json::{Value, json};
use vigie::domain::{CustomerId, Role, UserId};
use vigie::service::{ServiceError, authorize_user_change};

use crate::accounts::harness::{Harness, ONE, PASSWORD, fields, host, ip};

const NEW: &str = "another password";

#[tokio::test]
async fn the_first_admin_is_created_once_with_a_generated_password() {
    let folder = tempfile::tempdir().unwrap();
    let store = std::sync::Arc::new(crate::accounts::harness::open(folder.path()));
    let clock = std::sync::Arc::new(vigie::clock::SystemClock);
    let accounts = vigie::service::AccountService::new(
        store.clone(),
        store.clone(),
        store,
        std::sync::Arc::new(vigie::vault::Keyring::ephemeral()),
        clock,
    );
    let short = accounts.ensure_first_admin(Some("short".to_owned())).await;
    assert!(matches!(short, Err(ServiceError::Invalid(_))));
    let password = accounts.ensure_first_admin(None).await.unwrap().unwrap();
    assert_eq!(password.len(), 23);
    assert_eq!(accounts.ensure_first_admin(None).await, Ok(None));
    let token = accounts.log_in("admin", &password, ip(1)).await.unwrap().token;
    let caller = accounts.authenticate_bearer(&token, ip(1)).await.unwrap();
    assert_eq!((caller.role, caller.customer), (Role::Admin, ONE));
}

#[tokio::test]
async fn a_login_is_unique_over_all_accounts_ignoring_case() {
    let harness = Harness::new().await;
    let shop = harness.accounts.add_customer(&host(), "Shop").await.unwrap();
    let duplicate = harness.accounts.add_user(&host(), shop, "ADMIN", Role::Admin, PASSWORD).await;
    assert!(matches!(duplicate, Err(ServiceError::Conflict(text)) if text.contains("`ADMIN`")));
    let user = harness.accounts.add_user(&host(), shop, "Anna", Role::Admin, PASSWORD).await.unwrap();
    assert!(user.0 > 100_000);
    let token = harness.accounts.log_in("aNNa", PASSWORD, ip(1)).await.unwrap().token;
    let anna = harness.accounts.authenticate_bearer(&token, ip(1)).await.unwrap();
    assert_eq!((anna.customer, &*anna.login), (shop, "Anna"));
    // Objects of another account give the same error as ones that do not exist.
    assert_eq!(harness.accounts.users(&anna, ONE).await.unwrap_err(), ServiceError::NotFound);
    assert_eq!(harness.accounts.set_password(&anna, "admin", NEW).await, Err(ServiceError::NotFound));
    let created = harness.accounts.add_user(&anna, ONE, "bert", Role::ReadOnly, PASSWORD).await;
    assert_eq!(created, Err(ServiceError::NotFound));
    assert!(matches!(harness.accounts.add_customer(&anna, "x").await, Err(ServiceError::Forbidden(_))));
    let created = harness.accounts.add_user(&host(), CustomerId(77), "bert", Role::ReadOnly, PASSWORD).await;
    assert_eq!(created, Err(ServiceError::NotFound));
}

#[tokio::test]
async fn account_names_are_unique_and_valid() {
    let harness = Harness::new().await;
    harness.accounts.add_customer(&host(), " Shop ").await.unwrap();
    for name in ["SHOP", "Default"] {
        assert!(
            matches!(harness.accounts.add_customer(&host(), name).await, Err(ServiceError::Conflict(_))),
            "{name}"
        );
    }
    for name in ["", "  ", "a\nb"] {
        assert!(
            matches!(harness.accounts.add_customer(&host(), name).await, Err(ServiceError::Invalid(_))),
            "{name:?}"
        );
    }
    let all = harness.accounts.customers(&host()).await.unwrap();
    assert_eq!(
        all.iter().map(|record| record.fields["name"].as_str().unwrap()).collect::<Vec<_>>(),
        ["default", "Shop"]
    );
}

#[tokio::test]
async fn all_errors_of_a_new_user_are_reported_together() {
    let harness = Harness::new().await;
    let created = harness.accounts.add_user(&host(), ONE, "a b", Role::Admin, "short").await;
    let Err(ServiceError::Invalid(errors)) = created else { panic!("{created:?}") };
    assert_eq!(errors.iter().map(|error| error.path.as_str()).collect::<Vec<_>>(), ["login", "password"]);
}

#[tokio::test]
async fn a_new_password_invalidates_tokens_and_the_old_password() {
    let harness = Harness::new().await;
    let token = harness.accounts.log_in("admin", PASSWORD, ip(1)).await.unwrap().token;
    harness.accounts.set_password(&host(), "admin", NEW).await.unwrap();
    assert!(harness.accounts.authenticate_bearer(&token, ip(1)).await.is_err());
    assert_eq!(
        harness.accounts.log_in("admin", PASSWORD, ip(1)).await.unwrap_err(),
        ServiceError::InvalidCredentials
    );
    harness.accounts.log_in("admin", NEW, ip(1)).await.unwrap();
    let audit = harness.audit().await;
    let change = audit.iter().find(|row| row.action == "change").unwrap();
    assert_eq!(Value::Object(change.after.clone()), json!({"password": "********"}));
    let text = format!("{audit:?}{:?}", harness.record("admin").await);
    assert!(!text.contains(NEW) && !text.contains(PASSWORD) && !text.contains("argon2"), "{text}");
}

/// Returns the fields of an enabled user, overridden by `changes`.
fn user(role: Role, changes: &Value) -> serde_json::Map<String, Value> {
    let mut user =
        fields(json!({"login": "u", "name": "", "role": role.name(), "enabled": true, "locked": false}));
    user.extend(fields(changes.clone()));
    user
}

#[tokio::test]
async fn roles_may_change_users_as_specified() {
    let harness = Harness::new().await;
    for (login, role) in [("co", Role::CoAdmin), ("power", Role::PowerUser), ("second", Role::Admin)] {
        harness.user(login, role).await;
    }
    let (admin, power) = (harness.record("admin").await, harness.record("power").await);
    let (none, off, locked) = (json!({}), json!({"enabled": false}), json!({"locked": true}));
    // (caller, before, after, allowed)
    let table = [
        ("admin", None, Some(user(Role::Admin, &none)), true),
        ("admin", Some(&power), Some(user(Role::PowerUser, &locked)), true),
        ("admin", Some(&power), None, true),
        ("second", Some(&admin), Some(user(Role::ReadOnly, &none)), true),
        ("co", None, Some(user(Role::PowerUser, &none)), true),
        ("co", None, Some(user(Role::Admin, &none)), false),
        ("co", Some(&power), Some(user(Role::PowerUser, &off)), true),
        ("co", Some(&power), Some(user(Role::PowerUser, &locked)), false),
        ("co", Some(&power), Some(user(Role::Admin, &none)), false),
        ("co", Some(&admin), Some(user(Role::Admin, &off)), false),
        ("co", Some(&admin), Some(admin.fields.clone()), false),
        ("co", Some(&admin), None, false),
        ("co", Some(&power), None, true),
        ("power", None, Some(user(Role::ReportOnly, &none)), false),
        ("power", Some(&power), Some(power.fields.clone()), true),
        ("power", Some(&power), Some(user(Role::CoAdmin, &none)), false),
        ("power", Some(&power), None, false),
    ];
    for (line, (caller, before, after, allowed)) in table.iter().enumerate() {
        let caller = harness.caller(caller).await;
        let permit = authorize_user_change(&*harness.store, &caller, *before, after.as_ref()).await;
        match permit {
            Ok(_) => assert!(allowed, "line {line} was allowed"),
            Err(ServiceError::Forbidden(_)) => assert!(!allowed, "line {line} was refused"),
            Err(other) => panic!("line {line}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn the_last_admin_who_can_log_in_cannot_be_removed() {
    let harness = Harness::new().await;
    let admin = harness.record("admin").await;
    let lockouts = [
        None,
        Some(user(Role::Admin, &json!({"enabled": false}))),
        Some(user(Role::Admin, &json!({"locked": true}))),
        Some(user(Role::CoAdmin, &json!({}))),
    ];
    let permit = async |after: &Option<_>| {
        authorize_user_change(&*harness.store, &host(), Some(&admin), after.as_ref()).await.map(drop)
    };
    for after in &lockouts {
        assert!(matches!(permit(after).await, Err(ServiceError::Conflict(text)) if text.contains("`admin`")));
    }
    let refused = harness.accounts.set_enabled(&host(), "admin", false).await;
    assert!(matches!(refused, Err(ServiceError::Conflict(_))));
    harness.accounts.log_in("admin", PASSWORD, ip(1)).await.unwrap();
    // An admin who cannot log in does not count, nor does one of another account.
    let shop = harness.accounts.add_customer(&host(), "Shop").await.unwrap();
    harness.accounts.add_user(&host(), shop, "other", Role::Admin, PASSWORD).await.unwrap();
    harness.user("second", Role::Admin).await;
    harness.accounts.set_enabled(&host(), "second", false).await.unwrap();
    assert!(permit(&lockouts[0]).await.is_err());
    harness.accounts.set_enabled(&host(), "second", true).await.unwrap();
    for after in &lockouts {
        assert_eq!(permit(after).await, Ok(()));
    }
}

#[tokio::test]
async fn two_admins_cannot_disable_each_other_concurrently() {
    let harness = Harness::new().await;
    harness.user("second", Role::Admin).await;
    let caller = host();
    let (one, two) = tokio::join!(
        harness.accounts.set_enabled(&caller, "admin", false),
        harness.accounts.set_enabled(&caller, "second", false)
    );
    assert_eq!(usize::from(one.is_ok()) + usize::from(two.is_ok()), 1, "{one:?} {two:?}");
}

#[tokio::test]
async fn a_removed_user_loses_access_immediately() {
    let harness = Harness::new().await;
    let UserId(id) = harness.user("anna", Role::ReadOnly).await;
    let token = harness.accounts.log_in("anna", PASSWORD, ip(1)).await.unwrap().token;
    let expected = harness.record("anna").await.revision;
    let remove = vigie::store::ConfigChange::RemoveRecord {
        kind: vigie::domain::ConfigRecordKind::User,
        id,
        expected,
    };
    vigie::store::ConfigStore::write_changes(&*harness.store, vec![remove], vec![]).await.unwrap();
    assert!(harness.accounts.authenticate_bearer(&token, ip(1)).await.is_err());
    assert_eq!(
        harness.accounts.log_in("anna", PASSWORD, ip(1)).await.unwrap_err(),
        ServiceError::InvalidCredentials
    );
}
