//! `GET /devices`: one, several or all monitors, sent in chunks.

use std::sync::Arc;

use futures::stream::{self, StreamExt};
use serde_json::Value;

use super::call::LegacyCall;
use super::device_filter::DeviceFilter;
use super::response::{LegacyError, LegacyResponse};
use crate::api::list_response::json_chunk;
use crate::api::monitor_chunk::{MAX_CHUNK_MONITORS, logged_cut_off_error, read_monitor_chunk};
use crate::domain::MonitorId;
use crate::schema::{Monitor, legacy};
use crate::service::monitors;
use crate::service::{Caller, MonitorService, ServiceError};

pub(super) async fn list(call: LegacyCall) -> Result<LegacyResponse, LegacyError> {
    let filter = DeviceFilter::from_query(call.request.uri(), &call.caller, &call.state.monitor_service)?;
    let reader = DeviceReader {
        monitors: call.state.monitor_service,
        caller: call.caller,
        filter,
        next_id: Some(MonitorId(0)),
    };
    // Read the first chunk before the response starts, so that an error has its own status.
    let (first_chunk, reader) = reader.next_chunk().await?;
    let later_chunks = stream::try_unfold(reader, |reader| async move {
        if reader.next_id.is_none() {
            return Ok(None);
        }
        reader.next_chunk().await.map(Some).map_err(|error| logged_cut_off_error(&error))
    });
    Ok(LegacyResponse::StreamedResults(
        stream::once(std::future::ready(Ok(first_chunk))).chain(later_chunks).boxed(),
    ))
}

/// Iterates the monitors by id. Monitors added or removed meanwhile do not shift the others.
struct DeviceReader {
    monitors: Arc<MonitorService>,
    caller: Caller,
    filter: DeviceFilter,
    /// First id of the next chunk; `None` after the last one.
    next_id: Option<MonitorId>,
}

impl DeviceReader {
    async fn next_chunk(mut self) -> Result<(Vec<u8>, Self), ServiceError> {
        let Some(first_id) = self.next_id.take() else { return Ok((Vec::new(), self)) };
        let matches_filter =
            |monitor: &Monitor| monitor.customer == self.caller.customer && self.filter.matches(monitor);
        let (monitors, next_id) =
            read_monitor_chunk(&self.monitors, first_id, MAX_CHUNK_MONITORS, matches_filter);
        self.next_id = next_id;
        let objects = monitors::monitors_to_json(&self.monitors, &self.caller, &monitors).await?;
        let devices = monitors.iter().zip(objects).map(|(monitor, mut object)| {
            if !self.filter.include_scripts {
                object.shift_remove("script");
            }
            let mut device = legacy::device_from_v3(monitor.monitor_type(), &object);
            if !self.filter.include_scripts {
                device.shift_remove("script");
            }
            Value::Object(device)
        });
        Ok((json_chunk(devices), self))
    }
}
