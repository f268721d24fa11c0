//! A monitor as a row.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::domain::{CustomerId, MonitorId, MonitorType, Revision, Timestamp};
use crate::schema::{Monitor, MonitorDocument, MonitorMetadata, Origin, SecretMode};
use crate::store::contract::{NewMonitor, StoredMonitor};

use super::decode::{DecodeError, RowLocator};

/// A monitor, ready to be written.
pub(in crate::store) struct MonitorRow {
    pub(in crate::store) id: i64,
    pub(in crate::store) customer: i64,
    /// Code of the origin: 0 file, 1 API, 2 `vigie apply`.
    pub(in crate::store) origin: i64,
    pub(in crate::store) origin_key: Option<Arc<str>>,
    pub(in crate::store) monitor_type: &'static str,
    pub(in crate::store) revision: i64,
    pub(in crate::store) modified_at: i64,
    pub(in crate::store) document_json: String,
    pub(in crate::store) sealed_secrets: Option<Vec<u8>>,
    /// `None` without metadata.
    pub(in crate::store) metadata_json: Option<String>,
}

impl MonitorRow {
    pub(in crate::store) fn from_monitor(monitor: &Monitor) -> Self {
        let (origin, key) = origin_columns(&monitor.origin);
        Self {
            id: monitor.id.0,
            customer: monitor.customer.0,
            origin,
            origin_key: key,
            monitor_type: monitor.monitor_type().name(),
            revision: monitor.revision.0,
            modified_at: monitor.modified_at.as_micros(),
            document_json: document_json(&monitor.document),
            sealed_secrets: None,
            metadata_json: metadata_json(&monitor.metadata),
        }
    }

    pub(in crate::store) fn from_stored(stored: StoredMonitor) -> Self {
        Self { sealed_secrets: stored.sealed_secrets, ..Self::from_monitor(&stored.monitor) }
    }

    /// Converts a new monitor, which has no id yet.
    pub(in crate::store) fn from_new(new: NewMonitor) -> Self {
        let (origin, key) = origin_columns(&new.origin);
        Self {
            id: 0,
            customer: new.customer.0,
            origin,
            origin_key: key,
            monitor_type: new.document.monitor_type().name(),
            revision: 1,
            modified_at: new.modified_at.as_micros(),
            document_json: document_json(&new.document),
            sealed_secrets: new.sealed_secrets,
            metadata_json: metadata_json(&new.metadata),
        }
    }
}

fn origin_columns(origin: &Origin) -> (i64, Option<Arc<str>>) {
    match origin {
        Origin::File { key } => (0, Some(Arc::clone(key))),
        Origin::Api => (1, None),
        Origin::Applied { key } => (2, Some(Arc::clone(key))),
    }
}

fn origin_from_columns(origin: i64, key: Option<Arc<str>>) -> Option<Origin> {
    match (origin, key) {
        (0, Some(key)) => Some(Origin::File { key }),
        (1, _) => Some(Origin::Api),
        (2, Some(key)) => Some(Origin::Applied { key }),
        _ => None,
    }
}

fn document_json(document: &MonitorDocument) -> String {
    Value::Object(document.to_non_default_fields(SecretMode::Omitted)).to_string()
}

/// Serializes metadata; `None` when it is empty.
fn metadata_json(metadata: &MonitorMetadata) -> Option<String> {
    // Serialization cannot fail: only texts and numbers.
    if *metadata == MonitorMetadata::default() { None } else { serde_json::to_string(metadata).ok() }
}

/// The columns of a stored monitor, without its secrets.
pub(in crate::store) struct MonitorColumns<'a> {
    pub(in crate::store) id: i64,
    pub(in crate::store) customer: i64,
    pub(in crate::store) origin_key: Option<Arc<str>>,
    pub(in crate::store) monitor_type: Option<&'a str>,
    pub(in crate::store) revision: i64,
    pub(in crate::store) modified_at: i64,
    pub(in crate::store) document_json: Option<&'a str>,
    pub(in crate::store) origin: i64,
    pub(in crate::store) metadata_json: Option<&'a str>,
}

impl MonitorColumns<'_> {
    /// Decodes the monitor.
    pub(in crate::store) fn decode(self) -> Result<Monitor, DecodeError> {
        let key = [("id", self.id)];
        let locator = RowLocator { table: "monitors", key: &key };
        let monitor_type = self.monitor_type.unwrap_or_default();
        let monitor_type =
            locator.require_decoded("type", monitor_type, MonitorType::from_name(monitor_type))?;
        let values: Map<String, Value> = match self.document_json {
            Some(json) => locator.parse_json(json, "document")?,
            None => Map::new(),
        };
        let metadata: Option<MonitorMetadata> =
            self.metadata_json.map(|json| locator.parse_json(json, "trail")).transpose()?;
        let document = MonitorDocument::new(monitor_type, values)
            .map_err(|error| locator.decode_error("document", error))?;
        let origin = origin_from_columns(self.origin, self.origin_key);
        Ok(Monitor {
            id: MonitorId(self.id),
            customer: CustomerId(self.customer),
            origin: locator.require_decoded("origin", self.origin, origin)?,
            revision: Revision(self.revision),
            modified_at: Timestamp::from_micros(self.modified_at),
            document: Arc::new(document),
            metadata: metadata.map(Arc::new).unwrap_or_default(),
        })
    }
}
