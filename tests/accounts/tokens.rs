//! Access tokens, sessions and the token of the host.

use std::time::Duration;

use vigie::domain::{CustomerId, Role, Timestamp};
use vigie::service::{EntryPoint, ServiceError};
use vigie::store::TokenStore;

use crate::accounts::harness::{Harness, ONE, PASSWORD, START, host, ip};

fn is_unauthenticated<T: std::fmt::Debug>(result: Result<T, ServiceError>) -> bool {
    matches!(result, Err(ServiceError::Unauthenticated(_)))
}

#[tokio::test]
async fn an_access_token_is_valid_for_exactly_one_hour() {
    let harness = Harness::new().await;
    let issued = harness.accounts.log_in("Admin", PASSWORD, ip(1)).await.unwrap();
    assert_eq!((issued.expires_in, issued.token.len()), (3600, 43));
    let caller = harness.accounts.authenticate_bearer(&issued.token, ip(2)).await.unwrap();
    assert_eq!((&*caller.login, caller.role, caller.customer), ("admin", Role::Admin, ONE));
    assert_eq!((caller.client_address, caller.entry_point), (Some(ip(2)), EntryPoint::ApiV3));
    harness.clock.advance(Duration::from_hours(1) - Duration::from_micros(1));
    assert!(harness.accounts.authenticate_bearer(&issued.token, ip(1)).await.is_ok());
    harness.clock.advance(Duration::from_micros(1));
    assert!(is_unauthenticated(harness.accounts.authenticate_bearer(&issued.token, ip(1)).await));
    harness.clock.advance(Duration::from_hours(1));
    assert!(is_unauthenticated(harness.accounts.authenticate_bearer(&issued.token, ip(1)).await));
}

#[tokio::test]
async fn forged_truncated_and_foreign_tokens_are_rejected() {
    let harness = Harness::new().await;
    let token = harness.accounts.log_in("admin", PASSWORD, ip(1)).await.unwrap().token;
    let session = harness.accounts.open_session("admin", PASSWORD, ip(1)).await.unwrap();
    let host_token = harness.accounts.renew_host_token();
    let mut forged = vec![String::new(), "x".repeat(100_000), format!("{token}="), session.clone()];
    forged.extend((1..token.len()).map(|length| token[..length].to_owned()));
    let swapped = |c: char| if c == 'A' { 'B' } else { 'A' };
    forged.extend(
        token.char_indices().map(|(at, c)| format!("{}{}{}", &token[..at], swapped(c), &token[at + 1..])),
    );
    forged.extend([
        format!("{token}~1"),
        host_token[1..].to_owned(),
        format!("{host_token}~"),
        format!("{host_token}~x"),
    ]);
    for text in forged {
        assert!(is_unauthenticated(harness.accounts.authenticate_bearer(&text, ip(1)).await), "{text:.60}");
    }
    for text in [token.as_str(), &host_token, &session[1..], ""] {
        assert!(
            is_unauthenticated(harness.accounts.authenticate_session("admin", text, ip(1)).await),
            "{text}"
        );
    }
    assert!(
        is_unauthenticated(harness.accounts.authenticate_session("anna", &session, ip(1)).await),
        "the session of another login"
    );
    assert!(harness.accounts.authenticate_session("ADMIN", &session, ip(1)).await.is_ok());
}

#[tokio::test]
async fn a_session_ends_fifteen_minutes_after_its_last_use() {
    let harness = Harness::new().await;
    let session = harness.accounts.open_session("admin", PASSWORD, ip(1)).await.unwrap();
    let used = async || harness.accounts.authenticate_session("admin", &session, ip(1)).await;
    // Uses that are not stored immediately count as well.
    for seconds in [1, 50, 899, 30, 899, 59, 899] {
        harness.clock.advance(Duration::from_secs(seconds));
        let caller = used().await.unwrap_or_else(|error| panic!("after {seconds} s: {error:?}"));
        assert_eq!(caller.entry_point, EntryPoint::LegacyApi);
    }
    harness.clock.advance(Duration::from_secs(30));
    used().await.unwrap();
    harness.accounts.remove_expired_tokens().await.unwrap();
    harness.clock.advance(Duration::from_mins(15) - Duration::from_micros(1));
    used().await.unwrap();
    harness.clock.advance(Duration::from_mins(15));
    assert!(is_unauthenticated(used().await));
    assert!(is_unauthenticated(used().await), "a refused use must not move the end");
}

#[tokio::test]
async fn the_expiry_of_a_session_is_stored_at_most_once_a_minute() {
    let harness = Harness::new().await;
    let session = harness.accounts.open_session("admin", PASSWORD, ip(1)).await.unwrap();
    let hash = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, session.as_bytes());
    let hash: [u8; 32] = hash.as_ref().try_into().unwrap();
    let written = async || harness.store.token(hash).await.unwrap().unwrap().expires_at;
    let end = |seconds: i64| Timestamp::from_seconds(START + seconds);
    assert_eq!(written().await, end(900));
    for (passed, expected) in [(30, 900), (29, 900), (1, 960), (59, 960), (1, 1020)] {
        harness.clock.advance(Duration::from_secs(passed));
        harness.accounts.authenticate_session("admin", &session, ip(1)).await.unwrap();
        assert_eq!(written().await, end(expected));
    }
}

#[tokio::test]
async fn logging_out_revokes_only_this_token_and_is_audited() {
    let harness = Harness::new().await;
    let first = harness.accounts.log_in("admin", PASSWORD, ip(1)).await.unwrap().token;
    let second = harness.accounts.log_in("admin", PASSWORD, ip(1)).await.unwrap().token;
    let caller = harness.accounts.authenticate_bearer(&first, ip(1)).await.unwrap();
    harness.accounts.log_out(&caller, &first).await.unwrap();
    assert!(is_unauthenticated(harness.accounts.authenticate_bearer(&first, ip(1)).await));
    assert!(harness.accounts.authenticate_bearer(&second, ip(1)).await.is_ok());
    assert_eq!(harness.actions().await, ["host create", "admin login", "admin login", "admin logout"]);
}

#[tokio::test]
async fn the_host_token_is_valid_for_every_account_until_it_is_renewed() {
    let harness = Harness::new().await;
    let shop = harness.accounts.add_customer(&host(), "Shop").await.unwrap();
    let token = harness.accounts.renew_host_token();
    for (text, customer) in
        [(token.clone(), ONE), (format!("{token}~1"), ONE), (format!("{token}~{shop}"), shop)]
    {
        let caller = harness.accounts.authenticate_bearer(&text, ip(1)).await.unwrap();
        assert_eq!((caller.customer, caller.role, &*caller.login), (customer, Role::Admin, "host"));
    }
    let unknown_account = harness.accounts.authenticate_bearer(&format!("{token}~99"), ip(1)).await;
    assert_eq!(unknown_account.unwrap_err(), ServiceError::NotFound);
    let next = harness.accounts.renew_host_token();
    assert!(is_unauthenticated(harness.accounts.authenticate_bearer(&token, ip(1)).await));
    let caller = harness.accounts.authenticate_bearer(&next, ip(1)).await.unwrap();
    harness.accounts.log_out(&caller, &next).await.unwrap();
    assert!(
        harness.accounts.authenticate_bearer(&next, ip(1)).await.is_ok(),
        "the server could not be reached any more"
    );
    assert_ne!(shop, CustomerId(1));
}

#[tokio::test]
async fn remove_expired_removes_only_expired_tokens() {
    let harness = Harness::new().await;
    let token = harness.accounts.log_in("admin", PASSWORD, ip(1)).await.unwrap().token;
    harness.accounts.open_session("admin", PASSWORD, ip(1)).await.unwrap();
    assert_eq!(harness.accounts.remove_expired_tokens().await, Ok(0));
    harness.clock.advance(Duration::from_secs(901));
    assert_eq!(harness.accounts.remove_expired_tokens().await, Ok(1));
    assert!(harness.accounts.authenticate_bearer(&token, ip(1)).await.is_ok());
    harness.clock.advance(Duration::from_hours(1));
    assert_eq!(harness.accounts.remove_expired_tokens().await, Ok(1));
}
