//! `GET /monitors` and `GET /monitors/{id}`.

use std::io;
use std::sync::{Arc, OnceLock};

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use futures::stream;
use serde_json::{Map, Value};

use crate::api::error::ApiError;
use crate::api::monitor_chunk::{MAX_CHUNK_MONITORS, logged_cut_off_error, read_monitor_chunk};
use crate::api::operation::{Operation, OperationMethod, Param, ParamType, ResponseSpec};
use crate::api::operation_router::OperationRouter;
use crate::api::path::{IdParam, parse_id};
use crate::api::query::{FieldSelection, Paging, QueryParams, quoted_list};
use crate::api::state::ApiState;
use crate::api::{etag, list_response};
use crate::domain::{MonitorId, MonitorType, Permission};
use crate::schema::typed::schedule::PropertyReference;
use crate::schema::{Monitor, table};
use crate::service::monitors;
use crate::service::{Caller, CustomPropertyFilter, MonitorService, ServiceError, property_filter};

pub(super) fn add_routes(router: OperationRouter) -> OperationRouter {
    let field_tables: Vec<_> =
        MonitorType::ALL.iter().map(|monitor_type| table::for_type(*monitor_type)).collect();
    let list_operation = Operation::new(
        OperationMethod::Get,
        "/monitors",
        "listMonitors",
        "monitors",
        "The monitors of the account, by id",
    )
    .with_permission(Some(Permission::View))
    .with_query_params(&[
        Param::new("type", ParamType::ChoiceList(monitor_type_names()), "Of these types only"),
        Param::new("show_scripts", ParamType::Choice(&["0", "1"]), "1 includes the scripts"),
        Param::new("subtype", ParamType::Int(0), "Browser scripts of this subtype only"),
        Param::new("subtype_application", ParamType::Text, "Browser scripts with this application only"),
        Param::new("subtype_name", ParamType::Text, "Browser scripts with this profile name only"),
        Param::new("value_id", ParamType::IdList, "With one of these values of custom properties only"),
        Param::new("property", ParamType::PropertyValues, "With all of these values of custom properties"),
    ])
    .with_paging()
    .with_response(ResponseSpec::List(field_tables.clone()));
    let get_operation =
        Operation::new(OperationMethod::Get, "/monitors/{id}", "getMonitor", "monitors", "One monitor")
            .with_permission(Some(Permission::View))
            .with_response(ResponseSpec::ObjectOneOf(field_tables));
    router.route(list_operation, list_monitors).route(get_operation, get_monitor)
}

/// Returns the names of all types.
pub(super) fn monitor_type_names() -> &'static [&'static str] {
    static NAMES: OnceLock<Vec<&'static str>> = OnceLock::new();
    NAMES.get_or_init(|| MonitorType::ALL.iter().map(|monitor_type| monitor_type.name()).collect())
}

async fn list_monitors(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    mut query: QueryParams,
) -> Result<Response, ApiError> {
    let type_requirement = format!("one or several of {}", quoted_list(MonitorType::ALL));
    let monitor_types = query.parse_comma_list("type", type_requirement, MonitorType::from_name);
    let include_scripts = query.parse_value("show_scripts", "`0` or `1`", |text| match text {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    });
    let mut filter = MonitorFilter {
        monitor_types,
        subtype: query.parse_value("subtype", "a whole number from 0", |text| text.parse::<u32>().ok()),
        subtype_application: query.parse_value("subtype_application", "a text", |text| Some(text.to_owned())),
        subtype_name: query.parse_value("subtype_name", "a text", |text| Some(text.to_owned())),
        property_value_ids: query.parse_comma_list("value_id", "an id or a comma list of ids", parse_id),
        properties: CustomPropertyFilter::default(),
        caller: caller.clone(),
    };
    let mut paging = query.paging();
    // The reader leaves the other fields out before it computes them.
    let selection = std::mem::take(&mut paging.selection);
    let properties = query.values("property");
    query.into_result()?;
    if !properties.is_empty() {
        let account_cache = state.monitor_service.account_cache();
        filter.properties = property_filter(account_cache, &caller, &properties).await?;
    }
    let (total_count, first_id) = state
        .monitor_service
        .count_and_nth_match(paging.offset.unwrap_or(0), |monitor| filter.matches(monitor));
    let reader = MonitorListReader::new(
        state.monitor_service,
        filter,
        selection,
        include_scripts.unwrap_or(false),
        first_id,
        paging.clone(),
    );
    // Read the first chunk before the response starts, so that an error has its own status.
    let (first_chunk, reader) = reader.next_chunk().await?;
    let chunks = stream::try_unfold((Some(first_chunk), reader), |(first_chunk, reader)| async move {
        if let Some(chunk) = first_chunk {
            return Ok(Some((chunk, (None, reader))));
        }
        if reader.next_id.is_none() {
            return Ok(None);
        }
        let (chunk, reader) = reader.next_chunk().await.map_err(|error| logged_cut_off_error(&error))?;
        Ok::<_, io::Error>(Some((chunk, (None, reader))))
    });
    Ok(list_response::stream_list(caller.role, total_count, paging, chunks))
}

async fn get_monitor(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    IdParam(id): IdParam,
) -> Result<Response, ApiError> {
    let (revision, object) = monitors::monitor_or_content_view_to_json(&state.monitor_service, &caller, id)
        .await?
        .ok_or_else(ApiError::not_found)?;
    Ok(etag::json_with_etag(revision, &object))
}

/// Filter of the list.
struct MonitorFilter {
    caller: Caller,
    monitor_types: Vec<MonitorType>,
    subtype: Option<u32>,
    subtype_application: Option<String>,
    subtype_name: Option<String>,
    property_value_ids: Vec<i64>,
    properties: CustomPropertyFilter,
}

impl MonitorFilter {
    fn matches(&self, monitor: &Monitor) -> bool {
        let document = &monitor.document;
        let has_value = |property: PropertyReference| self.property_value_ids.contains(&property.value_id);
        let matches_script_text = |text: Option<&str>, expected: &Option<String>| {
            expected.as_deref().is_none_or(|expected| {
                monitor.monitor_type() == MonitorType::BrowserScript && text == Some(expected)
            })
        };
        monitor.customer == self.caller.customer
            && matches_script_text(document.subtype_application(), &self.subtype_application)
            && matches_script_text(document.subtype_name(), &self.subtype_name)
            && (self.monitor_types.is_empty() || self.monitor_types.contains(&monitor.monitor_type()))
            && self.subtype.is_none_or(|subtype| {
                monitor.monitor_type() == MonitorType::BrowserScript
                    && document.subtype() == i64::from(subtype)
            })
            && self.properties.matches(monitor)
            && (self.property_value_ids.is_empty() || document.custom_properties().any(has_value))
    }
}

/// Iterates the monitors by id. Monitors added or removed meanwhile do not shift the others.
struct MonitorListReader {
    monitors: Arc<MonitorService>,
    filter: MonitorFilter,
    selection: FieldSelection,
    include_scripts: bool,
    next_id: Option<MonitorId>,
    remaining: u64,
}

impl MonitorListReader {
    fn new(
        monitors: Arc<MonitorService>,
        filter: MonitorFilter,
        selection: FieldSelection,
        include_scripts: bool,
        next_id: Option<MonitorId>,
        paging: Paging,
    ) -> Self {
        Self {
            monitors,
            filter,
            selection,
            include_scripts,
            next_id,
            remaining: paging.limit.unwrap_or(u64::MAX),
        }
    }

    /// Reads the next chunk of the list; sets `next_id` to `None` after the last one.
    async fn next_chunk(mut self) -> Result<(Vec<u8>, Self), ServiceError> {
        let max_monitors =
            usize::try_from(self.remaining).unwrap_or(MAX_CHUNK_MONITORS).min(MAX_CHUNK_MONITORS);
        let Some(first_id) = self.next_id.take().filter(|_| max_monitors > 0) else {
            return Ok((Vec::new(), self));
        };
        let (monitors, next_id) = read_monitor_chunk(&self.monitors, first_id, max_monitors, |monitor| {
            self.filter.matches(monitor)
        });
        self.next_id = next_id;
        self.remaining = self.remaining.saturating_sub(monitors.len() as u64);
        let mut objects = monitors::monitors_to_json(&self.monitors, &self.filter.caller, &monitors).await?;
        for object in &mut objects {
            self.remove_unselected(object);
        }
        Ok((list_response::json_chunk(&objects), self))
    }

    fn remove_unselected(&self, object: &mut Map<String, Value>) {
        if !self.include_scripts {
            object.shift_remove("script");
        }
        self.selection.remove_unselected(object);
    }
}
