//! The agents of locations: what the other files of this folder share.

use std::sync::Arc;

use nkeys::XKey;

use super::data_keys::DataKeys;
use super::nats_trust::NatsTrust;
use super::stored_agent::{StoredAgent, find_location};
use crate::bus::nats::{AgentGrant, WrappedDataKey, wrap_data_key};
use crate::clock::Clock;
use crate::domain::{AgentId, LocationId};
use crate::service::accounts::LoginThrottle;
use crate::service::caller::ServiceError;
use crate::store::{ConfigStore, StoreError, ThrottleStore};
use crate::sync::RwLock;
use crate::vault::Keyring;

/// Called after a location got a new data key: all its assignments must be published again.
pub type RevocationObserver = Arc<dyn Fn(LocationId, AgentId) + Send + Sync>;

/// Dependencies of the use cases on agents.
#[derive(Clone)]
pub struct AgentServiceDependencies {
    /// Stores agents and data keys.
    pub config_store: Arc<dyn ConfigStore>,
    /// Stores the counters of the throttle of enrolments.
    pub throttle_store: Arc<dyn ThrottleStore>,
    /// Seals data keys.
    pub keyring: Arc<Keyring>,
    /// The keys of NATS; `None` before `vigie nats init`.
    pub trust: Option<Arc<NatsTrust>>,
    /// Supplies the time.
    pub clock: Arc<dyn Clock>,
}

/// Enrols, renews and revokes agents.
pub struct AgentService {
    pub(super) config_store: Arc<dyn ConfigStore>,
    pub(super) keyring: Arc<Keyring>,
    trust: Option<Arc<NatsTrust>>,
    pub(super) clock: Arc<dyn Clock>,
    /// Delays those who guess enrolment secrets.
    pub(super) throttle: LoginThrottle,
    /// Held during every change, so that two agents do not use up one secret, nor add one data key.
    pub(super) edit_lock: tokio::sync::Mutex<()>,
    /// Held while the list of revoked agents is sent, so that an older list never follows a newer one.
    pub(super) push_lock: tokio::sync::Mutex<()>,
    /// Wakes who follows the agents.
    pub(super) changed: tokio::sync::Notify,
    pub(super) revocation_observer: RwLock<Option<RevocationObserver>>,
}

impl AgentService {
    /// Creates the service.
    #[must_use]
    pub fn new(dependencies: AgentServiceDependencies) -> Self {
        let AgentServiceDependencies { config_store, throttle_store, keyring, trust, clock } = dependencies;
        let throttle = LoginThrottle::new(throttle_store, Arc::clone(&keyring), "enrolments");
        Self {
            config_store,
            keyring,
            trust,
            clock,
            throttle,
            edit_lock: tokio::sync::Mutex::new(()),
            push_lock: tokio::sync::Mutex::new(()),
            changed: tokio::sync::Notify::new(),
            revocation_observer: RwLock::default(),
        }
    }

    /// Waits until an agent enrolled or was revoked since the last call.
    pub async fn wait_for_change(&self) {
        self.changed.notified().await;
    }

    /// Calls `observer` after each revocation, with the location and the agent.
    pub fn observe_revocations(&self, observer: RevocationObserver) {
        *self.revocation_observer.write() = Some(observer);
    }

    /// Returns the keys of NATS.
    ///
    /// # Errors
    /// Fails before `vigie nats init`.
    pub fn trust(&self) -> Result<&Arc<NatsTrust>, ServiceError> {
        self.trust.as_ref().ok_or_else(|| {
            let message =
                "This server takes no agents: run `vigie nats init` on its host, then start it again";
            ServiceError::Conflict(message.to_owned())
        })
    }

    /// Returns the keys that seal for the agents of `location`; the newest one seals. A location without a key gets one.
    ///
    /// # Errors
    /// Fails for a location that is no record, and when the store fails.
    pub async fn location_keyring(&self, location: LocationId) -> Result<Keyring, ServiceError> {
        let _lock = self.edit_lock.lock().await;
        let mut keys = self.data_keys(location).await?;
        if keys.newest().is_none() {
            let record = find_location(&*self.config_store, location).await?;
            let customer = record.ok_or(ServiceError::NotFound)?.customer;
            let change = keys.add(&self.keyring, customer, self.clock.now())?;
            self.config_store.write_changes(vec![change], Vec::new()).await?;
        }
        Ok(Keyring::from_keys(keys.all()))
    }

    pub(super) async fn data_keys(&self, location: LocationId) -> Result<DataKeys, ServiceError> {
        DataKeys::load(&*self.config_store, &self.keyring, location).await
    }

    /// Returns a new token of `agent`, with all data keys of its location.
    pub(super) fn grant(&self, agent: &StoredAgent, keys: &DataKeys) -> Result<AgentGrant, ServiceError> {
        let trust = self.trust()?;
        let unusable = |error: &dyn std::fmt::Display| {
            ServiceError::Unavailable(format!("No token can be made for the agent: {error}"))
        };
        let (jwt, expires_at) = trust
            .agent_jwt(agent.location, agent.id, agent.user.clone(), self.clock.now())
            .map_err(|error| unusable(&error))?;
        let control_key = trust.exchange_key().map_err(|error| unusable(&error))?;
        let agent_key = XKey::from_public_key(&agent.exchange_key).map_err(|error| unusable(&error))?;
        let wrap = |(number, key): (&u32, &zeroize::Zeroizing<[u8; 32]>)| {
            wrap_data_key(&control_key, &agent_key, agent.location, *number, key)
        };
        let data_keys: Result<Vec<WrappedDataKey>, String> = keys.all().iter().map(wrap).collect();
        Ok(AgentGrant {
            agent_id: agent.id,
            location_id: agent.location,
            jwt,
            expires_at,
            nats_urls: trust.urls.clone(),
            nats_ca: trust.ca_pem.clone(),
            control_key: control_key.public_key(),
            data_keys: data_keys.map_err(|error| unusable(&error))?,
        })
    }
}

/// Turns a failed change into an error: somebody else changed the same record at the same time.
pub(super) fn concurrent_change(error: StoreError) -> ServiceError {
    match error {
        StoreError::Stale | StoreError::AlreadyExists(_) => {
            ServiceError::Conflict("The location or agent was changed at the same time; try again".to_owned())
        }
        other => ServiceError::from(other),
    }
}
