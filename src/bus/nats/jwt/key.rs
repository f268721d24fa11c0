//! Ed25519 keys of NATS: creating them, and reading them from text.

use std::fmt;

use nkeys::{KeyPair, KeyPairType};
use serde::{Deserialize, Serialize};

use super::error::JwtError;

/// Length of every public key and of no seed, in characters.
const PUBLIC_KEY_CHARS: usize = 56;
/// Length of every seed, in characters.
const SEED_CHARS: usize = 58;

/// The public key of an operator, account or user, such as `UDXU4RCS…`. The first letter names the kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PublicKey(String);

impl PublicKey {
    /// Reads a public key of the kind `kind`.
    ///
    /// # Errors
    /// Fails for any other text.
    pub fn parse(text: &str, kind: &KeyPairType) -> Result<Self, JwtError> {
        let key = public_key(text).ok_or(JwtError::WrongKey(kind_name(kind)))?;
        if key.key_pair_type() != *kind {
            return Err(JwtError::WrongKey(kind_name(kind)));
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the public key of `key`.
    #[must_use]
    pub fn of(key: &KeyPair) -> Self {
        Self(key.public_key())
    }

    /// Returns it as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether `signature` is a signature of `message` with the key.
    #[must_use]
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        public_key(&self.0).is_some_and(|key| key.verify(message, signature).is_ok())
    }

    /// Whether it is the key of a `kind`.
    pub(super) fn is(&self, kind: &KeyPairType) -> bool {
        public_key(&self.0).is_some_and(|key| key.key_pair_type() == *kind)
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for PublicKey {
    type Error = JwtError;

    fn try_from(text: String) -> Result<Self, JwtError> {
        public_key(&text).map(|_| Self(text)).ok_or(JwtError::WrongKey("public"))
    }
}

impl From<PublicKey> for String {
    fn from(key: PublicKey) -> Self {
        key.0
    }
}

/// Creates a key from random numbers of the system.
///
/// # Errors
/// Fails when the system gives none.
pub fn new_key(kind: KeyPairType) -> Result<KeyPair, JwtError> {
    let mut random = [0; 32];
    aws_lc_rs::rand::fill(&mut random)
        .map_err(|_| JwtError::NotCreated("the system gives no random numbers".to_owned()))?;
    KeyPair::new_from_raw(kind, random).map_err(|error| JwtError::NotCreated(error.to_string()))
}

/// Reads the seed of a key of the kind `kind`.
///
/// # Errors
/// Fails for any other text, which the error does not repeat.
pub fn parse_seed(text: &str, kind: &KeyPairType) -> Result<KeyPair, JwtError> {
    let wrong = || JwtError::WrongKey(kind_name(kind));
    if text.len() != SEED_CHARS || !text.is_ascii() {
        return Err(wrong());
    }
    let key = KeyPair::from_seed(text).map_err(|_| wrong())?;
    if key.key_pair_type() == *kind { Ok(key) } else { Err(wrong()) }
}

fn public_key(text: &str) -> Option<KeyPair> {
    // nkeys expects the exact length.
    (text.len() == PUBLIC_KEY_CHARS && text.is_ascii()).then(|| KeyPair::from_public_key(text).ok()).flatten()
}

fn kind_name(kind: &KeyPairType) -> &'static str {
    match kind {
        KeyPairType::Operator => "operator",
        KeyPairType::Account => "account",
        KeyPairType::User => "user",
        _ => "different",
    }
}
