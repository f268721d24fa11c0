//! The data keys of a location: they seal the secrets of monitors for its agents. The newest one seals; older ones open
//! what was sealed before, and are removed when every agent of the location has the newest.

use std::collections::BTreeMap;

use serde_json::{Map, json};
use zeroize::Zeroizing;

use crate::bus::nats::DataKeyId;
use crate::domain::{ConfigRecord, ConfigRecordKind, CustomerId, LocationId, Revision, Timestamp};
use crate::schema::typed::record::{LocationKeySettings, parse_record};
use crate::service::caller::ServiceError;
use crate::store::{
    ConfigChange, ConfigRecordFilter, ConfigStore, NewConfigRecord, Pagination, seal_context,
};
use crate::vault::Keyring;

/// A data key.
type DataKey = Zeroizing<[u8; 32]>;

/// The data keys of one location.
pub(super) struct DataKeys {
    location: LocationId,
    keys: BTreeMap<DataKeyId, DataKey>,
    records: BTreeMap<DataKeyId, (i64, Revision)>,
}

impl DataKeys {
    /// Reads and opens the keys of `location`.
    pub(super) async fn load(
        config_store: &dyn ConfigStore,
        keyring: &Keyring,
        location: LocationId,
    ) -> Result<Self, ServiceError> {
        let filter = ConfigRecordFilter {
            parent_ids: vec![location.0],
            ..ConfigRecordFilter::new(ConfigRecordKind::LocationKey)
        };
        let mut found = Self { location, keys: BTreeMap::new(), records: BTreeMap::new() };
        for record in config_store.records(filter, Pagination::ALL).await?.items {
            let (number, key) = open(keyring, location, &record)?;
            found.keys.insert(number, key);
            found.records.insert(number, (record.id, record.revision));
        }
        Ok(found)
    }

    /// Returns the keys by number.
    pub(super) fn all(&self) -> &BTreeMap<DataKeyId, DataKey> {
        &self.keys
    }

    /// Returns the number of the newest key; `None` when there is none.
    pub(super) fn newest(&self) -> Option<DataKeyId> {
        self.keys.last_key_value().map(|(number, _)| *number)
    }

    /// Adds a new key, which seals from now on; returns the change that stores it.
    pub(super) fn add(
        &mut self,
        keyring: &Keyring,
        customer: CustomerId,
        now: Timestamp,
    ) -> Result<ConfigChange, ServiceError> {
        let number = self.newest().unwrap_or(0).saturating_add(1);
        let mut key = DataKey::default();
        aws_lc_rs::rand::fill(key.as_mut_slice()).map_err(|_| {
            ServiceError::Unavailable("Random numbers are not available now; try again".to_owned())
        })?;
        let sealed = keyring.seal(&context(customer), &plain(self.location, number, &key));
        self.keys.insert(number, key);
        Ok(ConfigChange::CreateRecord(NewConfigRecord {
            kind: ConfigRecordKind::LocationKey,
            customer: Some(customer),
            parent_id: Some(self.location.0),
            // Two changes at the same time cannot both add this number.
            unique_key: Some(format!("{}:{number}", self.location)),
            created_at: now,
            created_by: "server".to_owned(),
            fields: Map::from_iter([("number".to_owned(), json!(number))]),
            private_data: Some(sealed),
        }))
    }

    /// Returns the changes that remove all keys before `number`.
    pub(super) fn removal_before(&self, number: DataKeyId) -> Vec<ConfigChange> {
        let remove = |(_, (id, expected)): (&DataKeyId, &(i64, Revision))| ConfigChange::RemoveRecord {
            kind: ConfigRecordKind::LocationKey,
            id: *id,
            expected: *expected,
        };
        self.records.range(..number).map(remove).collect()
    }
}

fn open(
    keyring: &Keyring,
    location: LocationId,
    record: &ConfigRecord,
) -> Result<(DataKeyId, DataKey), ServiceError> {
    let damaged = || {
        let message =
            format!("A data key of location {location} is damaged; revoke an agent to make a new one");
        ServiceError::Unavailable(message)
    };
    let settings: LocationKeySettings = parse_record(record)?;
    let number = DataKeyId::try_from(settings.number).map_err(|_| damaged())?;
    let sealed = record.private_data.as_deref().ok_or_else(damaged)?;
    let opened = keyring.open(&context(record.customer), sealed).map_err(|_| damaged())?;
    let head = head(location, number);
    let bytes = opened.strip_prefix(head.as_slice()).ok_or_else(damaged)?;
    let mut key = DataKey::default();
    if bytes.len() != key.len() {
        return Err(damaged());
    }
    key.copy_from_slice(bytes);
    Ok((number, key))
}

fn context(customer: CustomerId) -> String {
    seal_context(ConfigRecordKind::LocationKey.name(), customer)
}

/// Location and number are sealed with the key, so that one cannot be passed off as another.
fn plain(location: LocationId, number: DataKeyId, key: &DataKey) -> Zeroizing<Vec<u8>> {
    Zeroizing::new([head(location, number).as_slice(), key.as_slice()].concat())
}

fn head(location: LocationId, number: DataKeyId) -> Vec<u8> {
    [&location.0.to_be_bytes(), &number.to_be_bytes()[..]].concat()
}
