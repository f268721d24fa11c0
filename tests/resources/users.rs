//! Users: roles, the last admin, passwords that are never shown.

use aws_lc_rs::digest::{SHA256, digest};
use serde_json::{Value, json};
use vigie::domain::{RecordKind, Role, Timestamp, UserId};
use vigie::service::{AccountService, Caller, ServiceError};
use vigie::store::{StoredToken, TokenKind, TokenStore};

use crate::resources::kit::{Kit, NOON, admin, apart, as_role, conflict, forbidden, long, messages, refuses};

const KIND: RecordKind = RecordKind::User;

fn user(login: &str, role: Role) -> Value {
    json!({"login": login, "role": role.name(), "password": "correct horse"})
}

/// The hash of a token that `owner` holds.
async fn token(kit: &Kit, owner: i64, name: &str) -> [u8; 32] {
    let hash: [u8; 32] = digest(&SHA256, name.as_bytes()).as_ref().try_into().unwrap();
    let at = Timestamp::from_seconds;
    let (kind, user) = (TokenKind::Access, UserId(owner));
    let token = StoredToken { hash, kind, user, issued_at: at(NOON), expires_at: at(NOON + 3600) };
    kit.store.insert(token).await.unwrap();
    hash
}

#[tokio::test]
async fn a_user_is_made_and_logs_in_and_its_password_is_never_told() {
    let kit = Kit::new().await;
    let id = kit.made(KIND, user("Clara", Role::Admin)).await;
    assert_eq!(
        kit.shown(KIND, id).await,
        json!({
            "id": id, "login": "Clara", "name": "", "role": "ADMIN", "enabled": true, "locked": false,
            "customer_id": 1, "created_at": "2026-01-01T12:00:00Z", "created_by": "anna",
        })
    );
    let accounts = AccountService::new(kit.store.clone(), kit.store.clone(), kit.clock.clone());
    let from = "127.0.0.1".parse().unwrap();
    assert!(accounts.log_in("clara", "correct horse", from).await.is_ok());
    let changed = kit.change(&admin(), KIND, id, json!({"password": "battery staple"})).await.unwrap();
    assert_eq!(changed.revision, 2);
    assert_eq!(
        accounts.log_in("clara", "correct horse", from).await.err(),
        Some(ServiceError::InvalidCredentials)
    );
    assert!(accounts.log_in("clara", "battery staple", from).await.is_ok());
    // A mask leaves it is.
    kit.change(&admin(), KIND, id, json!({"password": "********", "name": "C"})).await.unwrap();
    assert!(accounts.log_in("clara", "battery staple", from).await.is_ok());
    let trail = kit.trail().await;
    let change =
        trail.iter().find(|row| row.action == "change" && row.after.contains_key("password")).unwrap();
    assert_eq!(json!(change.after), json!({"password": "********"}));
    let text = format!("{trail:?} {:?}", kit.shown(KIND, id).await);
    assert!(!text.contains("horse") && !text.contains("battery") && !text.contains("argon2"), "{text}");
}

#[tokio::test]
async fn a_new_password_a_lock_and_disabling_end_tokens() {
    let kit = Kit::new().await;
    let id = kit.made(KIND, user("clara", Role::PowerUser)).await;
    for (name, body, ends) in [
        ("a", json!({"name": "C"}), false),
        ("b", json!({"password": "battery staple"}), true),
        ("c", json!({"locked": true}), true),
        ("d", json!({"locked": false}), false),
        ("e", json!({"enabled": false}), true),
    ] {
        let hash = token(&kit, id, name).await;
        kit.change(&admin(), KIND, id, body.clone()).await.unwrap();
        assert_eq!(kit.store.token(hash).await.unwrap().is_none(), ends, "{body}");
    }
    let hash = token(&kit, id, "f").await;
    kit.gone(&admin(), KIND, id).await.unwrap();
    assert!(kit.store.token(hash).await.unwrap().is_none());
}

#[tokio::test]
async fn an_admin_is_left() {
    let kit = Kit::new().await;
    let first = kit.made(KIND, user("clara", Role::Admin)).await;
    let text = "`clara` is the last ADMIN of the account who can log in";
    for body in [json!({"role": "READONLY"}), json!({"enabled": false}), json!({"locked": true})] {
        assert_eq!(conflict(kit.change(&admin(), KIND, first, body).await), text);
    }
    assert_eq!(conflict(kit.gone(&admin(), KIND, first).await), text);
    kit.made(KIND, user("dora", Role::Admin)).await;
    kit.gone(&admin(), KIND, first).await.unwrap();
}

#[tokio::test]
async fn roles_hold_for_users_too() {
    let kit = Kit::new().await;
    let boss = kit.made(KIND, user("boss", Role::Admin)).await;
    let clara = kit.made(KIND, user("clara", Role::PowerUser)).await;
    let deputy = as_role(Role::CoAdmin);
    kit.make(&deputy, KIND, user("dora", Role::CoAdmin)).await.unwrap();
    let only = "Only an ADMIN may create, change or remove an ADMIN";
    assert_eq!(forbidden(kit.make(&deputy, KIND, user("eva", Role::Admin)).await), only);
    assert_eq!(forbidden(kit.change(&deputy, KIND, boss, json!({"name": "x"})).await), only);
    assert_eq!(forbidden(kit.change(&deputy, KIND, clara, json!({"role": "ADMIN"})).await), only);
    assert_eq!(forbidden(kit.gone(&deputy, KIND, boss).await), only);
    let locks = kit.change(&deputy, KIND, clara, json!({"locked": true})).await;
    assert_eq!(forbidden(locks), "Only an ADMIN may lock and unlock users");
    for role in [Role::PowerUser, Role::ReadOnly, Role::ReportOnly] {
        let text = format!("The role {role} does not permit this");
        assert_eq!(forbidden(kit.make(&as_role(role), KIND, user("f", Role::ReadOnly)).await), text);
        assert_eq!(forbidden(kit.change(&as_role(role), KIND, clara, json!({"name": "x"})).await), text);
        assert_eq!(forbidden(kit.gone(&as_role(role), KIND, clara).await), text);
    }
    // Everybody may change the own name and password, and nothing else of it.
    let own = Caller { user: UserId(clara), ..as_role(Role::ReportOnly) };
    kit.change(&own, KIND, clara, json!({"name": "x", "password": "battery staple"})).await.unwrap();
    assert_eq!(
        forbidden(kit.change(&own, KIND, clara, json!({"role": "ADMIN"})).await),
        "The role REPORTONLY permits changing your own `name` and `password`, not `role`"
    );
}

#[tokio::test]
async fn bad_bodies_are_refused_with_every_offence() {
    let kit = Kit::new().await;
    let with = |more: Value| {
        let mut body = user("x", Role::ReadOnly);
        body.as_object_mut().unwrap().extend(crate::resources::kit::object(more));
        body
    };
    kit.made(KIND, with(json!({"login": long(255), "password": long(8), "name": long(255)}))).await;
    kit.made(KIND, with(json!({"login": "long", "password": long(1024)}))).await;
    refuses(&kit, KIND, &[
        (json!({}), &["`login` is required", "`role` is required", "`password` is required"]),
        (with(json!({"login": long(256)})), &["`login` must have at most 255 characters, not 256"]),
        (with(json!({"name": long(256)})), &["`name` must have at most 255 characters, not 256"]),
        (with(json!({"password": long(1025)})), &["`password` must have at most 1024 characters, not 1025"]),
        (
            with(json!({"login": "a b", "password": "1234567"})),
            &[
                "a login has 1 to 255 characters, without spaces, colons and control characters",
                "a password has 8 to 1024 characters, this one has 7",
            ],
        ),
        (
            with(json!({"password": "********"})),
            &["`password` is masked, but no value is stored"],
        ),
        (
            with(json!({"role": "admin"})),
            &["`role` must be one of `ADMIN`, `CO-ADMIN`, `POWER-USER`, `READONLY`, `REPORTONLY`, not `admin`\n  hint: did you mean `ADMIN`?"],
        ),
    ])
    .await;
    kit.made(KIND, user("clara", Role::Admin)).await;
    // Over all accounts, and whatever the case.
    let taken = kit.make(&kit.stranger(), KIND, user("CLARA", Role::Admin)).await;
    assert_eq!(conflict(taken), "A user `CLARA` already exists");
}

#[tokio::test]
async fn no_account_sees_users_of_another() {
    let kit = Kit::new().await;
    let id = kit.made(KIND, user("clara", Role::Admin)).await;
    apart(&kit, KIND, id, json!({"name": "x"})).await;
    assert_eq!(messages(kit.change(&admin(), KIND, id, json!({})).await), Vec::<String>::new());
}
