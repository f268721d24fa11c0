//! Logins: valid and wrong ones, rate limits, and the audit trail.

use std::time::{Duration, Instant};

use vigie::domain::Role;
use vigie::service::ServiceError;

use crate::accounts::harness::{Harness, PASSWORD, host, ip};

#[tokio::test]
async fn a_wrong_password_and_an_unknown_login_are_refused_and_audited_alike() {
    let harness = Harness::new().await;
    for login in ["admin", "nobody", "", "a\nb"] {
        let token = harness.accounts.log_in(login, "wrong", ip(1)).await;
        assert_eq!(token.unwrap_err(), ServiceError::InvalidCredentials, "{login:?}");
    }
    assert_eq!(
        harness.accounts.open_session("admin", "", ip(1)).await.unwrap_err(),
        ServiceError::InvalidCredentials
    );
    harness.accounts.log_in("admin", PASSWORD, ip(1)).await.unwrap();
    let actions = harness.actions().await;
    let expected = [
        "host create",
        "admin login_failed",
        " login_failed",
        " login_failed",
        " login_failed",
        "admin login_failed",
        "admin login",
    ];
    assert_eq!(actions, expected);
    let audit = harness.audit().await;
    assert!(audit[1..].iter().all(|row| row.address == "192.0.2.1" && row.object_kind == "user"));
    assert_eq!((audit[1].entry_point.as_str(), audit[5].entry_point.as_str()), ("v3", "legacy"));
    // A login may be a mistyped password, so unknown ones are not recorded.
    assert!(!format!("{audit:?}").contains("nobody"));
}

#[tokio::test]
async fn an_unknown_login_takes_as_long_as_a_known_one() {
    let harness = Harness::new().await;
    let mut took = [Duration::MAX; 2];
    let alike = |[known, unknown]: [Duration; 2]| unknown > known / 2 && unknown < known * 2;
    // The minimum approaches the true duration of each, however busy the machine is.
    for round in 1..=60 {
        for (login, min) in ["admin", "nobody"].into_iter().zip(&mut took) {
            let started = Instant::now();
            let _ = harness.accounts.log_in(login, "wrong password", ip(round)).await;
            *min = (*min).min(started.elapsed());
            harness.clock.advance(Duration::from_hours(1));
        }
        if round >= 6 && alike(took) {
            break;
        }
    }
    assert!(alike(took), "known and unknown: {took:?}");
}

#[tokio::test]
async fn guessing_is_rate_limited_without_locking_out_the_owner() {
    let harness = Harness::new().await;
    harness.accounts.log_in("admin", PASSWORD, ip(1)).await.unwrap();
    for guess in 0..5 {
        let token = harness.accounts.log_in("admin", "guess", ip(10 + guess)).await;
        assert_eq!(token.unwrap_err(), ServiceError::InvalidCredentials);
    }
    let token = harness.accounts.log_in("admin", PASSWORD, ip(20)).await;
    assert_eq!(token.unwrap_err(), ServiceError::RateLimited(1), "the right password makes no difference");
    assert!(harness.accounts.log_in("admin", PASSWORD, ip(1)).await.is_ok(), "the owner is kept out");
    harness.clock.advance(Duration::from_secs(1));
    assert!(harness.accounts.log_in("admin", PASSWORD, ip(20)).await.is_ok());
}

#[tokio::test]
async fn concurrent_guesses_are_limited_like_sequential_ones() {
    let harness = Harness::new().await;
    let guesses = (0..40).map(|_| {
        let accounts = harness.accounts.clone();
        tokio::spawn(async move { accounts.log_in("admin", "guess", ip(9)).await.unwrap_err() })
    });
    let guesses: Vec<_> = guesses.collect();
    let mut rejected = 0;
    for guess in guesses {
        rejected += usize::from(guess.await.unwrap() == ServiceError::InvalidCredentials);
    }
    assert_eq!(rejected, 5);
}

#[tokio::test]
async fn locked_and_disabled_users_cannot_log_in_and_lose_their_tokens() {
    let harness = Harness::new().await;
    harness.user("anna", Role::PowerUser).await;
    let token = harness.accounts.log_in("anna", PASSWORD, ip(1)).await.unwrap().token;
    let session = harness.accounts.open_session("anna", PASSWORD, ip(1)).await.unwrap();
    harness.accounts.set_enabled(&host(), "anna", false).await.unwrap();
    assert!(matches!(
        harness.accounts.authenticate_bearer(&token, ip(1)).await,
        Err(ServiceError::Unauthenticated(_))
    ));
    assert!(harness.accounts.authenticate_session("anna", &session, ip(1)).await.is_err());
    assert_eq!(harness.accounts.log_in("anna", PASSWORD, ip(1)).await.unwrap_err(), ServiceError::UserLocked);
    // A wrong password does not reveal that the user is locked.
    assert_eq!(
        harness.accounts.log_in("anna", "wrong", ip(1)).await.unwrap_err(),
        ServiceError::InvalidCredentials
    );
    harness.accounts.set_enabled(&host(), "anna", true).await.unwrap();
    assert!(harness.accounts.authenticate_bearer(&token, ip(1)).await.is_err(), "an ended token came back");
    harness.accounts.log_in("anna", PASSWORD, ip(1)).await.unwrap();
}

#[tokio::test]
async fn a_flood_of_failed_logins_does_not_fill_the_audit_trail() {
    let harness = Harness::new().await;
    for guess in 0..230_u32 {
        // Each address is in a network of its own, which is throttled too.
        let address = std::net::IpAddr::from([10, 51, u8::try_from(guess).unwrap(), 1]);
        let _ = harness.accounts.log_in(&format!("login{guess}"), &"x".repeat(2000), address).await;
    }
    let failed = harness.actions().await.iter().filter(|text| text.ends_with("login_failed")).count();
    assert_eq!(failed, 200);
    harness.clock.advance(Duration::from_hours(1));
    let _ = harness.accounts.log_in("admin", "wrong", ip(1)).await;
    let last = harness.audit().await.pop().unwrap();
    assert_eq!(last.after["left_out_before"], 30);
}
