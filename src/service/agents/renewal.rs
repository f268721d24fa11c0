//! Renewal of the token of an agent: over the bus before it expires, over HTTPS with its key afterwards.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;

use super::agent_service::AgentService;
use super::data_keys::DataKeys;
use super::stored_agent::{StoredAgent, agents, find_agent, next_revision};
use crate::bus::nats::{AgentGrant, RenewalRequest};
use crate::domain::{AgentId, LocationId, Timestamp};
use crate::schema::typed::request::AgentRenewalRequest;
use crate::service::caller::ServiceError;

/// How far the clock of an agent may be off.
const MAX_CLOCK_DIFFERENCE: Duration = Duration::from_mins(10);
/// Most characters of the version of a program.
const MAX_VERSION_CHARS: usize = 64;

/// What an agent signs to prove that it has its key.
#[derive(Clone, Copy, Debug)]
pub struct RenewalProof<'a> {
    /// Its id.
    pub agent: AgentId,
    /// When it made the request.
    pub time: &'a str,
    /// Random text.
    pub nonce: &'a str,
}

impl RenewalProof<'_> {
    /// Returns the signed text.
    #[must_use]
    pub fn text(&self) -> String {
        let Self { agent, time, nonce } = self;
        format!("vigie-renew\n{agent}\n{time}\n{nonce}")
    }
}

impl AgentService {
    /// Renews the token of an agent that proves with a signature that it has its key. A repeated request does no harm:
    /// only the owner of the key can use the token.
    ///
    /// # Errors
    /// Fails alike for an agent that is unknown or revoked and for a wrong signature; for a clock that is too far off.
    pub async fn renew_with_proof(
        &self,
        agent: AgentId,
        request: AgentRenewalRequest<'_>,
    ) -> Result<AgentGrant, ServiceError> {
        let proof = RenewalProof { agent, time: request.time, nonce: request.nonce };
        let signature = URL_SAFE_NO_PAD.decode(request.signature).unwrap_or_default();
        let stored = self.find_active(agent).await?;
        let stored = stored.filter(|stored| stored.user.verify(proof.text().as_bytes(), &signature));
        let stored = stored.ok_or_else(refused)?;
        let now = self.clock.now();
        let requested_at = Timestamp::parse(request.time).ok_or_else(|| clock_error(request.time, now))?;
        if requested_at.since(now).max(now.since(requested_at)) > MAX_CLOCK_DIFFERENCE {
            return Err(clock_error(request.time, now));
        }
        let newest_data_key = u32::try_from(request.newest_data_key).unwrap_or_default();
        self.renew_stored(stored, RenewalRequest { version: request.version.to_owned(), newest_data_key })
            .await
    }

    /// Renews the token of an agent whose request came over the bus, where the server knows who sent it.
    ///
    /// # Errors
    /// Fails for an agent that is unknown, revoked or of another location.
    pub async fn renew_over_bus(
        &self,
        location: LocationId,
        agent: AgentId,
        request: RenewalRequest,
    ) -> Result<AgentGrant, ServiceError> {
        let stored = self.find_active(agent).await?;
        let stored = stored.filter(|stored| stored.location == location).ok_or_else(refused)?;
        self.renew_stored(stored, request).await
    }

    async fn find_active(&self, agent: AgentId) -> Result<Option<StoredAgent>, ServiceError> {
        let stored = find_agent(&*self.config_store, agent).await?;
        Ok(stored.filter(|stored| stored.revoked_at.is_none()))
    }

    async fn renew_stored(
        &self,
        agent: StoredAgent,
        request: RenewalRequest,
    ) -> Result<AgentGrant, ServiceError> {
        let _lock = self.edit_lock.lock().await;
        // It may have been revoked meanwhile.
        let agent = self.find_active(agent.id).await?.ok_or_else(refused)?;
        let mut keys = self.data_keys(agent.location).await?;
        let now = self.clock.now();
        let version: String = request.version.chars().take(MAX_VERSION_CHARS).collect();
        // A key that does not exist was not received.
        let data_key = request.newest_data_key.min(keys.newest().unwrap_or(0));
        let mut changes = Vec::new();
        if agent.record.fields.get("version") != Some(&json!(version)) || agent.data_key != data_key {
            let fields = [("version", json!(version)), ("data_key", json!(data_key))];
            changes.push(next_revision(&agent.record, fields, now));
        }
        if keys.newest().is_none() {
            changes.push(keys.add(&self.keyring, agent.record.customer, now)?);
        }
        changes.extend(self.removal_of_old_keys(&keys, &agent, data_key).await?);
        if !changes.is_empty() {
            self.config_store.write_changes(changes, Vec::new()).await?;
        }
        self.grant(&agent, &keys)
    }

    /// Returns the changes that remove the data keys that no agent needs any more. The grant may still contain them.
    async fn removal_of_old_keys(
        &self,
        keys: &DataKeys,
        agent: &StoredAgent,
        data_key: u32,
    ) -> Result<Vec<crate::store::ConfigChange>, ServiceError> {
        if keys.newest() != Some(data_key) || keys.all().len() < 2 {
            return Ok(Vec::new());
        }
        let others = agents(&*self.config_store, Some(agent.location)).await?;
        let lags = |other: &StoredAgent| {
            other.id != agent.id && other.revoked_at.is_none() && other.data_key < data_key
        };
        if others.iter().any(lags) { Ok(Vec::new()) } else { Ok(keys.removal_before(data_key)) }
    }
}

fn refused() -> ServiceError {
    let message = "The agent is unknown or revoked, or the signature is not that of its key; enrol it again";
    ServiceError::Forbidden(message.to_owned())
}

fn clock_error(time: &str, now: Timestamp) -> ServiceError {
    let minutes = MAX_CLOCK_DIFFERENCE.as_secs() / 60;
    let message = format!(
        "`time` is {time}, more than {minutes} minutes from the time of the server, {now}; set the clock"
    );
    let kind = crate::syntax::ValidationErrorKind::Conflict;
    ServiceError::Invalid(vec![crate::syntax::ValidationError::new(
        kind,
        "time",
        crate::syntax::node::Position::default(),
        message,
    )])
}
