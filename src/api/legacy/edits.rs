//! `POST /devices`, `PATCH` and `DELETE /devices/{id}`.

use serde_json::json;

use super::answer::{Done, Fault};
use super::call::{Call, body};
use super::filter::one;
use crate::api::path::number;
use crate::domain::MonitorId;
use crate::schema::intake::InputFormat;
use crate::schema::legacy;
use crate::service::monitors;

/// Makes a monitor (interface.md 4.1).
pub(super) async fn create(call: Call) -> Result<Done, Fault> {
    let body = body(call.request).await?;
    let kind = legacy::type_to_create(&body).map_err(|(status, message)| Fault::new(status, message))?;
    if let Some(field) = legacy::first_missing_field(kind, &body) {
        return Err(Fault::missing(field));
    }
    let saved =
        monitors::create(&call.state.monitors, &call.caller, kind, InputFormat::Legacy, &body).await?;
    Ok(made(saved.id))
}

/// Changes the fields that the body names; answers as to a create.
pub(super) async fn change(call: Call, id: String) -> Result<Done, Fault> {
    let id = known(&call, &id)?;
    let body = body(call.request).await?;
    let saved =
        monitors::patch(&call.state.monitors, &call.caller, id, None, InputFormat::Legacy, &body, None)
            .await?;
    Ok(made(saved.id))
}

/// Removes a monitor; answers as to a create.
pub(super) async fn remove(call: Call, id: String) -> Result<Done, Fault> {
    let id = known(&call, &id)?;
    monitors::delete(&call.state.monitors, &call.caller, id, None).await?;
    Ok(made(id.0))
}

fn known(call: &Call, id: &str) -> Result<MonitorId, Fault> {
    let id = number(id).map(MonitorId).ok_or_else(Fault::device)?;
    one(id, &call.caller, &call.state.monitors).map(|monitor| monitor.id)
}

fn made(id: i64) -> Done {
    Done::Results(json!({"id": id.to_string()}))
}
