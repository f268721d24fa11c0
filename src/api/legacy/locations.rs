//! `GET /locations`: the locations that the account may use, by id.

use serde_json::{Value, json};

use super::answer::{Done, Fault};
use super::call::Call;

/// Each with `id`, `name` and `region` as texts.
pub(super) async fn list(call: Call) -> Result<Done, Fault> {
    let locations = call.state.resources.available_locations(&call.caller).await?;
    let shown = locations.iter().map(|(id, location)| {
        json!({"id": id.to_string(), "name": location.name, "region": location.region.to_string()})
    });
    Ok(Done::Results(Value::Array(shown.collect())))
}
