//! Sessions of the pages and sign-in links.

use std::time::Duration;

use vigie::domain::{Role, UserId};
use vigie::service::{EntryPoint, ServiceError};
use vigie::store::TokenStore;

use crate::accounts::harness::{Harness, ONE, PASSWORD, host, ip};

const IDLE: Duration = Duration::from_hours(12);
const TICK: Duration = Duration::from_micros(1);

#[tokio::test]
async fn a_session_ends_twelve_hours_after_its_last_use() {
    let harness = Harness::new().await;
    let session = harness.accounts.sign_in("admin", PASSWORD, ip(1)).await.unwrap();
    let is_valid = async || harness.accounts.authenticate_page_session(&session, ip(2)).await.is_ok();
    for _ in 0..3 {
        harness.clock.advance(IDLE.checked_sub(TICK).unwrap());
        assert!(is_valid().await);
    }
    harness.clock.advance(IDLE);
    assert!(!is_valid().await);
    assert_eq!(harness.accounts.remove_expired_tokens().await, Ok(1));
}

#[tokio::test]
async fn a_session_ends_after_seven_days_however_often_it_is_used() {
    let harness = Harness::new().await;
    let session = harness.accounts.sign_in("admin", PASSWORD, ip(1)).await.unwrap();
    for _ in 1..7 * 24 {
        harness.clock.advance(Duration::from_hours(1));
        assert!(harness.accounts.authenticate_page_session(&session, ip(1)).await.is_ok());
        harness.accounts.remove_expired_tokens().await.unwrap();
    }
    harness.clock.advance(Duration::from_hours(1).checked_sub(TICK).unwrap());
    assert!(harness.accounts.authenticate_page_session(&session, ip(1)).await.is_ok());
    harness.clock.advance(TICK);
    assert!(harness.accounts.authenticate_page_session(&session, ip(1)).await.is_err());
}

#[tokio::test]
async fn a_session_is_no_token_and_ends_with_its_user() {
    let harness = Harness::new().await;
    harness.user("anna", Role::ReadOnly).await;
    let accounts = &harness.accounts;
    let session = accounts.sign_in("anna", PASSWORD, ip(1)).await.unwrap();
    let caller = accounts.authenticate_page_session(&session, ip(1)).await.unwrap();
    assert_eq!(
        (&*caller.login, caller.role, caller.entry_point),
        ("anna", Role::ReadOnly, EntryPoint::Pages)
    );
    assert!(accounts.authenticate_bearer(&session, ip(1)).await.is_err());
    assert!(accounts.authenticate_session("anna", &session, ip(1)).await.is_err());
    let token = accounts.log_in("anna", PASSWORD, ip(1)).await.unwrap().token;
    assert!(accounts.authenticate_page_session(&token, ip(1)).await.is_err());
    accounts.set_password(&host(), "anna", "another password").await.unwrap();
    assert!(accounts.authenticate_page_session(&session, ip(1)).await.is_err());
    let session = accounts.sign_in("anna", "another password", ip(1)).await.unwrap();
    accounts.set_enabled(&host(), "anna", false).await.unwrap();
    assert!(accounts.authenticate_page_session(&session, ip(1)).await.is_err());
}

#[tokio::test]
async fn a_sign_in_link_works_once_within_ten_minutes_for_the_host_alone() {
    let harness = Harness::new().await;
    let accounts = &harness.accounts;
    let admin = harness.caller("admin").await;
    assert!(matches!(accounts.create_sign_in_link(&admin), Err(ServiceError::Forbidden(_))));
    let link = accounts.create_sign_in_link(&host()).unwrap();
    let session = accounts.use_sign_in_link(&link.token, ip(1)).await.unwrap();
    assert!(accounts.use_sign_in_link(&link.token, ip(1)).await.is_err(), "used twice");
    let caller = accounts.authenticate_page_session(&session, ip(1)).await.unwrap();
    assert_eq!((caller.user_id, caller.customer, &*caller.login), (UserId(0), ONE, "host"));
    let late = accounts.create_sign_in_link(&host()).unwrap();
    harness.clock.advance(Duration::from_mins(10));
    assert!(accounts.use_sign_in_link(&late.token, ip(1)).await.is_err(), "too late");
    accounts.sign_out(&session, ip(1)).await.unwrap();
    assert!(accounts.authenticate_page_session(&session, ip(1)).await.is_err());
    let actions = harness.actions().await;
    assert_eq!(actions[actions.len() - 2..], ["host login", "host logout"]);
    assert_eq!(harness.store.token(crate::support::app::sha256(&session)).await, Ok(None));
}
