//! The credential of an agent in its data folder: its keys, which never leave it, and what the control plane granted.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_nats::ConnectOptions;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use nkeys::{KeyPair, KeyPairType, XKey};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::grant::{AgentGrant, DataKeyId, RenewalRequest, unwrap_data_keys};
use super::jwt::{PublicKey, Token, UserClaims, new_key, parse_seed};
use super::login::{NatsLogin, NatsServerTrust};
use super::subjects;
use crate::domain::{AgentId, LocationId, Timestamp};
use crate::sync::RwLock;

/// Name of the file in the data folder of an agent.
const FILE_NAME: &str = "agent.json";
/// Largest file, in bytes.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;
/// Version of the content.
const FORMAT: u32 = 1;

/// The credential cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the credential `{path}` {reason}")]
pub struct CredentialError {
    path: String,
    reason: String,
}

/// Content of the file.
#[derive(Clone, Serialize, Deserialize)]
struct Content {
    format: u32,
    /// URL of the API of the control plane.
    server_url: String,
    /// Authorities of that server besides those of the system, in PEM; empty for none.
    server_ca: String,
    user_seed: String,
    exchange_seed: String,
    grant: AgentGrant,
}

/// The keys of an agent that enrols.
pub struct NewCredential {
    user: KeyPair,
    exchange_key: XKey,
}

/// The credential of an enrolled agent. Clones share what is renewed.
#[derive(Clone)]
pub struct AgentCredential {
    path: PathBuf,
    user: Arc<KeyPair>,
    exchange_key: XKey,
    content: Arc<RwLock<Content>>,
}

impl NewCredential {
    /// Makes the keys.
    ///
    /// # Errors
    /// Fails when the system gives no random numbers, and when the folder has a credential already.
    pub fn create(data_dir: &Path) -> Result<Self, CredentialError> {
        let path = data_dir.join(FILE_NAME);
        if path.try_exists().map_err(|error| failure(&path, format!("cannot be read: {error}")))? {
            let reason =
                "exists already: this agent is enrolled\nhint: name another folder with `--data DIR`";
            return Err(failure(&path, reason));
        }
        let user = new_key(KeyPairType::User).map_err(|error| failure(&path, error.to_string()))?;
        let mut random = Zeroizing::new([0; 32]);
        aws_lc_rs::rand::fill(random.as_mut_slice())
            .map_err(|_| failure(&path, "cannot be made: the system gives no random numbers"))?;
        Ok(Self { user, exchange_key: XKey::new_from_raw(*random) })
    }

    /// Returns the NATS key of the agent.
    #[must_use]
    pub fn public_key(&self) -> String {
        self.user.public_key()
    }

    /// Returns the X25519 key of the agent.
    #[must_use]
    pub fn exchange_public_key(&self) -> String {
        self.exchange_key.public_key()
    }

    /// Writes the credential into `data_dir`, readable by its owner only.
    ///
    /// # Errors
    /// Fails for a grant that is not for these keys, and when the file cannot be written.
    pub fn save(
        self,
        data_dir: &Path,
        server: (String, String),
        grant: AgentGrant,
    ) -> Result<AgentCredential, CredentialError> {
        let path = data_dir.join(FILE_NAME);
        let seed = |seed: Result<String, _>| {
            seed.map_err(|error: nkeys::error::Error| failure(&path, error.to_string()))
        };
        let content = Content {
            format: FORMAT,
            server_url: server.0,
            server_ca: server.1,
            user_seed: seed(self.user.seed())?,
            exchange_seed: seed(self.exchange_key.seed())?,
            grant,
        };
        let credential = AgentCredential::from_content(path, content)?;
        credential.write(&credential.content.read())?;
        Ok(credential)
    }
}

impl AgentCredential {
    /// Reads the credential in `data_dir`.
    ///
    /// # Errors
    /// Fails when it is missing, damaged, or readable by others.
    pub fn read(data_dir: &Path) -> Result<Self, CredentialError> {
        let path = data_dir.join(FILE_NAME);
        let read_error = |error: std::io::Error| {
            let hint = if error.kind() == ErrorKind::NotFound {
                "\nhint: `vigie agent enrol` makes one"
            } else {
                ""
            };
            failure(&path, format!("cannot be read: {error}{hint}"))
        };
        let file = File::open(&path).map_err(read_error)?;
        let mode = file.metadata().map_err(read_error)?.mode() & 0o7777;
        if mode & 0o077 != 0 {
            let reason =
                format!("may be read by others (mode {mode:03o})\nhint: `chmod 600 {}`", path.display());
            return Err(failure(&path, reason));
        }
        let mut bytes = Zeroizing::new(Vec::new());
        file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(read_error)?;
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(failure(&path, "is too large"));
        }
        let content: Content = serde_json::from_slice(&bytes)
            .map_err(|error| failure(&path, format!("is damaged in line {}", error.line())))?;
        if content.format != FORMAT {
            let reason = format!("has format {}; this version reads {FORMAT}", content.format);
            return Err(failure(&path, reason));
        }
        Self::from_content(path, content)
    }

    fn from_content(path: PathBuf, content: Content) -> Result<Self, CredentialError> {
        let damaged = |reason: String| failure(&path, format!("is damaged: {reason}"));
        let user =
            parse_seed(&content.user_seed, &KeyPairType::User).map_err(|error| damaged(error.to_string()))?;
        let exchange_key = (content.exchange_seed.len() == 58)
            .then(|| XKey::from_seed(&content.exchange_seed).ok())
            .flatten()
            .ok_or_else(|| damaged("its X25519 key cannot be read".to_owned()))?;
        check_grant(&user, &exchange_key, &content.grant).map_err(damaged)?;
        Ok(Self { path, user: Arc::new(user), exchange_key, content: Arc::new(RwLock::new(content)) })
    }

    /// Returns the id of the agent.
    #[must_use]
    pub fn agent_id(&self) -> AgentId {
        self.content.read().grant.agent_id
    }

    /// Returns the location of the agent.
    #[must_use]
    pub fn location_id(&self) -> LocationId {
        self.content.read().grant.location_id
    }

    /// Returns the URL of the API of the control plane, and its authorities in PEM besides those of the system.
    #[must_use]
    pub fn server(&self) -> (String, String) {
        let content = self.content.read();
        (content.server_url.clone(), content.server_ca.clone())
    }

    /// Returns the URLs of NATS.
    #[must_use]
    pub fn nats_urls(&self) -> Vec<String> {
        self.content.read().grant.nats_urls.clone()
    }

    /// Returns when the token expires.
    #[must_use]
    pub fn expires_at(&self) -> Timestamp {
        self.content.read().grant.expires_at
    }

    /// Returns when the token should be renewed: after half of its life.
    #[must_use]
    pub fn renewal_due_at(&self) -> Timestamp {
        let grant = &self.content.read().grant;
        let issued_at = Token::<UserClaims>::decode(&grant.jwt).map(|(token, _)| token.issued_at);
        match issued_at {
            Ok(issued_at) => issued_at + grant.expires_at.since(issued_at) / 2,
            Err(_) => grant.expires_at - Duration::from_hours(12),
        }
    }

    /// Returns the options of a connection to NATS. Each connection uses the newest token.
    ///
    /// # Errors
    /// Fails for an authority that cannot be used, and for a server that is neither reached over TLS nor on this host.
    pub fn connect_options(&self) -> Result<ConnectOptions, CredentialError> {
        let (urls, trust) = {
            let grant = &self.content.read().grant;
            (grant.nats_urls.clone(), NatsServerTrust::from_authority(&grant.nats_ca))
        };
        let content = Arc::clone(&self.content);
        let token = Arc::new(move || Ok(content.read().grant.jwt.clone()));
        let login = NatsLogin::new(Arc::clone(&self.user), token, trust);
        let error = |error: &dyn std::fmt::Display| failure(&self.path, format!("cannot be used: {error}"));
        login.check_urls(&urls).map_err(|reason| error(&reason))?;
        let options = login.connect_options().map_err(|reason| error(&reason))?;
        let (location, agent) = (self.location_id(), self.agent_id());
        Ok(options
            .custom_inbox_prefix(subjects::inbox_prefix(location, agent))
            .name(format!("vigie agent {agent} of location {location}")))
    }

    /// Returns the data keys of the location; the highest number seals.
    ///
    /// # Errors
    /// Fails when one is not for this agent.
    pub fn data_keys(&self) -> Result<BTreeMap<DataKeyId, Zeroizing<[u8; 32]>>, CredentialError> {
        let content = self.content.read();
        grant_keys(&self.exchange_key, &content.grant)
            .map_err(|reason| failure(&self.path, format!("is damaged: {reason}")))
    }

    /// Returns the request for a new token over the bus.
    #[must_use]
    pub fn renewal_request(&self, version: &str) -> RenewalRequest {
        let newest_data_key = self.content.read().grant.data_keys.iter().map(|key| key.id).max().unwrap_or(0);
        RenewalRequest { version: version.to_owned(), newest_data_key }
    }

    /// Signs `text` with the key of the agent; returns Base64 for URLs without padding.
    ///
    /// # Errors
    /// Never fails for a credential that was read.
    pub fn sign(&self, text: &str) -> Result<String, CredentialError> {
        let signature = self.user.sign(text.as_bytes());
        let signature = signature.map_err(|error| failure(&self.path, error.to_string()))?;
        Ok(URL_SAFE_NO_PAD.encode(signature))
    }

    /// Takes a new grant and writes it. The old one stays when the new one is not for this agent, or comes from another
    /// control plane.
    ///
    /// # Errors
    /// Fails then, and when the file cannot be written.
    pub fn apply(&self, grant: AgentGrant) -> Result<(), CredentialError> {
        let refused = |reason: String| failure(&self.path, format!("does not take the new grant: {reason}"));
        check_grant(&self.user, &self.exchange_key, &grant).map_err(refused)?;
        let mut content = self.content.write();
        let old = &content.grant;
        if (grant.agent_id, grant.location_id) != (old.agent_id, old.location_id) {
            return Err(refused("it is for another agent".to_owned()));
        }
        // Only the control plane at which the agent enrolled may replace its data keys.
        if grant.control_key != old.control_key {
            return Err(refused("its data keys come from another control plane".to_owned()));
        }
        let new = Content { grant, ..content.clone() };
        self.write(&new)?;
        *content = new;
        Ok(())
    }

    /// Replaces the file; after a crash, either the old or the new one exists.
    fn write(&self, content: &Content) -> Result<(), CredentialError> {
        let write = || -> std::io::Result<()> {
            let folder = self.path.parent().unwrap_or(Path::new("."));
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
            let bytes = Zeroizing::new(serde_json::to_vec_pretty(content)?);
            let temporary = self.path.with_extension("json.new");
            match std::fs::remove_file(&temporary) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
            file.write_all(&bytes)?;
            file.sync_all()?;
            std::fs::rename(&temporary, &self.path)?;
            File::open(folder)?.sync_all()
        };
        write().map_err(|error| failure(&self.path, format!("cannot be written: {error}")))
    }
}

/// Checks that the grant is for these keys: its token names the user, and its data keys open.
fn check_grant(user: &KeyPair, exchange_key: &XKey, grant: &AgentGrant) -> Result<(), String> {
    let (token, _) = Token::<UserClaims>::decode(&grant.jwt).map_err(|error| error.to_string())?;
    if token.subject != PublicKey::of(user) {
        return Err("its token is for another key".to_owned());
    }
    grant_keys(exchange_key, grant).map(|_| ())
}

fn grant_keys(
    exchange_key: &XKey,
    grant: &AgentGrant,
) -> Result<BTreeMap<DataKeyId, Zeroizing<[u8; 32]>>, String> {
    let control_key = (grant.control_key.len() == 56)
        .then(|| XKey::from_public_key(&grant.control_key).ok())
        .flatten()
        .ok_or("the key of the control plane cannot be read")?;
    unwrap_data_keys(exchange_key, &control_key, grant.location_id, &grant.data_keys)
}

fn failure(path: &Path, reason: impl Into<String>) -> CredentialError {
    CredentialError { path: path.display().to_string(), reason: reason.into() }
}
