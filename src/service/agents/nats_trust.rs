//! The keys of an installation of NATS: who signs which token.
//!
//! The operator signs the accounts; an account signs its users. Three accounts exist: the system's, that of the control
//! plane with the streams, and that of the agents. Only the signing keys are kept. The keys after which operator and
//! accounts are named have signed once, and are forgotten.

use std::fmt;
use std::sync::Arc;

use nkeys::{KeyPair, KeyPairType, XKey};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::bus::nats::jwt::{
    AccountClaims, Export, Import, JetStreamLimits, JwtError, OperatorClaims, PublicKey, ReplyPermission,
    ShareType, Token, UserClaims, new_key, parse_seed,
};
use crate::bus::nats::subjects::{self, Flow};
use crate::bus::nats::{NatsLogin, NatsServerTrust};
use crate::clock::Clock;
use crate::domain::{AgentId, LocationId, Timestamp};

/// Lifetime of the token of an agent.
pub const AGENT_TOKEN_LIFETIME: std::time::Duration = std::time::Duration::from_hours(24);
/// Lifetime of a token that the control plane makes for one connection of its own.
const CONTROL_TOKEN_LIFETIME: std::time::Duration = std::time::Duration::from_hours(24 * 365);
/// Most subscriptions of an agent: its four, and one for each request that is open.
const MAX_AGENT_SUBSCRIPTIONS: u16 = 256;
/// How far the clock of the NATS server may be behind that of the control plane.
const BACKDATE: std::time::Duration = std::time::Duration::from_mins(5);

/// The keys and addresses of an installation of NATS. Everything that signs is in it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NatsTrust {
    /// URLs of the servers.
    pub urls: Vec<String>,
    /// Certificate of the authority of the servers, in PEM.
    pub ca_pem: String,
    /// Key of that authority, in PEM.
    pub(super) ca_key_pem: SecretText,
    /// Seed of the key that signs accounts.
    operator_signing_seed: SecretText,
    system: AccountKeys,
    control: AccountKeys,
    agents: AccountKeys,
    /// Seed of the X25519 key that wraps data keys for agents.
    exchange_seed: SecretText,
}

/// A secret, which is overwritten when it is dropped.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub(super) struct SecretText(Zeroizing<String>);

impl From<String> for SecretText {
    fn from(text: String) -> Self {
        Self(Zeroizing::new(text))
    }
}

impl From<SecretText> for String {
    fn from(text: SecretText) -> Self {
        text.as_str().to_owned()
    }
}

impl SecretText {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

/// An account and the seed of the key that signs its users.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct AccountKeys {
    account: PublicKey,
    signing_seed: SecretText,
}

/// What a new server needs besides its TLS files. None of it is secret.
pub struct ServerTokens {
    /// Token of the operator.
    pub operator_jwt: String,
    /// The system's account.
    pub system_account: PublicKey,
    /// Tokens of the accounts.
    pub account_jwts: Vec<(PublicKey, String)>,
}

/// Never shows a key.
impl fmt::Debug for NatsTrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsTrust").field("urls", &self.urls).finish_non_exhaustive()
    }
}

impl NatsTrust {
    /// Makes all keys, and the tokens with which the servers start.
    ///
    /// # Errors
    /// Fails when the system gives no random numbers.
    pub fn create(
        urls: Vec<String>,
        (ca_pem, ca_key_pem): (String, String),
        now: Timestamp,
    ) -> Result<(Self, ServerTokens), JwtError> {
        let operator = new_key(KeyPairType::Operator)?;
        let operator_signing = new_key(KeyPairType::Operator)?;
        let mut exchange_key = Zeroizing::new([0; 32]);
        aws_lc_rs::rand::fill(exchange_key.as_mut_slice())
            .map_err(|_| JwtError::NotCreated("the system gives no random numbers".to_owned()))?;
        let trust = Self {
            urls,
            ca_pem,
            ca_key_pem: ca_key_pem.into(),
            operator_signing_seed: seed_of(&operator_signing)?,
            system: AccountKeys::create()?,
            control: AccountKeys::create()?,
            agents: AccountKeys::create()?,
            exchange_seed: XKey::new_from_raw(*exchange_key)
                .seed()
                .map(SecretText::from)
                .map_err(|error| JwtError::NotCreated(error.to_string()))?,
        };
        let operator_jwt = Token {
            subject: PublicKey::of(&operator),
            name: "Vigie".to_owned(),
            issued_at: now,
            expires_at: None,
            claims: OperatorClaims {
                signing_keys: vec![PublicKey::of(&operator_signing)],
                system_account: trust.system.account.clone(),
                strict_signing_key_usage: true,
            },
        };
        let tokens = ServerTokens {
            operator_jwt: operator_jwt.encode(&operator)?,
            system_account: trust.system.account.clone(),
            account_jwts: vec![
                (trust.system.account.clone(), trust.system_account_jwt(now)?),
                (trust.control.account.clone(), trust.control_account_jwt(now)?),
                (trust.agents.account.clone(), trust.agents_account_jwt(&[], now)?),
            ],
        };
        Ok((trust, tokens))
    }

    /// Returns the login of the control plane, which may do everything in the account of the streams.
    ///
    /// # Errors
    /// Fails when no key can be made.
    pub fn control_login(&self, clock: Arc<dyn Clock>) -> Result<NatsLogin, JwtError> {
        self.own_login(&self.control, "vigie control plane", clock)
    }

    /// Returns the login of a user of the system's account, who may change accounts.
    ///
    /// # Errors
    /// Fails when no key can be made.
    pub fn system_login(&self, clock: Arc<dyn Clock>) -> Result<NatsLogin, JwtError> {
        self.own_login(&self.system, "vigie system user", clock)
    }

    /// Returns a login with a key that exists in this process only.
    fn own_login(
        &self,
        keys: &AccountKeys,
        name: &str,
        clock: Arc<dyn Clock>,
    ) -> Result<NatsLogin, JwtError> {
        let user = new_key(KeyPairType::User)?;
        let (subject, keys, name) = (PublicKey::of(&user), keys.clone(), name.to_owned());
        let make_token = move || -> Result<String, JwtError> {
            let now = clock.now();
            let token = Token {
                subject: subject.clone(),
                name: name.clone(),
                issued_at: now - BACKDATE,
                expires_at: Some(now + CONTROL_TOKEN_LIFETIME),
                claims: UserClaims::unrestricted(keys.account.clone()),
            };
            token.encode(&keys.signing_key()?)
        };
        let token = Arc::new(move || make_token().map_err(|error| error.to_string()));
        Ok(NatsLogin::new(Arc::new(user), token, self.server_trust()))
    }

    fn server_trust(&self) -> NatsServerTrust {
        NatsServerTrust::from_authority(&self.ca_pem)
    }

    /// Returns a token of the agent `agent` of `location` with the key `user`, and when it expires.
    ///
    /// # Errors
    /// Fails for a key that is not that of a user.
    pub fn agent_jwt(
        &self,
        location: LocationId,
        agent: AgentId,
        user: PublicKey,
        now: Timestamp,
    ) -> Result<(String, Timestamp), JwtError> {
        let permissions = subjects::agent_permissions(location, agent);
        let expires_at = now + AGENT_TOKEN_LIFETIME;
        let token = Token {
            subject: user,
            name: format!("agent {agent} of location {location}"),
            issued_at: now,
            expires_at: Some(expires_at),
            claims: UserClaims::restricted(
                self.agents.account.clone(),
                permissions.publish,
                permissions.subscribe,
                Some(ReplyPermission::once_within(subjects::ORDER_REPLY_TTL)),
                MAX_AGENT_SUBSCRIPTIONS,
            ),
        };
        Ok((token.encode(&self.agents.signing_key()?)?, expires_at))
    }

    /// Returns the token of the agents' account, with the agents that are revoked: the tokens of each up to its time.
    ///
    /// # Errors
    /// Fails for too many revocations.
    pub fn agents_account_jwt(
        &self,
        revocations: &[(PublicKey, Timestamp)],
        now: Timestamp,
    ) -> Result<String, JwtError> {
        let (exports, imports) = shared(&self.control.account, Side::Agents);
        let mut claims = AccountClaims::new(self.agents.signing_public_key()?).with_shared(exports, imports);
        for (user, until) in revocations {
            claims.revoke(user.clone(), *until);
        }
        self.account_jwt(&self.agents.account, "agents", claims, now)
    }

    fn control_account_jwt(&self, now: Timestamp) -> Result<String, JwtError> {
        let (exports, imports) = shared(&self.agents.account, Side::Control);
        let claims = AccountClaims::new(self.control.signing_public_key()?)
            .with_jetstream(JetStreamLimits::default())
            .with_shared(exports, imports);
        self.account_jwt(&self.control.account, "control plane", claims, now)
    }

    fn system_account_jwt(&self, now: Timestamp) -> Result<String, JwtError> {
        let claims = AccountClaims::new(self.system.signing_public_key()?);
        self.account_jwt(&self.system.account, "SYS", claims, now)
    }

    fn account_jwt(
        &self,
        account: &PublicKey,
        name: &str,
        claims: AccountClaims,
        now: Timestamp,
    ) -> Result<String, JwtError> {
        let name = name.to_owned();
        let token = Token { subject: account.clone(), name, issued_at: now, expires_at: None, claims };
        token.encode(&parse_seed(self.operator_signing_seed.as_str(), &KeyPairType::Operator)?)
    }

    /// Returns the X25519 key that wraps data keys for agents.
    ///
    /// # Errors
    /// Fails when the stored seed is damaged.
    pub fn exchange_key(&self) -> Result<XKey, JwtError> {
        XKey::from_seed(self.exchange_seed.as_str()).map_err(|_| JwtError::WrongKey("different"))
    }
}

impl AccountKeys {
    fn create() -> Result<Self, JwtError> {
        let account = PublicKey::of(&new_key(KeyPairType::Account)?);
        let signing_seed = seed_of(&new_key(KeyPairType::Account)?)?;
        Ok(Self { account, signing_seed })
    }

    fn signing_key(&self) -> Result<KeyPair, JwtError> {
        parse_seed(self.signing_seed.as_str(), &KeyPairType::Account)
    }

    fn signing_public_key(&self) -> Result<PublicKey, JwtError> {
        Ok(PublicKey::of(&self.signing_key()?))
    }
}

fn seed_of(key: &KeyPair) -> Result<SecretText, JwtError> {
    key.seed().map(SecretText::from).map_err(|error| JwtError::NotCreated(error.to_string()))
}

/// One of the two accounts that share subjects.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Control,
    Agents,
}

/// Returns what the account of `side` exports, and what it imports from the account `other`.
fn shared(other: &PublicKey, side: Side) -> (Vec<Export>, Vec<Import>) {
    let (mut exports, mut imports) = (Vec::new(), Vec::new());
    for one in subjects::shared_subjects() {
        let subject = one.subject.as_str();
        let exporter = if one.flow == Flow::Order { Side::Agents } else { Side::Control };
        let (export, share_type) = match one.flow {
            Flow::Request => (Export::service(subject, None), ShareType::Service),
            Flow::RequestOfMany => (Export::service_of_many(subject), ShareType::Service),
            Flow::Broadcast => (Export::stream(subject), ShareType::Stream),
            Flow::Order => (Export::service(subject, Some(subjects::ORDER_REPLY_TTL)), ShareType::Service),
        };
        if exporter == side {
            exports.push(export);
        } else {
            imports.push(Import::new(subject, &one.imported_as, other.clone(), share_type));
        }
    }
    (exports, imports)
}
