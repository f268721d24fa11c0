//! What the token of an account says: its limits, its keys, what it shares with other accounts, and which of its users
//! are revoked.

use std::collections::BTreeMap;
use std::time::Duration;

use nkeys::KeyPairType;
use serde::{Deserialize, Serialize};

use super::key::PublicKey;
use super::token::Claims;
use crate::domain::Timestamp;

/// No limit.
const UNLIMITED: i64 = -1;

/// An account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountClaims {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    imports: Vec<Import>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    exports: Vec<Export>,
    limits: Limits,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    signing_keys: Vec<PublicKey>,
    /// Seconds by user: its tokens up to then are revoked.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    revocations: BTreeMap<PublicKey, i64>,
}

impl Claims for AccountClaims {
    const TYPE: &'static str = "account";
    const SUBJECT: KeyPairType = KeyPairType::Account;
    const ISSUER: KeyPairType = KeyPairType::Operator;
}

impl AccountClaims {
    /// Describes an account without JetStream and leaf nodes, whose users `signing_key` signs.
    #[must_use]
    pub fn new(signing_key: PublicKey) -> Self {
        Self {
            imports: Vec::new(),
            exports: Vec::new(),
            limits: Limits::default(),
            signing_keys: vec![signing_key],
            revocations: BTreeMap::new(),
        }
    }

    /// Allows JetStream within `limits`.
    #[must_use]
    pub fn with_jetstream(mut self, limits: JetStreamLimits) -> Self {
        self.limits.mem_storage = limits.memory_bytes.unwrap_or(UNLIMITED);
        self.limits.disk_storage = limits.disk_bytes.unwrap_or(UNLIMITED);
        self.limits.streams = limits.streams.unwrap_or(UNLIMITED);
        self.limits.consumer = limits.consumers.unwrap_or(UNLIMITED);
        self
    }

    /// Shares these subjects with all accounts of the operator, and uses those of others.
    #[must_use]
    pub fn with_shared(mut self, exports: Vec<Export>, imports: Vec<Import>) -> Self {
        (self.exports, self.imports) = (exports, imports);
        self
    }

    /// Revokes all tokens of `user` that were issued up to `until`.
    pub fn revoke(&mut self, user: PublicKey, until: Timestamp) {
        self.revocations.insert(user, until.as_micros().div_euclid(1_000_000));
    }

    /// Whether a token of `user` that was issued at `issued_at` is revoked.
    #[must_use]
    pub fn is_revoked(&self, user: &PublicKey, issued_at: Timestamp) -> bool {
        let issued_at = issued_at.as_micros().div_euclid(1_000_000);
        self.revocations.get(user).is_some_and(|until| issued_at <= *until)
    }
}

/// Most that the streams of an account may use; `None` is no limit besides that of the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JetStreamLimits {
    /// Bytes of streams in memory.
    pub memory_bytes: Option<i64>,
    /// Bytes of streams on disk.
    pub disk_bytes: Option<i64>,
    /// Number of streams.
    pub streams: Option<i64>,
    /// Number of consumers.
    pub consumers: Option<i64>,
}

/// The limits of an account. The server reads a missing one as 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Limits {
    subs: i64,
    data: i64,
    payload: i64,
    imports: i64,
    exports: i64,
    wildcards: bool,
    conn: i64,
    leaf: i64,
    #[serde(default)]
    mem_storage: i64,
    #[serde(default)]
    disk_storage: i64,
    #[serde(default)]
    streams: i64,
    #[serde(default)]
    consumer: i64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            subs: UNLIMITED,
            data: UNLIMITED,
            payload: UNLIMITED,
            imports: UNLIMITED,
            exports: UNLIMITED,
            wildcards: true,
            conn: UNLIMITED,
            leaf: 0,
            mem_storage: 0,
            disk_storage: 0,
            streams: 0,
            consumer: 0,
        }
    }
}

/// How messages of a shared subject go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShareType {
    /// From the account that exports it.
    Stream,
    /// To the account that exports it, with replies.
    Service,
}

/// A subject that other accounts may use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Export {
    name: String,
    subject: String,
    #[serde(rename = "type")]
    share_type: ShareType,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    response_type: Option<String>,
    /// Nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    response_threshold: Option<i64>,
}

impl Export {
    /// Exports messages without a reply.
    #[must_use]
    pub fn stream(subject: &str) -> Self {
        Self {
            name: subject.to_owned(),
            subject: subject.to_owned(),
            share_type: ShareType::Stream,
            response_type: None,
            response_threshold: None,
        }
    }

    /// Exports requests with one reply, which is given up after `timeout`; `None` is 2 minutes.
    #[must_use]
    pub fn service(subject: &str, timeout: Option<Duration>) -> Self {
        Self {
            share_type: ShareType::Service,
            response_type: Some("Singleton".to_owned()),
            response_threshold: timeout.map(|timeout| i64::try_from(timeout.as_nanos()).unwrap_or(i64::MAX)),
            ..Self::stream(subject)
        }
    }

    /// Exports requests with any number of replies.
    #[must_use]
    pub fn service_of_many(subject: &str) -> Self {
        Self { response_type: Some("Stream".to_owned()), ..Self::service(subject, None) }
    }
}

/// A subject of another account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    name: String,
    subject: String,
    account: PublicKey,
    #[serde(rename = "type")]
    share_type: ShareType,
    /// Its name here; absent for the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    local_subject: Option<String>,
}

impl Import {
    /// Imports `subject` of `account` under the name `local_subject`, which has the same wildcards.
    #[must_use]
    pub fn new(subject: &str, local_subject: &str, account: PublicKey, share_type: ShareType) -> Self {
        let local_subject = (local_subject != subject).then(|| local_subject.to_owned());
        Self { name: subject.to_owned(), subject: subject.to_owned(), account, share_type, local_subject }
    }
}
