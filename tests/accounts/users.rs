//! Users: made, changed, and who may do that.

use serde_json::{Value, json};
use vigie::domain::{CustomerId, Role, UserId};
use vigie::service::{ServiceError, authorize_user_change};

use crate::accounts::kit::{House, ONE, PASSWORD, fields, host, ip};

const NEW: &str = "another password";

#[tokio::test]
async fn the_first_admin_is_made_once_with_a_password_to_read() {
    let folder = tempfile::tempdir().unwrap();
    let store = std::sync::Arc::new(crate::accounts::kit::open(folder.path()));
    let clock = std::sync::Arc::new(vigie::clock::SystemClock);
    let accounts = vigie::service::AccountService::new(store.clone(), store, clock);
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
async fn a_login_is_unique_over_all_accounts_whatever_its_letters() {
    let house = House::new().await;
    let shop = house.accounts.add_customer(&host(), "Shop").await.unwrap();
    let again = house.accounts.add_user(&host(), shop, "ADMIN", Role::Admin, PASSWORD).await;
    assert!(matches!(again, Err(ServiceError::Conflict(text)) if text.contains("`ADMIN`")));
    let user = house.accounts.add_user(&host(), shop, "Anna", Role::Admin, PASSWORD).await.unwrap();
    assert!(user.0 > 100_000);
    let token = house.accounts.log_in("aNNa", PASSWORD, ip(1)).await.unwrap().token;
    let anna = house.accounts.authenticate_bearer(&token, ip(1)).await.unwrap();
    assert_eq!((anna.customer, &*anna.login), (shop, "Anna"));
    // What belongs to another account is as if it were not there.
    assert_eq!(house.accounts.users(&anna, ONE).await.unwrap_err(), ServiceError::NotFound);
    assert_eq!(house.accounts.set_password(&anna, "admin", NEW).await, Err(ServiceError::NotFound));
    let made = house.accounts.add_user(&anna, ONE, "bert", Role::ReadOnly, PASSWORD).await;
    assert_eq!(made, Err(ServiceError::NotFound));
    assert!(matches!(house.accounts.add_customer(&anna, "x").await, Err(ServiceError::Forbidden(_))));
    let made = house.accounts.add_user(&host(), CustomerId(77), "bert", Role::ReadOnly, PASSWORD).await;
    assert_eq!(made, Err(ServiceError::NotFound));
}

#[tokio::test]
async fn accounts_have_names_of_their_own() {
    let house = House::new().await;
    house.accounts.add_customer(&host(), " Shop ").await.unwrap();
    for name in ["SHOP", "Default"] {
        assert!(
            matches!(house.accounts.add_customer(&host(), name).await, Err(ServiceError::Conflict(_))),
            "{name}"
        );
    }
    for name in ["", "  ", "a\nb"] {
        assert!(
            matches!(house.accounts.add_customer(&host(), name).await, Err(ServiceError::Invalid(_))),
            "{name:?}"
        );
    }
    let all = house.accounts.customers(&host()).await.unwrap();
    assert_eq!(
        all.iter().map(|record| record.fields["name"].as_str().unwrap()).collect::<Vec<_>>(),
        ["default", "Shop"]
    );
}

#[tokio::test]
async fn every_fault_of_a_new_user_is_told_at_once() {
    let house = House::new().await;
    let made = house.accounts.add_user(&host(), ONE, "a b", Role::Admin, "short").await;
    let Err(ServiceError::Invalid(errors)) = made else { panic!("{made:?}") };
    assert_eq!(errors.iter().map(|error| error.path.as_str()).collect::<Vec<_>>(), ["login", "password"]);
}

#[tokio::test]
async fn a_new_password_ends_tokens_and_the_old_one() {
    let house = House::new().await;
    let token = house.accounts.log_in("admin", PASSWORD, ip(1)).await.unwrap().token;
    house.accounts.set_password(&host(), "admin", NEW).await.unwrap();
    assert!(house.accounts.authenticate_bearer(&token, ip(1)).await.is_err());
    assert_eq!(
        house.accounts.log_in("admin", PASSWORD, ip(1)).await.unwrap_err(),
        ServiceError::InvalidCredentials
    );
    house.accounts.log_in("admin", NEW, ip(1)).await.unwrap();
    let audit = house.audit().await;
    let change = audit.iter().find(|row| row.action == "change").unwrap();
    assert_eq!(Value::Object(change.after.clone()), json!({"password": "********"}));
    let text = format!("{audit:?}{:?}", house.record("admin").await);
    assert!(!text.contains(NEW) && !text.contains(PASSWORD) && !text.contains("argon2"), "{text}");
}

/// Fields of a user, of which `changes` differ from those of an enabled one.
fn user(role: Role, changes: &Value) -> serde_json::Map<String, Value> {
    let mut user =
        fields(json!({"login": "u", "name": "", "role": role.name(), "enabled": true, "locked": false}));
    user.extend(fields(changes.clone()));
    user
}

#[tokio::test]
async fn roles_may_change_users_as_behaviour_says() {
    let house = House::new().await;
    for (login, role) in [("co", Role::CoAdmin), ("power", Role::PowerUser), ("second", Role::Admin)] {
        house.user(login, role).await;
    }
    let (admin, power) = (house.record("admin").await, house.record("power").await);
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
        let caller = house.caller(caller).await;
        let permit = authorize_user_change(&*house.store, &caller, *before, after.as_ref()).await;
        match permit {
            Ok(_) => assert!(allowed, "line {line} was allowed"),
            Err(ServiceError::Forbidden(_)) => assert!(!allowed, "line {line} was refused"),
            Err(other) => panic!("line {line}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn the_last_admin_who_can_log_in_stays() {
    let house = House::new().await;
    let admin = house.record("admin").await;
    let ways = [
        None,
        Some(user(Role::Admin, &json!({"enabled": false}))),
        Some(user(Role::Admin, &json!({"locked": true}))),
        Some(user(Role::CoAdmin, &json!({}))),
    ];
    let permit = async |after: &Option<_>| {
        authorize_user_change(&*house.store, &host(), Some(&admin), after.as_ref()).await.map(drop)
    };
    for after in &ways {
        assert!(matches!(permit(after).await, Err(ServiceError::Conflict(text)) if text.contains("`admin`")));
    }
    let refused = house.accounts.set_enabled(&host(), "admin", false).await;
    assert!(matches!(refused, Err(ServiceError::Conflict(_))));
    house.accounts.log_in("admin", PASSWORD, ip(1)).await.unwrap();
    // Another one who cannot log in does not count, nor one of another account.
    let shop = house.accounts.add_customer(&host(), "Shop").await.unwrap();
    house.accounts.add_user(&host(), shop, "other", Role::Admin, PASSWORD).await.unwrap();
    house.user("second", Role::Admin).await;
    house.accounts.set_enabled(&host(), "second", false).await.unwrap();
    assert!(permit(&ways[0]).await.is_err());
    house.accounts.set_enabled(&host(), "second", true).await.unwrap();
    for after in &ways {
        assert_eq!(permit(after).await, Ok(()));
    }
}

#[tokio::test]
async fn of_two_admins_who_disable_each_other_at_once_one_is_refused() {
    let house = House::new().await;
    house.user("second", Role::Admin).await;
    let caller = host();
    let (one, two) = tokio::join!(
        house.accounts.set_enabled(&caller, "admin", false),
        house.accounts.set_enabled(&caller, "second", false)
    );
    assert_eq!(usize::from(one.is_ok()) + usize::from(two.is_ok()), 1, "{one:?} {two:?}");
}

#[tokio::test]
async fn a_removed_user_is_out_at_once() {
    let house = House::new().await;
    let UserId(id) = house.user("anna", Role::ReadOnly).await;
    let token = house.accounts.log_in("anna", PASSWORD, ip(1)).await.unwrap().token;
    let expected = house.record("anna").await.revision;
    let remove =
        vigie::store::ConfigChange::RemoveRecord { kind: vigie::domain::RecordKind::User, id, expected };
    vigie::store::ConfigStore::write_changes(&*house.store, vec![remove], vec![]).await.unwrap();
    assert!(house.accounts.authenticate_bearer(&token, ip(1)).await.is_err());
    assert_eq!(
        house.accounts.log_in("anna", PASSWORD, ip(1)).await.unwrap_err(),
        ServiceError::InvalidCredentials
    );
}
