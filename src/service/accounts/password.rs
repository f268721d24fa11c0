//! Passwords: rules, hashes (argon2id), and generated ones that people can read.

use std::sync::OnceLock;

use argon2::password_hash::PasswordVerifier;
use argon2::{Argon2, PasswordHash, PasswordHasher};
use aws_lc_rs::rand;
use tokio::sync::Semaphore;
use zeroize::Zeroizing;

use crate::service::caller::ServiceError;
use crate::syntax::node::Position;
use crate::syntax::text_format::is_control_or_bidi;
use crate::syntax::{MASK, ValidationError, ValidationErrorKind};

/// Fewest characters of a password.
const MIN_PASSWORD_CHARS: usize = 8;
/// Most characters of a password (interface.md sets no limit; long enough for any passphrase).
const MAX_PASSWORD_CHARS: usize = 1024;
/// Hashes computed at once. Each takes 19 MiB (argon2id, 2 passes, the OWASP minimum) and about 30 ms of a
/// core, which checks need too.
const MAX_CONCURRENT_HASHES: usize = 2;
/// Hashes queued for computation; further callers get an error.
const MAX_QUEUED_HASHES: usize = 64;
/// Hash used for a login that does not exist, so that checking it takes as long.
const DUMMY_HASH: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5IGhhcyB0aGlz$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
/// Letters and digits that are not easily confused.
const READABLE_ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// Returns why a new password is invalid; the error never contains it.
#[must_use]
pub fn password_error(password: &str) -> Option<ValidationError> {
    if password == MASK {
        let message = format!("`{MASK}` masks a secret and is not a valid password");
        return Some(ValidationError::new(
            ValidationErrorKind::Secret,
            "password",
            Position::default(),
            message,
        ));
    }
    let length = password.chars().count();
    if (MIN_PASSWORD_CHARS..=MAX_PASSWORD_CHARS).contains(&length) {
        return None;
    }
    let message = format!(
        "a password has {MIN_PASSWORD_CHARS} to {MAX_PASSWORD_CHARS} characters, this one has {length}"
    );
    Some(ValidationError::new(ValidationErrorKind::Length, "password", Position::default(), message))
}

/// Returns why the login of a new user is invalid.
#[must_use]
pub fn login_error(login: &str) -> Option<ValidationError> {
    let is_forbidden = |c: char| is_control_or_bidi(c) || c.is_whitespace() || c == ':';
    let length = login.chars().count();
    if (1..=255).contains(&length) && !login.contains(is_forbidden) {
        return None;
    }
    let message = "a login has 1 to 255 characters, without spaces, colons and control characters";
    Some(ValidationError::new(ValidationErrorKind::Format, "login", Position::default(), message))
}

/// Computes the hash to store as private data of a user (PHC string), on a blocking thread.
pub async fn hash_password(password: &str) -> Result<Vec<u8>, ServiceError> {
    let password = Zeroizing::new(password.to_owned());
    let hash = run_hashing(move || {
        argon2::Argon2::default().hash_password(password.as_bytes()).map(|h| h.to_string())
    });
    hash.await?.map(String::into_bytes).map_err(|error| {
        tracing::error!(error = %error, "failed to hash a password");
        ServiceError::Unavailable("The password cannot be hashed now; try again later".to_owned())
    })
}

/// Whether `password` has this hash. Without a hash, it takes the same time and returns false.
pub(super) async fn password_matches(password: &str, hash: Option<&[u8]>) -> Result<bool, ServiceError> {
    if password.chars().count() > MAX_PASSWORD_CHARS {
        return Ok(false);
    }
    let password = Zeroizing::new(password.to_owned());
    let stored_hash = hash.and_then(|hash| std::str::from_utf8(hash).ok()).map(str::to_owned);
    run_hashing(move || {
        let verify = |hash: &str| {
            let hash = PasswordHash::new(hash)?;
            Argon2::default().verify_password(password.as_bytes(), &hash)
        };
        let is_match = verify(stored_hash.as_deref().unwrap_or(DUMMY_HASH)).is_ok();
        is_match && stored_hash.is_some()
    })
    .await
}

/// Generates a password of some 100 random bits, in groups for people to read and type.
#[must_use]
pub fn generate_password() -> String {
    let mut bytes = [0; 20];
    // When the system has no random bytes, aws-lc aborts the process.
    while rand::fill(&mut bytes).is_err() {}
    let characters: Vec<char> =
        bytes.iter().map(|byte| char::from(READABLE_ALPHABET[usize::from(byte % 32)])).collect();
    characters.chunks(5).map(String::from_iter).collect::<Vec<_>>().join("-")
}

/// Runs `work` on a blocking thread, few at once to bound memory.
async fn run_hashing<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ServiceError> {
    static QUEUE_AND_PERMITS: OnceLock<(Semaphore, Semaphore)> = OnceLock::new();
    let (queue, permits) = QUEUE_AND_PERMITS.get_or_init(|| {
        (Semaphore::new(MAX_QUEUED_HASHES + MAX_CONCURRENT_HASHES), Semaphore::new(MAX_CONCURRENT_HASHES))
    });
    let _place_in_queue = queue.try_acquire().map_err(|_| ServiceError::RateLimited(1))?;
    // Moved into the work: a cancelled caller must not free the permit of work that still runs.
    let permit = permits.acquire().await.map_err(|_| shutting_down_error())?;
    let task = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        work()
    });
    task.await.map_err(|_| shutting_down_error())
}

fn shutting_down_error() -> ServiceError {
    ServiceError::Unavailable("The server is shutting down".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_count_characters_and_errors_omit_the_password() {
        for (password, is_valid) in [
            ("seven77".to_owned(), false),
            ("eight888".to_owned(), true),
            ("éééééééé".to_owned(), true),
            ("x".repeat(1024), true),
            ("x".repeat(1025), false),
            (MASK.to_owned(), false),
        ] {
            let error = password_error(&password);
            assert_eq!(error.is_none(), is_valid, "{password}");
            assert!(error.is_none_or(|error| password == MASK || !error.to_string().contains(&password)));
        }
        for (login, is_valid) in [
            ("", false),
            ("anna@example.test", true),
            ("a b", false),
            ("a:b", false),
            ("a\n", false),
            ("a\u{202e}b", false),
        ] {
            assert_eq!(login_error(login).is_none(), is_valid, "{login:?}");
        }
    }

    #[tokio::test]
    async fn a_hash_is_argon2id_and_fits_its_password_alone() {
        let hash = hash_password("correct horse").await.unwrap();
        assert!(hash.starts_with(b"$argon2id$v=19$m=19456,t=2,p=1$"), "{}", String::from_utf8_lossy(&hash));
        assert_eq!(password_matches("correct horse", Some(&hash)).await, Ok(true));
        assert_eq!(password_matches("correct horsf", Some(&hash)).await, Ok(false));
        assert_eq!(password_matches("correct horse", None).await, Ok(false));
        assert_eq!(password_matches("correct horse", Some(b"no hash")).await, Ok(false));
        assert!(PasswordHash::new(DUMMY_HASH).is_ok(), "an unknown login would take no time");
    }

    #[test]
    fn generated_passwords_are_long_enough_and_differ() {
        let generated = generate_password();
        assert_eq!((generated.len(), generated.split('-').count()), (23, 4));
        assert!(password_error(&generated).is_none());
        assert_ne!(generated, generate_password());
    }
}
