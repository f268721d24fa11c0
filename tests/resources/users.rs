//! Users: roles, the last admin, passwords that are never shown.

use aws_lc_rs::digest::{SHA256, digest};
use serde_json::{Value, json};
use vigie::domain::{ConfigRecordKind, Role, Timestamp, UserId};
use vigie::service::{AccountService, Caller, ServiceError};
use vigie::store::{StoredToken, TokenKind, TokenStore};

use crate::resources::kit::{
    Kit, NOON, admin, as_role, assert_isolated, assert_refused, conflict, forbidden, long, messages,
};

const KIND: ConfigRecordKind = ConfigRecordKind::User;

fn user(login: &str, role: Role) -> Value {
    json!({"login": login, "role": role.name(), "password": "correct horse"})
}

/// Stores a token of `owner`; returns its hash.
async fn store_token(kit: &Kit, owner: i64, name: &str) -> [u8; 32] {
    let hash: [u8; 32] = digest(&SHA256, name.as_bytes()).as_ref().try_into().unwrap();
    let at = Timestamp::from_seconds;
    let (kind, user) = (TokenKind::Access, UserId(owner));
    let token = StoredToken::new(hash, kind, user, at(NOON)).expiring_at(at(NOON + 3600));
    kit.store.insert(token).await.unwrap();
    hash
}

// row: 2.7 username; 2.7 password; 5 4
#[tokio::test]
async fn a_new_user_logs_in_and_its_password_is_never_shown() {
    let kit = Kit::new().await;
    let id = kit.create_valid(KIND, user("Clara", Role::Admin)).await;
    assert_eq!(
        kit.get(KIND, id).await,
        json!({
            "id": id, "login": "Clara", "name": "", "role": "ADMIN", "enabled": true, "locked": false,
            "customer_id": 1, "created_at": "2026-01-01T12:00:00Z", "created_by": "anna",
        })
    );
    let accounts = AccountService::new(
        kit.store.clone(),
        kit.store.clone(),
        kit.store.clone(),
        kit.vault.clone(),
        kit.clock.clone(),
    );
    let from = "127.0.0.1".parse().unwrap();
    assert!(accounts.log_in("clara", "correct horse", from).await.is_ok());
    let changed = kit.patch(&admin(), KIND, id, json!({"password": "battery staple"})).await.unwrap();
    assert_eq!(changed.revision, 2);
    assert_eq!(
        accounts.log_in("clara", "correct horse", from).await.err(),
        Some(ServiceError::InvalidCredentials)
    );
    assert!(accounts.log_in("clara", "battery staple", from).await.is_ok());
    // A mask keeps the password.
    kit.patch(&admin(), KIND, id, json!({"password": "********", "name": "C"})).await.unwrap();
    assert!(accounts.log_in("clara", "battery staple", from).await.is_ok());
    let trail = kit.audit_trail().await;
    let change =
        trail.iter().find(|row| row.action == "change" && row.after.contains_key("password")).unwrap();
    assert_eq!(json!(change.after), json!({"password": "********"}));
    let text = format!("{trail:?} {:?}", kit.get(KIND, id).await);
    assert!(!text.contains("horse") && !text.contains("battery") && !text.contains("argon2"), "{text}");
}

#[tokio::test]
async fn a_new_password_a_lock_and_disabling_revoke_tokens() {
    let kit = Kit::new().await;
    let id = kit.create_valid(KIND, user("clara", Role::PowerUser)).await;
    for (name, body, ends) in [
        ("a", json!({"name": "C"}), false),
        ("b", json!({"password": "battery staple"}), true),
        ("c", json!({"locked": true}), true),
        ("d", json!({"locked": false}), false),
        ("e", json!({"enabled": false}), true),
    ] {
        let hash = store_token(&kit, id, name).await;
        kit.patch(&admin(), KIND, id, body.clone()).await.unwrap();
        assert_eq!(kit.store.token(hash).await.unwrap().is_none(), ends, "{body}");
    }
    let hash = store_token(&kit, id, "f").await;
    kit.delete(&admin(), KIND, id).await.unwrap();
    assert!(kit.store.token(hash).await.unwrap().is_none());
}

#[tokio::test]
async fn the_last_admin_cannot_be_removed() {
    let kit = Kit::new().await;
    let first = kit.create_valid(KIND, user("clara", Role::Admin)).await;
    let text = "`clara` is the last ADMIN of the account who can log in";
    for body in [json!({"role": "READONLY"}), json!({"enabled": false}), json!({"locked": true})] {
        assert_eq!(conflict(kit.patch(&admin(), KIND, first, body).await), text);
    }
    assert_eq!(conflict(kit.delete(&admin(), KIND, first).await), text);
    kit.create_valid(KIND, user("dora", Role::Admin)).await;
    kit.delete(&admin(), KIND, first).await.unwrap();
}

#[tokio::test]
async fn roles_limit_changes_of_users() {
    let kit = Kit::new().await;
    let boss = kit.create_valid(KIND, user("boss", Role::Admin)).await;
    let clara = kit.create_valid(KIND, user("clara", Role::PowerUser)).await;
    let deputy = as_role(Role::CoAdmin);
    kit.create(&deputy, KIND, user("dora", Role::CoAdmin)).await.unwrap();
    let only = "Only an ADMIN may create, change or remove an ADMIN";
    assert_eq!(forbidden(kit.create(&deputy, KIND, user("eva", Role::Admin)).await), only);
    assert_eq!(forbidden(kit.patch(&deputy, KIND, boss, json!({"name": "x"})).await), only);
    assert_eq!(forbidden(kit.patch(&deputy, KIND, clara, json!({"role": "ADMIN"})).await), only);
    assert_eq!(forbidden(kit.delete(&deputy, KIND, boss).await), only);
    let locks = kit.patch(&deputy, KIND, clara, json!({"locked": true})).await;
    assert_eq!(forbidden(locks), "Only an ADMIN may lock and unlock users");
    for role in [Role::PowerUser, Role::ReadOnly, Role::ReportOnly] {
        let text = format!("The role {role} does not permit this");
        assert_eq!(forbidden(kit.create(&as_role(role), KIND, user("f", Role::ReadOnly)).await), text);
        assert_eq!(forbidden(kit.patch(&as_role(role), KIND, clara, json!({"name": "x"})).await), text);
        assert_eq!(forbidden(kit.delete(&as_role(role), KIND, clara).await), text);
    }
    // Every user may change their own name and password, and no other field of their user.
    let own = Caller { user_id: UserId(clara), ..as_role(Role::ReportOnly) };
    let change = json!({"name": "x", "password": "battery staple", "current_password": "correct horse"});
    kit.patch(&own, KIND, clara, change).await.unwrap();
    assert_eq!(
        forbidden(kit.patch(&own, KIND, clara, json!({"role": "ADMIN"})).await),
        "The role REPORTONLY permits changing your own `name` and `password`, not `role`"
    );
}

#[tokio::test]
async fn invalid_bodies_are_refused_with_every_error() {
    let kit = Kit::new().await;
    let body = |more: Value| {
        let mut body = user("x", Role::ReadOnly);
        body.as_object_mut().unwrap().extend(crate::resources::kit::object(more));
        body
    };
    kit.create_valid(KIND, body(json!({"login": long(255), "password": long(8), "name": long(255)}))).await;
    kit.create_valid(KIND, body(json!({"login": "long", "password": long(1024)}))).await;
    assert_refused(&kit, KIND, &[
        (json!({}), &["`login` is required", "`role` is required", "`password` is required"]),
        (body(json!({"login": long(256)})), &["`login` must have at most 255 characters, not 256"]),
        (body(json!({"name": long(256)})), &["`name` must have at most 255 characters, not 256"]),
        (body(json!({"password": long(1025)})), &["`password` must have at most 1024 characters, not 1025"]),
        (
            body(json!({"login": "a b", "password": "1234567"})),
            &[
                "a login has 1 to 255 characters, without spaces, colons and control characters",
                "a password has 8 to 1024 characters, this one has 7",
            ],
        ),
        (
            body(json!({"password": "********"})),
            &["`password` is masked, but no value is stored"],
        ),
        (
            body(json!({"role": "admin"})),
            &["`role` must be one of `ADMIN`, `CO-ADMIN`, `POWER-USER`, `READONLY`, `REPORTONLY`, not `admin`\n  hint: did you mean `ADMIN`?"],
        ),
    ])
    .await;
    kit.create_valid(KIND, user("clara", Role::Admin)).await;
    // Logins are unique over all accounts, ignoring case.
    let taken = kit.create(&kit.stranger(), KIND, user("CLARA", Role::Admin)).await;
    assert_eq!(conflict(taken), "A user `CLARA` already exists");
}

#[tokio::test]
async fn each_account_sees_only_its_users() {
    let kit = Kit::new().await;
    let id = kit.create_valid(KIND, user("clara", Role::Admin)).await;
    assert_isolated(&kit, KIND, id, json!({"name": "x"})).await;
    assert_eq!(messages(kit.patch(&admin(), KIND, id, json!({})).await), Vec::<String>::new());
}
