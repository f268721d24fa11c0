//! What the token of a user says: which account it belongs to, and what it may do.

use std::time::Duration;

use nkeys::KeyPairType;
use serde::{Deserialize, Serialize};

use super::key::PublicKey;
use super::token::Claims;

/// No limit.
const UNLIMITED: i64 = -1;

/// A user of an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserClaims {
    #[serde(rename = "pub", default)]
    publish: SubjectPermission,
    #[serde(rename = "sub", default)]
    subscribe: SubjectPermission,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    resp: Option<ReplyPermission>,
    /// Most subscriptions of a connection.
    subs: i64,
    data: i64,
    payload: i64,
    /// The account, when one of its signing keys signs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    issuer_account: Option<PublicKey>,
}

impl Claims for UserClaims {
    const TYPE: &'static str = "user";
    const SUBJECT: KeyPairType = KeyPairType::User;
    const ISSUER: KeyPairType = KeyPairType::Account;
}

impl UserClaims {
    /// Describes a user who may do everything in `account`.
    #[must_use]
    pub fn unrestricted(account: PublicKey) -> Self {
        Self {
            publish: SubjectPermission::default(),
            subscribe: SubjectPermission::default(),
            resp: None,
            subs: UNLIMITED,
            data: UNLIMITED,
            payload: UNLIMITED,
            issuer_account: Some(account),
        }
    }

    /// Describes a user of `account` who may do only what is named here. Without a subject, it may publish or subscribe to
    /// none.
    #[must_use]
    pub fn restricted(
        account: PublicKey,
        publish: Vec<String>,
        subscribe: Vec<String>,
        reply: Option<ReplyPermission>,
        max_subscriptions: u16,
    ) -> Self {
        Self {
            publish: SubjectPermission::only(publish),
            subscribe: SubjectPermission::only(subscribe),
            resp: reply,
            subs: i64::from(max_subscriptions),
            ..Self::unrestricted(account)
        }
    }

    /// Returns the account that it belongs to.
    #[must_use]
    pub fn account(&self) -> Option<&PublicKey> {
        self.issuer_account.as_ref()
    }
}

/// Subjects that a user may and may not use; both empty allows everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct SubjectPermission {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    allow: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    deny: Vec<String>,
}

impl SubjectPermission {
    fn only(allow: Vec<String>) -> Self {
        // An empty list would allow everything.
        let deny = if allow.is_empty() { vec![">".to_owned()] } else { Vec::new() };
        Self { allow, deny }
    }
}

/// Permission to reply to what was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyPermission {
    /// Most replies to a message.
    max: i32,
    /// Nanoseconds.
    ttl: i64,
}

impl ReplyPermission {
    /// Allows one reply to each message, within `ttl`.
    #[must_use]
    pub fn once_within(ttl: Duration) -> Self {
        Self { max: 1, ttl: i64::try_from(ttl.as_nanos()).unwrap_or(i64::MAX) }
    }
}
