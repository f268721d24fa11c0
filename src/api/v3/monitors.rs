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
use crate::model::{Monitor, MonitorId, MonitorType};

/// How many monitors are written at a time.
const STEP: usize = 200;

/// `GET /monitors?type=&limit=&offset=`, by id. `type` takes a comma list.
pub(super) async fn list(State(view): State<Arc<View>>, uri: Uri) -> Result<Response, ApiError> {
    let mut query = Query::of(&uri, &["type", "limit", "offset"]);
    let rule = format!("one or several of {}", words(MonitorType::ALL));
    let kinds = query.many("type", rule, MonitorType::from_name);
    let window = query.window();
    query.finish()?;
    let all = view.monitors();
    let wanted = |monitor: &&Monitor| kinds.is_empty() || kinds.contains(&monitor.kind());
    let matching: Vec<Monitor> = all.iter().filter(wanted).cloned().collect();
    let count = matching.len() as u64;
    let steps = list::steps(matching.len(), window, STEP);
    let pieces = stream::iter(steps)
        .map(move |step| list::piece(matching.get(step).unwrap_or_default().iter().map(shape)));
    Ok(list::respond(count, window, list::sure(pieces)))
}

/// `GET /monitors/{id}`: the bare object.
pub(super) async fn one(State(view): State<Arc<View>>, Path(id): Path<String>) -> Result<Response, ApiError> {
    let id = id.parse().map(MonitorId).map_err(|_| ApiError::not_found())?;
    let monitor = view.monitor(id).ok_or_else(ApiError::not_found)?;
    Ok(Json(shape(&monitor)).into_response())
}

fn shape(monitor: &Monitor) -> Value {
    let mut fields = Map::new();
    fields.insert("id".to_owned(), json!(monitor.id));
    fields.insert("type".to_owned(), json!(monitor.kind()));
    Value::Object(fields)
}
