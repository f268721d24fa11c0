//! A monitor that is assigned to a location: its fields as JSON, its secrets sealed.

use std::sync::Arc;

use prost::Message;
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use super::error::MessageError;
use super::field::{FieldOf, micros, timestamp};
use super::message_kind::MessageKind;
use super::sealer::{SealContext, Sealer};
use crate::bus::contract::AssignedMonitor;
use crate::domain::{CustomerId, MonitorId, Revision};
use crate::schedule::LocationRotation;
use crate::schema::{Monitor, MonitorDocument, Origin, SecretMode};

/// A monitor that is assigned to a location. Who changed it, and when, does not go over the bus.
#[derive(Clone, PartialEq, Message)]
pub struct AssignedMonitorMessage {
    /// Id of the monitor.
    #[prost(int64, tag = "1")]
    pub monitor_id: i64,
    /// Account that owns it.
    #[prost(int64, tag = "2")]
    pub customer_id: i64,
    /// Its revision.
    #[prost(int64, tag = "3")]
    pub revision: i64,
    /// Where it is defined: 1 the APIs, 2 a file of the server, 3 `vigie apply`. It decides what its checks may reach.
    #[prost(uint32, tag = "4")]
    pub origin: u32,
    /// Its key, for the origins 2 and 3.
    #[prost(string, tag = "5")]
    pub key: String,
    /// When the revision was accepted.
    #[prost(sfixed64, tag = "6")]
    pub modified_at_us: i64,
    /// Its type.
    #[prost(string, tag = "7")]
    pub monitor_type: String,
    /// Its fields that differ from their defaults, without secrets, in version 3 form.
    #[prost(bytes = "vec", tag = "8")]
    pub fields_json: Vec<u8>,
    /// Its secrets, sealed; absent without any.
    #[prost(bytes = "vec", optional, tag = "9")]
    pub sealed_secrets: Option<Vec<u8>>,
    /// Position of the location in the rotation.
    #[prost(uint32, tag = "10")]
    pub pool_position: u32,
    /// Number of locations in the rotation, at least 1.
    #[prost(uint32, tag = "11")]
    pub pool_size: u32,
    /// Number of locations that check one run, at least 1.
    #[prost(uint32, tag = "12")]
    pub locations_per_run: u32,
    /// Whether each run starts with the location after the last one of the run before.
    #[prost(bool, tag = "13")]
    pub rotates: bool,
    /// Whether the locations of a run start one after another.
    #[prost(bool, tag = "14")]
    pub staggered: bool,
    /// Days before a certificate expires at which the account is warned.
    #[prost(uint32, optional, tag = "15")]
    pub certificate_warning_days: Option<u32>,
    /// Planned time of the last run that was recorded before the location started.
    #[prost(sfixed64, optional, tag = "16")]
    pub last_planned_at_us: Option<i64>,
    /// Start of the last full page check at the location.
    #[prost(sfixed64, optional, tag = "17")]
    pub last_full_page_at_us: Option<i64>,
}

impl AssignedMonitorMessage {
    /// Creates the message of `assigned`; `sealer` seals its secrets.
    #[must_use]
    pub fn from_assigned(assigned: &AssignedMonitor, sealer: &dyn Sealer) -> Self {
        let monitor = &assigned.monitor;
        let (origin, key) = match &monitor.origin {
            Origin::Api => (1, ""),
            Origin::File { key } => (2, key.as_ref()),
            Origin::Applied { key } => (3, key.as_ref()),
        };
        let fields = Value::Object(monitor.document.to_non_default_fields(SecretMode::Omitted));
        let sealed_secrets = monitor.document.secrets().map(|secrets| {
            let plain = Zeroizing::new(secrets.to_string());
            sealer.seal(SealContext::Monitor, monitor.id.0, plain.as_bytes())
        });
        let [pool_position, pool_size, locations_per_run] = assigned.location_rotation.positions();
        Self {
            monitor_id: monitor.id.0,
            customer_id: monitor.customer.0,
            revision: monitor.revision.0,
            origin,
            key: key.to_owned(),
            modified_at_us: micros(monitor.modified_at),
            monitor_type: monitor.monitor_type().name().to_owned(),
            fields_json: fields.to_string().into_bytes(),
            sealed_secrets,
            pool_position: pool_position.into(),
            pool_size: pool_size.into(),
            locations_per_run: locations_per_run.into(),
            rotates: assigned.location_rotation.rotates(),
            staggered: assigned.location_rotation.is_staggered(),
            certificate_warning_days: assigned.certificate_warning_days,
            last_planned_at_us: assigned.last_planned_at.map(micros),
            last_full_page_at_us: assigned.last_full_page_at.map(micros),
        }
    }

    /// Returns the assigned monitor; `kind` is that of the message that holds it.
    ///
    /// # Errors
    /// Fails for a value that cannot be used, and for secrets that `sealer` cannot open.
    pub fn into_assigned(
        self,
        kind: MessageKind,
        sealer: &dyn Sealer,
    ) -> Result<AssignedMonitor, MessageError> {
        let field = |name| FieldOf(kind, name);
        let key = || Arc::from(self.key.as_str());
        let origin = match self.origin {
            1 => Origin::Api,
            2 => Origin::File { key: key() },
            3 => Origin::Applied { key: key() },
            other => return Err(field("origin").invalid(format!("{other} is none of 1 to 3"))),
        };
        let positions = [self.pool_position, self.pool_size, self.locations_per_run];
        let mut narrowed = [0; 3];
        for (position, narrowed) in positions.into_iter().zip(&mut narrowed) {
            *narrowed = field("pool_position, pool_size, locations_per_run").narrow(position)?;
        }
        let location_rotation = LocationRotation::from_positions(narrowed, self.rotates, self.staggered)
            .ok_or_else(|| {
                let reason = format!("{positions:?} is no rotation: position < size, 1 <= per run <= size");
                field("pool_position, pool_size, locations_per_run").invalid(reason)
            })?;
        let fields: Map<String, Value> = serde_json::from_slice(&self.fields_json)
            .map_err(|error| field("fields_json").invalid(error.to_string()))?;
        let secrets = match &self.sealed_secrets {
            None => Value::Null,
            Some(sealed) => {
                let opened = sealer.open(SealContext::Monitor, self.monitor_id, sealed);
                let opened = opened.map_err(|reason| field("sealed_secrets").invalid(reason))?;
                serde_json::from_slice(&opened)
                    .map_err(|_| field("sealed_secrets").invalid("what it holds is not JSON"))?
            }
        };
        let monitor_type = field("monitor_type").monitor_type(&self.monitor_type)?;
        let document = MonitorDocument::with_secrets(monitor_type, fields, secrets)
            .map_err(|error| field("fields_json").invalid(error.to_string()))?;
        Ok(AssignedMonitor {
            monitor: Monitor {
                id: MonitorId(self.monitor_id),
                customer: CustomerId(self.customer_id),
                origin,
                revision: Revision(self.revision),
                modified_at: timestamp(self.modified_at_us),
                document: Arc::new(document),
                metadata: Arc::default(),
            },
            location_rotation,
            certificate_warning_days: self.certificate_warning_days,
            last_planned_at: self.last_planned_at_us.map(timestamp),
            last_full_page_at: self.last_full_page_at_us.map(timestamp),
        })
    }
}
