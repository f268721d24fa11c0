//! Encoding, signing, decoding and verifying of tokens.

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use nkeys::{KeyPair, KeyPairType};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::error::JwtError;
use super::key::PublicKey;
use crate::domain::Timestamp;

/// Most bytes of a token: the largest message of a server.
const MAX_TOKEN_BYTES: usize = 1024 * 1024;
/// Version of the format.
const VERSION: u32 = 2;
const ALGORITHM: &str = "ed25519-nkey";

/// What a token says about its subject, besides the fields that every token has.
pub trait Claims: Serialize + DeserializeOwned {
    /// Name of the kind of token.
    const TYPE: &'static str;
    /// The kind of its subject.
    const SUBJECT: KeyPairType;
    /// The kind of its issuer.
    const ISSUER: KeyPairType;
}

/// A token, decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token<C> {
    /// Key of what it is about.
    pub subject: PublicKey,
    /// Name of that, for people.
    pub name: String,
    /// When it was issued; in seconds on the wire.
    pub issued_at: Timestamp,
    /// When it expires; in seconds on the wire.
    pub expires_at: Option<Timestamp>,
    /// What it says.
    pub claims: C,
}

#[derive(Serialize, Deserialize)]
struct Header {
    typ: String,
    alg: String,
}

#[derive(Serialize, Deserialize)]
struct Payload<C> {
    #[serde(skip_serializing_if = "Option::is_none")]
    exp: Option<i64>,
    #[serde(default)]
    jti: String,
    iat: i64,
    iss: PublicKey,
    #[serde(default)]
    name: String,
    sub: PublicKey,
    nats: TypedClaims<C>,
}

#[derive(Serialize, Deserialize)]
struct TypedClaims<C> {
    #[serde(flatten)]
    claims: C,
    #[serde(rename = "type")]
    kind: String,
    version: u32,
}

impl<C: Claims + Clone> Token<C> {
    /// Signs the token with the key of its issuer.
    ///
    /// # Errors
    /// Fails for a key or subject of another kind, and for a token of more than 1 MiB.
    pub fn encode(&self, issuer: &KeyPair) -> Result<String, JwtError> {
        if !self.subject.is(&C::SUBJECT) || issuer.key_pair_type() != C::ISSUER {
            return Err(JwtError::NotCreated(format!("a token `{}` takes other kinds of keys", C::TYPE)));
        }
        let mut payload = Payload {
            exp: self.expires_at.map(seconds),
            jti: String::new(),
            iat: seconds(self.issued_at),
            iss: PublicKey::of(issuer),
            name: self.name.clone(),
            sub: self.subject.clone(),
            nats: TypedClaims { claims: self.claims.clone(), kind: C::TYPE.to_owned(), version: VERSION },
        };
        payload.jti = URL_SAFE_NO_PAD.encode(digest(&SHA256, &to_json(&payload)?));
        let header = to_json(&Header { typ: "JWT".to_owned(), alg: ALGORITHM.to_owned() })?;
        let signed =
            format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(to_json(&payload)?));
        let signature =
            issuer.sign(signed.as_bytes()).map_err(|error| JwtError::NotCreated(error.to_string()))?;
        let token = format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature));
        if token.len() > MAX_TOKEN_BYTES { Err(JwtError::TooLong(token.len())) } else { Ok(token) }
    }

    /// Verifies that `text` is a token of this kind with the signature of its issuer, which is returned with it. The
    /// caller checks whether that is an issuer that it trusts, and the times.
    ///
    /// # Errors
    /// Fails for anything else.
    pub fn decode(text: &str) -> Result<(Self, PublicKey), JwtError> {
        if text.len() > MAX_TOKEN_BYTES {
            return Err(JwtError::TooLong(text.len()));
        }
        let malformed = |reason: &str| JwtError::Malformed(reason.to_owned());
        let (signed, signature) = text.rsplit_once('.').ok_or_else(|| malformed("it has no three parts"))?;
        let (header, payload) = signed.split_once('.').ok_or_else(|| malformed("it has no three parts"))?;
        let header: Header = from_part(header)?;
        if !header.alg.eq_ignore_ascii_case(ALGORITHM) || !header.typ.eq_ignore_ascii_case("jwt") {
            return Err(malformed("its header names another format"));
        }
        let payload: Payload<C> = from_part(payload)?;
        if payload.nats.kind != C::TYPE || payload.nats.version != VERSION {
            return Err(malformed(&format!("it is no token `{}` of version {VERSION}", C::TYPE)));
        }
        if !payload.sub.is(&C::SUBJECT) || !payload.iss.is(&C::ISSUER) {
            return Err(malformed("its keys are of another kind"));
        }
        let signature = decode_part(signature)?;
        if !payload.iss.verify(signed.as_bytes(), &signature) {
            return Err(JwtError::WrongSignature);
        }
        let token = Self {
            subject: payload.sub,
            name: payload.name,
            issued_at: timestamp(payload.iat),
            expires_at: payload.exp.map(timestamp),
            claims: payload.nats.claims,
        };
        Ok((token, payload.iss))
    }
}

fn seconds(at: Timestamp) -> i64 {
    at.as_micros().div_euclid(1_000_000)
}

fn timestamp(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds.saturating_mul(1_000_000))
}

fn to_json(value: &impl Serialize) -> Result<Vec<u8>, JwtError> {
    serde_json::to_vec(value).map_err(|error| JwtError::NotCreated(error.to_string()))
}

fn decode_part(part: &str) -> Result<Vec<u8>, JwtError> {
    URL_SAFE_NO_PAD.decode(part).map_err(|error| JwtError::Malformed(error.to_string()))
}

fn from_part<T: DeserializeOwned>(part: &str) -> Result<T, JwtError> {
    serde_json::from_slice(&decode_part(part)?).map_err(|error| JwtError::Malformed(error.to_string()))
}
