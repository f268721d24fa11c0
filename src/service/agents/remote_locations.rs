//! The locations that have agents on other hosts.

use std::collections::BTreeSet;

use super::agent_service::AgentService;
use super::stored_agent::{agents, find_location};
use crate::catalog::record_settings::settings_or_skip;
use crate::domain::{CustomerId, Location, LocationId};
use crate::schema::typed::record::LocationSettings;
use crate::service::caller::ServiceError;

/// A location with agents on other hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteLocationRecord {
    /// The location.
    pub location: Location,
    /// The account that created it.
    pub customer: CustomerId,
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
        let mut locations = Vec::with_capacity(location_ids.len());
        for location_id in location_ids {
            let Some(record) = find_location(&*self.config_store, location_id).await? else { continue };
            let Some(settings) = settings_or_skip::<LocationSettings<'_>>(&record) else { continue };
            let (name, region_code) = (settings.name.to_owned(), settings.region);
            let location = Location { id: location_id, name, region_code };
            locations.push(RemoteLocationRecord {
                location,
                customer: record.customer,
                can_verify: settings.verifies,
            });
        }
        Ok(locations)
    }
}
