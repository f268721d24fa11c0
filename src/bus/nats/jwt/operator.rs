//! What the token of an operator says.

use nkeys::KeyPairType;
use serde::{Deserialize, Serialize};

use super::key::PublicKey;
use super::token::Claims;

/// An operator: which keys sign its accounts, and which of them is the system's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperatorClaims {
    /// Keys besides its own that sign its accounts.
    #[serde(default)]
    pub signing_keys: Vec<PublicKey>,
    /// The account whose users may change accounts.
    pub system_account: PublicKey,
    /// Whether only the signing keys sign, never the own key of an operator or account.
    #[serde(default)]
    pub strict_signing_key_usage: bool,
}

impl Claims for OperatorClaims {
    const TYPE: &'static str = "operator";
    const SUBJECT: KeyPairType = KeyPairType::Operator;
    const ISSUER: KeyPairType = KeyPairType::Operator;
}
