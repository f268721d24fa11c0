//! `GET /locations`: the locations that the account may use, by id.

use serde_json::{Value, json};

use super::call::LegacyCall;
use super::response::{LegacyError, LegacyResponse};

/// Each with `id`, `name` and `region` as texts.
pub(super) async fn list(call: LegacyCall) -> Result<LegacyResponse, LegacyError> {
    let locations = call.state.resources.available_locations(&call.caller).await?;
    let shown = locations.iter().map(|(id, location)| {
        json!({"id": id.to_string(), "name": location.name, "region": location.region.to_string()})
    });
    Ok(LegacyResponse::Results(Value::Array(shown.collect())))
}
