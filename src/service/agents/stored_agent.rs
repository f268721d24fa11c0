//! Agents and locations as they are stored.

use crate::bus::nats::jwt::PublicKey;
use crate::domain::{AgentId, ConfigRecord, ConfigRecordKind, LocationId, Timestamp};
use crate::schema::typed::record::{AgentSettings, parse_record};
use crate::service::caller::ServiceError;
use crate::store::{ConfigRecordFilter, ConfigStore, Pagination, StoreError};

/// An agent.
#[derive(Clone, Debug)]
pub(super) struct StoredAgent {
    pub(super) id: AgentId,
    pub(super) location: LocationId,
    pub(super) user: PublicKey,
    pub(super) exchange_key: String,
    pub(super) data_key: u32,
    pub(super) revoked_at: Option<Timestamp>,
    pub(super) record: ConfigRecord,
}

impl StoredAgent {
    /// Reads the agent in `record`.
    pub(super) fn from_record(record: ConfigRecord) -> Result<Self, ServiceError> {
        let settings: AgentSettings<'_> = parse_record(&record)?;
        let damaged = || ServiceError::Unavailable(format!("The record of agent {} is damaged", record.id));
        Ok(Self {
            id: AgentId(record.id),
            location: LocationId(record.parent_id.ok_or_else(damaged)?),
            user: PublicKey::try_from(settings.public_key.to_owned()).map_err(|_| damaged())?,
            exchange_key: settings.exchange_key.to_owned(),
            data_key: u32::try_from(settings.data_key).map_err(|_| damaged())?,
            revoked_at: settings.revoked_at.map(|at| Timestamp::parse(at).ok_or_else(damaged)).transpose()?,
            record,
        })
    }
}

/// Returns the agent `id`; `None` when there is none.
pub(super) async fn find_agent(
    config_store: &dyn ConfigStore,
    id: AgentId,
) -> Result<Option<StoredAgent>, ServiceError> {
    let record = config_store.record(ConfigRecordKind::Agent, id.0).await?;
    record.map(StoredAgent::from_record).transpose()
}

/// Returns the agents of `location`, or of all locations.
pub(super) async fn agents(
    config_store: &dyn ConfigStore,
    location: Option<LocationId>,
) -> Result<Vec<StoredAgent>, ServiceError> {
    let parent_ids = location.iter().map(|location| location.0).collect();
    let filter = ConfigRecordFilter { parent_ids, ..ConfigRecordFilter::new(ConfigRecordKind::Agent) };
    let records = config_store.records(filter, Pagination::ALL).await?;
    records.items.into_iter().map(StoredAgent::from_record).collect()
}

/// Returns the location `id`, which is a record; those of the settings have no agents on other hosts.
pub(super) async fn find_location(
    config_store: &dyn ConfigStore,
    id: LocationId,
) -> Result<Option<ConfigRecord>, StoreError> {
    config_store.record(ConfigRecordKind::Location, id.0).await
}

/// Returns `record` with these fields, as its next revision.
pub(super) fn next_revision(
    record: &ConfigRecord,
    fields: impl IntoIterator<Item = (&'static str, serde_json::Value)>,
    now: Timestamp,
) -> crate::store::ConfigChange {
    let expected = record.revision;
    let mut record = record.clone();
    record.revision = crate::domain::Revision(expected.0 + 1);
    record.modified_at = now;
    record.fields.extend(fields.into_iter().map(|(name, value)| (name.to_owned(), value)));
    crate::store::ConfigChange::UpdateRecord { record: Box::new(record), expected }
}
