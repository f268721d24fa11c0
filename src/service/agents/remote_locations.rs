//! The locations that have agents on other hosts.

use std::collections::{BTreeSet, HashMap};

use super::agent_service::AgentService;
use super::stored_agent::agents;
use crate::bus::nats::DataKeyId;
use crate::catalog::record_settings::settings_or_skip;
use crate::domain::{ConfigRecordKind, CustomerId, Location, LocationId};
use crate::schema::typed::record::{LocationKeySettings, LocationSettings, parse_record};
use crate::service::caller::ServiceError;
use crate::store::{ConfigRecordFilter, Pagination};

/// A location with agents on other hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteLocationRecord {
    /// The location.
    pub location: Location,
    /// The account that created it.
    pub customer: CustomerId,
    /// Whether all accounts may use it.
    pub is_shared: bool,
    /// Whether it verifies failures of monitors that do not run there.
    pub can_verify: bool,
}

impl AgentService {
    /// Returns the locations with at least one agent that is not revoked.
    ///
    /// # Errors
    /// Fails when the store fails.
    pub async fn remote_locations(&self) -> Result<Vec<RemoteLocationRecord>, ServiceError> {
        let all = agents(&*self.config_store, None).await?;
        let active = all.iter().filter(|agent| agent.revoked_at.is_none());
        let location_ids: BTreeSet<LocationId> = active.map(|agent| agent.location).collect();
        // One query, since there may be a thousand locations.
        let filter = ConfigRecordFilter::new(ConfigRecordKind::Location);
        let records = self.config_store.records(filter, Pagination::ALL).await?.items;
        let to_location = |record: &crate::domain::ConfigRecord| {
            let location_id = LocationId(record.id);
            let settings = settings_or_skip::<LocationSettings<'_>>(record)
                .filter(|_| location_ids.contains(&location_id))?;
            let (name, region_code) = (settings.name.to_owned(), settings.region);
            let location = Location { id: location_id, name, region_code };
            let is_shared = record.customer == CustomerId::OPERATOR && !settings.private;
            Some(RemoteLocationRecord {
                location,
                customer: record.customer,
                is_shared,
                can_verify: settings.verifies,
            })
        };
        Ok(records.iter().filter_map(to_location).collect())
    }

    /// Returns the number of the newest data key of each location that has one.
    ///
    /// # Errors
    /// Fails when the store fails, and for a damaged record.
    pub async fn newest_data_keys(&self) -> Result<HashMap<LocationId, DataKeyId>, ServiceError> {
        let filter = ConfigRecordFilter::new(ConfigRecordKind::LocationKey);
        let mut newest = HashMap::new();
        for record in self.config_store.records(filter, Pagination::ALL).await?.items {
            let settings: LocationKeySettings = parse_record(&record)?;
            // A number out of range is reported when the key is read.
            let number = DataKeyId::try_from(settings.number).unwrap_or_default();
            let location = LocationId(record.parent_id.unwrap_or_default());
            let known = newest.entry(location).or_insert(number);
            *known = number.max(*known);
        }
        Ok(newest)
    }
}
