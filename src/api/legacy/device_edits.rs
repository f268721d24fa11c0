//! `POST /devices`, `PATCH` and `DELETE /devices/{id}`.

use serde_json::json;

use super::call::{LegacyCall, read_json_object};
use super::device_filter::find_device;
use super::response::{LegacyError, LegacyResponse};
use crate::api::path::parse_id;
use crate::domain::MonitorId;
use crate::schema::legacy;
use crate::schema::reader::InputFormat;
use crate::service::monitors;

/// Creates a monitor (interface.md 4.1).
pub(super) async fn create(call: LegacyCall) -> Result<LegacyResponse, LegacyError> {
    let body = read_json_object(call.request).await?;
    let monitor_type =
        legacy::type_to_create(&body).map_err(|(status, message)| LegacyError::new(status, message))?;
    if let Some(field) = legacy::first_missing_field(monitor_type, &body) {
        return Err(LegacyError::missing_field(field));
    }
    let saved =
        monitors::create(&call.state.monitor_service, &call.caller, monitor_type, InputFormat::Legacy, &body)
            .await?;
    Ok(id_response(saved.id))
}

/// Changes the fields that the body names. Responds like a create.
pub(super) async fn update(call: LegacyCall, id: String) -> Result<LegacyResponse, LegacyError> {
    let id = monitor_id_from_path(&call, &id)?;
    let body = read_json_object(call.request).await?;
    let saved = monitors::patch(
        &call.state.monitor_service,
        &call.caller,
        id,
        None,
        InputFormat::Legacy,
        &body,
        None,
    )
    .await?;
    Ok(id_response(saved.id))
}

/// Removes a monitor. Responds like a create.
pub(super) async fn remove(call: LegacyCall, id: String) -> Result<LegacyResponse, LegacyError> {
    let id = monitor_id_from_path(&call, &id)?;
    monitors::delete(&call.state.monitor_service, &call.caller, id, None).await?;
    Ok(id_response(id.0))
}

fn monitor_id_from_path(call: &LegacyCall, id: &str) -> Result<MonitorId, LegacyError> {
    let id = parse_id(id).map(MonitorId).ok_or_else(LegacyError::invalid_device)?;
    find_device(id, &call.caller, &call.state.monitor_service).map(|monitor| monitor.id)
}

fn id_response(id: i64) -> LegacyResponse {
    LegacyResponse::JsonResults(json!({"id": id.to_string()}))
}
