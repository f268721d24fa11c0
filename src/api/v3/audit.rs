//! GET `/audit`: who changed what, newest first.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;

use super::records::parse_time_range;
use crate::api::error::ApiError;
use crate::api::list_response;
use crate::api::operation::{Operation, OperationMethod, Param, ParamType, ResponseSpec};
use crate::api::operation_router::OperationRouter;
use crate::api::query::QueryParams;
use crate::api::state::ApiState;
use crate::domain::AuditFilter;
use crate::schema::table::records::AUDIT_ENTRY;
use crate::service::Caller;

const FILTER_PARAMS: &[Param] = &[
    Param::new("login", ParamType::Text, "By this login"),
    Param::new("object", ParamType::Text, "Of this kind of object, such as `monitor`"),
    Param::new("object_id", ParamType::Int(1), "Of this object"),
    Param::new("from", ParamType::Time, "At this time or later"),
    Param::new("thru", ParamType::Time, "Before this time"),
];

pub(super) fn add_routes(router: OperationRouter) -> OperationRouter {
    let summary = "Who changed what, newest first";
    let operation = Operation::new(OperationMethod::Get, "/audit", "listAudit", "audit", summary)
        .with_query_params(FILTER_PARAMS)
        .with_paging()
        .with_response(ResponseSpec::List(vec![&AUDIT_ENTRY]));
    router.route(operation, list_audit_entries)
}

async fn list_audit_entries(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    mut query: QueryParams,
) -> Result<Response, ApiError> {
    let zone = state.record_service.time_zone(&caller).await?;
    let (from, until) = parse_time_range(&mut query, &zone);
    let parse_positive_id = |text: &str| text.parse::<i64>().ok().filter(|id| *id > 0);
    let filter = AuditFilter {
        customer: None,
        login: query.value("login").map(str::to_owned),
        object_kind: query.value("object").map(str::to_owned),
        object_id: query.parse_value("object_id", "an id", parse_positive_id),
        from,
        until,
    };
    let paging = query.paging();
    query.into_result()?;
    let (role, records) = (caller.role, state.record_service);
    let is_older = |last, id| id < last;
    list_response::stream_pages(role, paging, is_older, move |page| {
        let (records, caller, filter) = (Arc::clone(&records), caller.clone(), filter.clone());
        async move { records.audit_trail(&caller, filter, page).await }
    })
    .await
}
