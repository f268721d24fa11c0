//! Logins: right and wrong, slowed down, told in the audit trail.

use std::time::{Duration, Instant};

use vigie::domain::Role;
use vigie::service::ServiceError;

use crate::accounts::kit::{House, PASSWORD, host, ip};

#[tokio::test]
async fn a_wrong_password_and_an_unknown_login_are_refused_alike_and_both_are_told() {
    let house = House::new().await;
    for login in ["admin", "nobody", "", "a\nb"] {
        let token = house.accounts.log_in(login, "wrong", ip(1)).await;
        assert_eq!(token.unwrap_err(), ServiceError::InvalidCredentials, "{login:?}");
    }
    assert_eq!(
        house.accounts.open_session("admin", "", ip(1)).await.unwrap_err(),
        ServiceError::InvalidCredentials
    );
    house.accounts.log_in("admin", PASSWORD, ip(1)).await.unwrap();
    let told = house.told().await;
    let expected = [
        "host create",
        "admin login_failed",
        " login_failed",
        " login_failed",
        " login_failed",
        "admin login_failed",
        "admin login",
    ];
    assert_eq!(told, expected);
    let audit = house.audit().await;
    assert!(audit[1..].iter().all(|row| row.address == "192.0.2.1" && row.object == "user"));
    assert_eq!((audit[1].via.as_str(), audit[5].via.as_str()), ("v3", "legacy"));
    // Somebody typed a password where the login belongs.
    assert!(!format!("{audit:?}").contains("nobody"));
}

#[tokio::test]
async fn an_unknown_login_takes_as_long_as_a_known_one() {
    let house = House::new().await;
    let mut took = [Duration::MAX; 2];
    let alike = |[known, unknown]: [Duration; 2]| unknown > known / 2 && unknown < known * 2;
    // The shortest times draw near to what each takes alone, however busy the machine is.
    for round in 1..=60 {
        for (login, min) in ["admin", "nobody"].into_iter().zip(&mut took) {
            let started = Instant::now();
            let _ = house.accounts.log_in(login, "wrong password", ip(round)).await;
            *min = (*min).min(started.elapsed());
            house.clock.advance(Duration::from_hours(1));
        }
        if round >= 6 && alike(took) {
            break;
        }
    }
    assert!(alike(took), "known and unknown: {took:?}");
}

#[tokio::test]
async fn guessing_is_slowed_down_and_the_owner_is_not_kept_out() {
    let house = House::new().await;
    house.accounts.log_in("admin", PASSWORD, ip(1)).await.unwrap();
    for guess in 0..5 {
        let token = house.accounts.log_in("admin", "guess", ip(10 + guess)).await;
        assert_eq!(token.unwrap_err(), ServiceError::InvalidCredentials);
    }
    let token = house.accounts.log_in("admin", PASSWORD, ip(20)).await;
    assert_eq!(token.unwrap_err(), ServiceError::RateLimited(1), "the right password makes no difference");
    assert!(house.accounts.log_in("admin", PASSWORD, ip(1)).await.is_ok(), "the owner is kept out");
    house.clock.advance(Duration::from_secs(1));
    assert!(house.accounts.log_in("admin", PASSWORD, ip(20)).await.is_ok());
}

#[tokio::test]
async fn guesses_at_the_same_time_get_no_further_than_in_a_row() {
    let house = House::new().await;
    let guesses = (0..40).map(|_| {
        let accounts = house.accounts.clone();
        tokio::spawn(async move { accounts.log_in("admin", "guess", ip(9)).await.unwrap_err() })
    });
    let guesses: Vec<_> = guesses.collect();
    let mut judged = 0;
    for guess in guesses {
        judged += usize::from(guess.await.unwrap() == ServiceError::InvalidCredentials);
    }
    assert_eq!(judged, 5);
}

#[tokio::test]
async fn locked_and_disabled_users_stay_out_and_their_tokens_stop_at_once() {
    let house = House::new().await;
    house.user("anna", Role::PowerUser).await;
    let token = house.accounts.log_in("anna", PASSWORD, ip(1)).await.unwrap().token;
    let session = house.accounts.open_session("anna", PASSWORD, ip(1)).await.unwrap();
    house.accounts.set_enabled(&host(), "anna", false).await.unwrap();
    assert!(matches!(
        house.accounts.authenticate_bearer(&token, ip(1)).await,
        Err(ServiceError::Unauthenticated(_))
    ));
    assert!(house.accounts.authenticate_session("anna", &session, ip(1)).await.is_err());
    assert_eq!(house.accounts.log_in("anna", PASSWORD, ip(1)).await.unwrap_err(), ServiceError::Locked);
    // Only who knows the password is told.
    assert_eq!(
        house.accounts.log_in("anna", "wrong", ip(1)).await.unwrap_err(),
        ServiceError::InvalidCredentials
    );
    house.accounts.set_enabled(&host(), "anna", true).await.unwrap();
    assert!(house.accounts.authenticate_bearer(&token, ip(1)).await.is_err(), "an ended token came back");
    house.accounts.log_in("anna", PASSWORD, ip(1)).await.unwrap();
}

#[tokio::test]
async fn a_flood_of_failed_logins_does_not_fill_the_audit_trail() {
    let house = House::new().await;
    for guess in 0..230_u32 {
        let address = std::net::IpAddr::from([198, 51, 100, u8::try_from(guess).unwrap()]);
        let _ = house.accounts.log_in(&format!("login{guess}"), &"x".repeat(2000), address).await;
    }
    let failed = house.told().await.iter().filter(|text| text.ends_with("login_failed")).count();
    assert_eq!(failed, 200);
    house.clock.advance(Duration::from_hours(1));
    let _ = house.accounts.log_in("admin", "wrong", ip(1)).await;
    let last = house.audit().await.pop().unwrap();
    assert_eq!(last.after["left_out_before"], 30);
}
