//! `GET /monitors` and `GET /monitors/{id}`.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::Uri;
use axum::response::{IntoResponse, Response};
use futures::{StreamExt, stream};
use serde_json::{Map, Value, json};

use crate::api::ApiError;
use crate::api::list;
use crate::api::query::{Query, words};
use crate::control::View;
use crate::model::{Monitor, MonitorId, MonitorType, Secrets};

/// How many monitors are written at a time.
const STEP: usize = 200;

/// Which fields an answer has.
#[derive(Clone, Debug, Default)]
struct Choice {
    /// Scripts, which are long.
    scripts: bool,
    /// These only (behaviour.md 1 `select`); all when absent.
    names: Option<Vec<String>>,
}

/// `GET /monitors?type=&show_scripts=&limit=&offset=&select=`, by id. `type` takes a comma list.
pub(super) async fn list(State(view): State<Arc<View>>, uri: Uri) -> Result<Response, ApiError> {
    let mut query = Query::of(&uri, &["type", "show_scripts", "limit", "offset", "select"]);
    let rule = format!("one or several of {}", words(MonitorType::ALL));
    let kinds = query.many("type", rule, MonitorType::from_name);
    let yes_or_no = |text: &str| ["0", "1", "false", "true"].iter().position(|word| *word == text);
    let scripts = query.one("show_scripts", "`0` or `1`", yes_or_no).is_some_and(|word| word % 2 == 1);
    let names = query.text("select").map(|names| names.split(',').map(str::to_owned).collect());
    let choice = Choice { scripts, names };
    let window = query.window();
    query.finish()?;
    let all = view.monitors();
    let wanted = |monitor: &&Monitor| kinds.is_empty() || kinds.contains(&monitor.kind());
    let matching: Vec<Monitor> = all.iter().filter(wanted).cloned().collect();
    let count = matching.len() as u64;
    let steps = list::steps(matching.len(), window, STEP);
    let pieces = stream::iter(steps).map(move |step| {
        let monitors = matching.get(step).unwrap_or_default();
        list::piece(monitors.iter().map(|monitor| shape(monitor, &view, &choice)))
    });
    Ok(list::respond(count, window, list::sure(pieces)))
}

/// `GET /monitors/{id}`: the bare object.
pub(super) async fn one(State(view): State<Arc<View>>, Path(id): Path<String>) -> Result<Response, ApiError> {
    let id = id.parse().map(MonitorId).map_err(|_| ApiError::not_found())?;
    let monitor = view.monitor(id).ok_or_else(ApiError::not_found)?;
    let choice = Choice { scripts: true, names: None };
    Ok(Json(shape(&monitor, &view, &choice)).into_response())
}

/// The version 3 form with every field that has a value, secrets masked. What Vigie says of a monitor: it
/// is written in a file, so that nobody edits it here; there are no blackouts, agreements and performance
/// alerts in this version. Home and pool are the only location that there is:
/// a monitor's own ones can name no other.
fn shape(monitor: &Monitor, view: &View, choice: &Choice) -> Map<String, Value> {
    let (document, location) = (&monitor.document, view.location());
    let mut fields = Map::new();
    fields.insert("id".to_owned(), json!(monitor.id));
    fields.insert("type".to_owned(), json!(monitor.kind()));
    fields.extend(document.to_json(Secrets::Masked));
    for (name, value) in [
        ("access_type", json!("View")),
        ("blackout_ids", json!([])),
        ("home_location", json!(location.id)),
        ("locations", json!([location])),
        ("customer_id", json!(monitor.customer)),
        ("has_active_performance_alerts", json!(false)),
        ("has_performance_alerts", json!(false)),
        ("has_sla", json!(false)),
        ("monitor_uses_own_locations", json!(!document.list("locations").is_empty())),
    ] {
        fields.insert(name.to_owned(), value);
    }
    if let Some(name) = view.certificate(document.number("ssl_cert_id")) {
        fields.insert("ssl_cert_name".to_owned(), json!(name));
        fields.insert("ssl_cert_format".to_owned(), json!("PEM"));
    }
    if !choice.scripts {
        fields.shift_remove("script");
    }
    if let Some(names) = &choice.names {
        fields.retain(|name, _| names.contains(name));
    }
    fields
}
