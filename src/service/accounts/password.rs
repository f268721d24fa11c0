//! Passwords: their rules, their hashes (argon2id), and ones that are made for people to read.

use std::sync::OnceLock;

use argon2::password_hash::PasswordVerifier;
use argon2::{Argon2, PasswordHash, PasswordHasher};
use aws_lc_rs::rand;
use tokio::sync::Semaphore;
use zeroize::Zeroizing;

use crate::service::caller::ServiceError;
use crate::syntax::node::Position;
use crate::syntax::{MASK, ValidationError, ValidationErrorKind};

/// Characters that a password has at least.
const MIN_CHARS: usize = 8;
/// Characters that it has at most (interface.md says nothing; long enough for any phrase).
const MAX_CHARS: usize = 1024;
/// Hashes that are computed at once. Each takes 19 MiB (argon2id, 2 passes: the least that OWASP advises) and
/// some 30 ms of a core, which checks want as well.
const MAX_CONCURRENT_HASHES: usize = 2;
/// Hashes that wait for their turn; more callers are sent away.
const MAX_WAITING_HASHES: usize = 64;
/// Stands for the hash of a login that does not exist, so that asking for one takes as long.
const DUMMY_HASH: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5IGhhcyB0aGlz$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
/// Letters and digits that nobody takes for others.
const READABLE_ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// What is wrong with `password` as a new one; never repeats it.
#[must_use]
pub fn validate_password(password: &str) -> Option<ValidationError> {
    if password == MASK {
        let message = format!("`{MASK}` stands for a secret that is not shown, and is no password");
        return Some(ValidationError::new(
            ValidationErrorKind::Secret,
            "password",
            Position::default(),
            message,
        ));
    }
    let length = password.chars().count();
    if (MIN_CHARS..=MAX_CHARS).contains(&length) {
        return None;
    }
    let message = format!("a password has {MIN_CHARS} to {MAX_CHARS} characters, this one has {length}");
    Some(ValidationError::new(ValidationErrorKind::Length, "password", Position::default(), message))
}

/// What is wrong with `login` as the login of a new user.
#[must_use]
pub fn validate_login(login: &str) -> Option<ValidationError> {
    let odd = |c: char| c.is_control() || c.is_whitespace() || c == ':';
    let length = login.chars().count();
    if (1..=255).contains(&length) && !login.contains(odd) {
        return None;
    }
    let message = "a login has 1 to 255 characters, without spaces, colons and control characters";
    Some(ValidationError::new(ValidationErrorKind::Format, "login", Position::default(), message))
}

/// The hash of `password` to keep as the private part of a user (PHC string), computed beside the runtime.
pub async fn hash_password(password: &str) -> Result<Vec<u8>, ServiceError> {
    let password = Zeroizing::new(password.to_owned());
    let hash = run_blocking(move || {
        argon2::Argon2::default().hash_password(password.as_bytes()).map(|h| h.to_string())
    });
    hash.await?.map(String::into_bytes).map_err(|error| {
        tracing::error!(error = %error, "failed to hash a password");
        ServiceError::Unavailable("The password cannot be hashed now; try again later".to_owned())
    })
}

/// Whether `password` has this hash; without one it takes as long, and is wrong.
pub(super) async fn matches_hash(password: &str, hash: Option<&[u8]>) -> Result<bool, ServiceError> {
    if password.chars().count() > MAX_CHARS {
        return Ok(false);
    }
    let password = Zeroizing::new(password.to_owned());
    let known = hash.and_then(|hash| std::str::from_utf8(hash).ok()).map(str::to_owned);
    run_blocking(move || {
        let matches = |hash: &str| {
            let hash = PasswordHash::new(hash)?;
            Argon2::default().verify_password(password.as_bytes(), &hash)
        };
        let right = matches(known.as_deref().unwrap_or(DUMMY_HASH)).is_ok();
        right && known.is_some()
    })
    .await
}

/// A password of some 100 random bits, in groups for people to read and type.
#[must_use]
pub fn generate_password() -> String {
    let mut bytes = [0; 20];
    // When the system has no random bytes, aws-lc ends the process itself.
    while rand::fill(&mut bytes).is_err() {}
    let letters: Vec<char> =
        bytes.iter().map(|byte| char::from(READABLE_ALPHABET[usize::from(byte % 32)])).collect();
    letters.chunks(5).map(String::from_iter).collect::<Vec<_>>().join("-")
}

/// Does `work` on a thread that may block, few at once so that memory is bounded.
async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ServiceError> {
    static TURNS: OnceLock<(Semaphore, Semaphore)> = OnceLock::new();
    let (queue, places) = TURNS.get_or_init(|| {
        (Semaphore::new(MAX_WAITING_HASHES + MAX_CONCURRENT_HASHES), Semaphore::new(MAX_CONCURRENT_HASHES))
    });
    let _queued = queue.try_acquire().map_err(|_| ServiceError::RateLimited(1))?;
    // Held by the work itself: a caller that goes away does not free the place of what still runs.
    let place = places.acquire().await.map_err(|_| shutting_down())?;
    let done = tokio::task::spawn_blocking(move || {
        let _place = place;
        work()
    });
    done.await.map_err(|_| shutting_down())
}

fn shutting_down() -> ServiceError {
    ServiceError::Unavailable("The server is shutting down".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_count_characters_and_say_so_without_the_password() {
        for (password, good) in [
            ("seven77".to_owned(), false),
            ("eight888".to_owned(), true),
            ("éééééééé".to_owned(), true),
            ("x".repeat(1024), true),
            ("x".repeat(1025), false),
            (MASK.to_owned(), false),
        ] {
            let error = validate_password(&password);
            assert_eq!(error.is_none(), good, "{password}");
            assert!(error.is_none_or(|error| password == MASK || !error.to_string().contains(&password)));
        }
        for (login, good) in
            [("", false), ("anna@example.test", true), ("a b", false), ("a:b", false), ("a\n", false)]
        {
            assert_eq!(validate_login(login).is_none(), good, "{login:?}");
        }
    }

    #[tokio::test]
    async fn a_hash_is_argon2id_and_fits_its_password_alone() {
        let hash = hash_password("correct horse").await.unwrap();
        assert!(hash.starts_with(b"$argon2id$v=19$m=19456,t=2,p=1$"), "{}", String::from_utf8_lossy(&hash));
        assert_eq!(matches_hash("correct horse", Some(&hash)).await, Ok(true));
        assert_eq!(matches_hash("correct horsf", Some(&hash)).await, Ok(false));
        assert_eq!(matches_hash("correct horse", None).await, Ok(false));
        assert_eq!(matches_hash("correct horse", Some(b"no hash")).await, Ok(false));
        assert!(PasswordHash::new(DUMMY_HASH).is_ok(), "an unknown login would take no time");
    }

    #[test]
    fn a_made_password_is_long_enough_and_never_the_same() {
        let made = generate_password();
        assert_eq!((made.len(), made.split('-').count()), (23, 4));
        assert!(validate_password(&made).is_none());
        assert_ne!(made, generate_password());
    }
}
