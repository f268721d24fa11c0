//! `GET /locations`: the locations available to the account, by id.

use serde_json::{Value, json};

use super::call::LegacyCall;
use super::response::{LegacyError, LegacyResponse};

/// Lists the locations, each with `id`, `name` and `region` as strings.
pub(super) async fn list(call: LegacyCall) -> Result<LegacyResponse, LegacyError> {
    let locations = call.state.record_service.available_locations(&call.caller).await?;
    let records = locations.iter().map(|(id, location)| {
        json!({"id": id.to_string(), "name": location.name, "region": location.region_code.to_string()})
    });
    Ok(LegacyResponse::JsonResults(Value::Array(records.collect())))
}
