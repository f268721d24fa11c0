//! `GET /export`: the monitors as `vigie apply` reads them.

use std::io;
use std::sync::Arc;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures::{StreamExt as _, stream};
use serde_json::{Map, Value, json};

use super::monitors::monitor_type_names;
use crate::api::error::ApiError;
use crate::api::list_response::json_chunk;
use crate::api::operation::{Operation, OperationMethod, Param, ParamType, ResponseSpec};
use crate::api::operation_router::OperationRouter;
use crate::api::query::{QueryParams, quoted_list};
use crate::api::state::ApiState;
use crate::domain::{CustomerId, MonitorId, MonitorType, Permission};
use crate::schema::monitor_file::to_file_entry;
use crate::schema::{Monitor, Origin};
use crate::service::{Caller, MonitorService};

/// Most monitors in one chunk: few, since each may have a script.
const MAX_CHUNK_MONITORS: usize = 20;

pub(super) fn add_routes(router: OperationRouter) -> OperationRouter {
    let summary =
        "The account's monitors as file entries: fields that differ from the defaults, secrets masked";
    let export = Operation::new(OperationMethod::Get, "/export", "exportMonitors", "monitors", summary)
        .with_permission(Some(Permission::View))
        .with_query_params(&[Param::new(
            "type",
            ParamType::ChoiceList(monitor_type_names()),
            "Of these types only",
        )])
        .with_response(ResponseSpec::JsonSchema(export_schema()));
    router.route(export, export_monitors)
}

fn export_schema() -> Value {
    let monitor_schema = json!({
        "title": "ExportedMonitor",
        "type": "object",
        "required": ["id", "origin", "entry"],
        "properties": {
            "id": {"type": "integer", "description": "Its id"},
            "origin": {"enum": ["api", "apply", "file"], "description": "Where it is managed"},
            "entry": {"type": "object", "description": "Its `key`, its `type` and its fields"},
        },
    });
    json!({
        "title": "Export",
        "type": "object",
        "required": ["monitors"],
        "properties": {"monitors": {"type": "array", "items": monitor_schema}},
    })
}

async fn export_monitors(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    mut query: QueryParams,
) -> Result<Response, ApiError> {
    let type_requirement = format!("one or several of {}", quoted_list(MonitorType::ALL));
    let monitor_types = query.parse_comma_list("type", type_requirement, MonitorType::from_name);
    query.into_result()?;
    let reader = ExportReader {
        monitors: state.monitor_service,
        customer: caller.customer,
        monitor_types,
        next_id: None,
    };
    let chunks = stream::unfold(Some(reader), |reader| async move {
        let mut reader = reader?;
        let is_first = reader.next_id.is_none();
        let (entries_json, is_last) = reader.next_chunk();
        let prefix = if is_first { r#"{"monitors":["# } else { "," };
        let list_end = if is_last { "]}" } else { "" };
        let bytes = [prefix.as_bytes(), &entries_json, list_end.as_bytes()].concat();
        Some((Ok::<_, io::Error>(Bytes::from(bytes)), (!is_last).then_some(reader)))
    });
    // Compression polls once more after the end of a short body.
    let chunks = chunks.fuse();
    Ok(([(header::CONTENT_TYPE, "application/json")], Body::from_stream(chunks)).into_response())
}

/// Iterates the monitors by id.
struct ExportReader {
    monitors: Arc<MonitorService>,
    customer: CustomerId,
    monitor_types: Vec<MonitorType>,
    /// First id of the next chunk; `None` before the first one.
    next_id: Option<MonitorId>,
}

impl ExportReader {
    /// Returns the next chunk, and whether it is the last.
    fn next_chunk(&mut self) -> (Vec<u8>, bool) {
        let matches_filter = |monitor: &Monitor| {
            monitor.customer == self.customer
                && (self.monitor_types.is_empty() || self.monitor_types.contains(&monitor.monitor_type()))
        };
        // Read one more than is sent, to know whether this chunk is the last and ends the document.
        let mut monitors = self.monitors.list_from(
            self.next_id.unwrap_or(MonitorId(0)),
            MAX_CHUNK_MONITORS + 1,
            matches_filter,
        );
        let is_last = monitors.len() <= MAX_CHUNK_MONITORS;
        monitors.truncate(MAX_CHUNK_MONITORS);
        self.next_id = Some(monitors.last().map_or(MonitorId(i64::MAX), |last| MonitorId(last.id.0 + 1)));
        (json_chunk(monitors.iter().map(|monitor| export_entry(&self.monitors, monitor))), is_last)
    }
}

fn export_entry(monitors: &MonitorService, monitor: &Monitor) -> Map<String, Value> {
    let (origin, key) = origin_and_key(monitor);
    // Leave out the account: it is that of whoever applies the file.
    let mut file_entry = to_file_entry(&key, CustomerId::OPERATOR, &monitor.document);
    // The ids are others on another server. Monitors that were removed are left out.
    let parents: Vec<Value> = monitor
        .document
        .parent_ids()
        .into_iter()
        .filter_map(|id| Some(Value::from(origin_and_key(&monitors.find(monitor.customer, id)?).1)))
        .collect();
    if parents.is_empty() {
        file_entry.shift_remove("depends_on");
    } else {
        file_entry.insert("depends_on".to_owned(), Value::Array(parents));
    }
    let fields =
        [("id", json!(monitor.id.0)), ("origin", json!(origin)), ("entry", Value::Object(file_entry))];
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Returns where `monitor` is managed, and its key.
fn origin_and_key(monitor: &Monitor) -> (&'static str, String) {
    match &monitor.origin {
        Origin::File { key } => ("file", key.to_string()),
        Origin::Applied { key } => ("apply", key.to_string()),
        Origin::Api => ("api", format!("api-{}", monitor.id)),
    }
}
