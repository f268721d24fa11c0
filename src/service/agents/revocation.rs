//! Revocation: an agent loses its connection at once, cannot renew its token, and does not get the next data key.

use std::time::Duration;

use serde_json::json;

use super::agent_service::{AgentService, concurrent_change};
use super::nats_trust::AGENT_TOKEN_LIFETIME;
use super::stored_agent::{agents, find_agent, next_revision};
use crate::bus::nats::push_account_jwt;
use crate::domain::{AgentId, ConfigRecordKind, Permission, Revision};
use crate::service::caller::{Caller, SavedObject, ServiceError};
use crate::store::AuditObject;

/// How long after the lifetime of its tokens an agent stays in the list of revoked ones: clocks differ.
const REVOCATION_MARGIN: Duration = Duration::from_hours(24);

impl AgentService {
    /// Revokes an agent and gives its location a new data key. The store has the revocation before NATS gets it; when NATS
    /// is away, the answer has a warning, and [`AgentService::push_account_jwt`] must follow once it is back.
    ///
    /// # Errors
    /// Fails without the permission, for an agent of another account, and when `if_match` is another revision.
    pub async fn revoke(
        &self,
        caller: &Caller,
        agent: AgentId,
        if_match: Option<Revision>,
    ) -> Result<SavedObject, ServiceError> {
        caller.require_permission(Permission::Administer)?;
        let mut saved = self.store_revocation(caller, agent, if_match).await?;
        if let Err(reason) = self.push_account_jwt().await {
            tracing::warn!(agent_id = agent.0, reason, "an agent is revoked, but NATS does not know it yet");
            saved.warnings.push(format!(
                "The agent is revoked, but NATS could not be told; it is told at the next connection. {reason}"
            ));
        }
        Ok(saved)
    }

    async fn store_revocation(
        &self,
        caller: &Caller,
        agent: AgentId,
        if_match: Option<Revision>,
    ) -> Result<SavedObject, ServiceError> {
        let _lock = self.edit_lock.lock().await;
        let found = find_agent(&*self.config_store, agent).await?;
        let found = found.filter(|found| found.record.customer == caller.customer);
        let found = found.ok_or(ServiceError::NotFound)?;
        if if_match.is_some_and(|expected| expected != found.record.revision) {
            return Err(ServiceError::PreconditionFailed);
        }
        let (id, revision) = (agent.0, found.record.revision.0);
        if found.revoked_at.is_some() {
            return Ok(SavedObject { id, revision, ..SavedObject::default() });
        }
        let now = self.clock.now();
        let mut keys = self.data_keys(found.location).await?;
        let name = found.record.fields.get("name").and_then(serde_json::Value::as_str).unwrap_or_default();
        let kind = ConfigRecordKind::Agent.name();
        let mut audit = caller.audit_entry(now, "revoke", kind, AuditObject::Id(id), name);
        audit.after.insert("revoked_at".to_owned(), json!(now.to_string()));
        let changes = vec![
            next_revision(&found.record, [("revoked_at", json!(now.to_string()))], now),
            keys.add(&self.keyring, found.record.customer, now)?,
        ];
        self.config_store.write_changes(changes, vec![audit]).await.map_err(concurrent_change)?;
        tracing::info!(agent_id = id, location_id = found.location.0, "an agent was revoked");
        self.changed.notify_one();
        let observer = self.revocation_observer.read().clone();
        if let Some(observer) = observer {
            observer(found.location, agent);
        }
        Ok(SavedObject { id, revision: revision + 1, ..SavedObject::default() })
    }

    /// Hands the current list of revoked agents to NATS. Call it at every connection, since the servers may have missed a
    /// change.
    ///
    /// # Errors
    /// Fails with the reason before `vigie nats init`, when the store fails, and when NATS is away or refuses the list.
    pub async fn push_account_jwt(&self) -> Result<(), String> {
        let _lock = self.push_lock.lock().await;
        let trust = self.trust().map_err(|_| "NATS is not set up".to_owned())?;
        let now = self.clock.now();
        // Older ones have no token that is still valid, and get none.
        let is_needed =
            |at: &crate::domain::Timestamp| now.since(*at) < AGENT_TOKEN_LIFETIME + REVOCATION_MARGIN;
        let all = agents(&*self.config_store, None).await.map_err(|error| format!("{error:?}"))?;
        let revoked: Vec<_> = all
            .into_iter()
            .filter_map(|agent| Some((agent.user, agent.revoked_at.filter(is_needed)?)))
            .collect();
        let jwt = trust.agents_account_jwt(&revoked, now).map_err(|error| error.to_string())?;
        let login =
            trust.system_login(std::sync::Arc::clone(&self.clock)).map_err(|error| error.to_string())?;
        login.check_urls(&trust.urls).map_err(|error| error.to_string())?;
        let options = login.connect_options().map_err(|error| error.to_string())?;
        push_account_jwt(&trust.urls, options, jwt).await.map_err(|error| error.to_string())
    }
}
