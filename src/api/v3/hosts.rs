//! `/hosts`: tokens, reports, values and history. The records themselves are in `api::v3::records`.

use std::time::Duration;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use crate::api::credentials::bearer_token;
use crate::api::error::ApiError;
use crate::api::operation::{BodySpec, Operation, OperationMethod, Param, ParamType, ResponseSpec};
use crate::api::operation_router::OperationRouter;
use crate::api::path::IdParam;
use crate::api::query::{QueryParams, TIME_REQUIREMENT, parse_time_in_zone};
use crate::api::state::ApiState;
use crate::api::{etag, list_response};
use crate::domain::{
    HOST_METRICS, HostId, HostSpan, MAX_REPORT_SERIES, Permission, SeriesValue, find_host_metric,
};
use crate::schema::table::hosts::{HOST_POINT, HOST_TOKEN, HOST_VALUE};
use crate::service::Caller;
use crate::service::hosts::{HostHistoryRequest, MAX_REPORT_BYTES, ReportError, ReportRefusal};
use crate::syntax::json_object::into_object;
use crate::syntax::prometheus::selector::MetricSelector;

const TAG: &str = "hosts";
/// Seconds until the next report is expected, in the response to a report.
static REPORT_SECONDS: HeaderName = HeaderName::from_static("vigie-report-seconds");
const SPAN_NAMES: &[&str] = &[HostSpan::Report.name(), HostSpan::Block.name(), HostSpan::Hour.name()];
/// Range of the history without `from`, in hours.
const DEFAULT_RANGE_HOURS: u64 = 3;

pub(super) fn add_routes(router: OperationRouter) -> OperationRouter {
    let operation =
        |method, path, operation_id, summary| Operation::new(method, path, operation_id, TAG, summary);
    let report = operation(
        OperationMethod::Post,
        "/hosts/{id}/reports",
        "reportHost",
        "Report values, as the agent of a host: with the token of the host, at most 256 KiB, gzip or not",
    )
    .with_permission(None)
    .with_body(BodySpec::JsonSchema(report_schema))
    .with_additional_status(401, "The token of the host is unknown or revoked")
    .with_additional_status(429, "More than 600 reports in 20 seconds; see `Retry-After`");
    let create_token = operation(
        OperationMethod::Post,
        "/hosts/{id}/token",
        "createHostToken",
        "A new token for the agent of a host, in place of the last one; shown this once",
    )
    .with_permission(Some(Permission::Administer))
    .with_response(ResponseSpec::SavedId { create_response_fields: Some(&HOST_TOKEN) });
    let revoke_token = operation(
        OperationMethod::Delete,
        "/hosts/{id}/token",
        "revokeHostToken",
        "Revoke the token of a host: its reports are refused from then on",
    )
    .with_permission(Some(Permission::Administer));
    let values = operation(
        OperationMethod::Get,
        "/hosts/{id}/values",
        "listHostValues",
        "Values of its newest report",
    )
    .with_paging()
    .with_response(ResponseSpec::List(vec![&HOST_VALUE]));
    let history = operation(
        OperationMethod::Get,
        "/hosts/{id}/history",
        "listHostHistory",
        "History of its values: reports 48 hours long, blocks of 5 minutes 14 days, hours 400 days",
    )
    .with_paging()
    .with_query_params(&[
        Param::new("metric", ParamType::Text, "A metric, or one of its series; all when absent"),
        Param::new(
            "from",
            ParamType::Time,
            "Points from this time on; three hours before `thru` when absent",
        ),
        Param::new("thru", ParamType::Time, "Points before this time; now when absent"),
        Param::new(
            "span",
            ParamType::Choice(SPAN_NAMES),
            "What a point covers; chosen by the range when absent",
        ),
    ])
    .with_response(ResponseSpec::List(vec![&HOST_POINT]));
    router
        .route(report, report_host)
        .route(create_token, create_host_token)
        .route(revoke_token, revoke_host_token)
        .route(values, list_values)
        .route(history, list_history)
}

/// Describes a report, with the table of metrics.
fn report_schema() -> Value {
    let metrics: Map<String, Value> = HOST_METRICS
        .iter()
        .map(|metric| {
            let label = metric.label.map_or_else(String::new, |label| format!("; label `{label}`"));
            let unit = metric.unit.symbol();
            let unit = if unit.is_empty() { String::new() } else { format!(", in {unit}") };
            (
                metric.name.to_owned(),
                json!({"type": "number", "description": format!("{}{unit}{label}", metric.help)}),
            )
        })
        .collect();
    json!({
        "title": "HostReport",
        "type": "object",
        "required": ["version", "seq", "at", "metrics"],
        "properties": {
            "version": {"type": "integer", "enum": [1]},
            "seq": {"type": "integer", "minimum": 0, "description": "Number of the report, which grows with each"},
            "at": {"type": "string", "format": "date-time", "description": "When the values were measured, by the clock of the host"},
            "sent_at": {"type": "string", "format": "date-time", "description": "When it is sent, by the clock of the host; like `at` when absent"},
            "agent_version": {"type": "string"},
            "os": {"type": "string"},
            "kernel": {"type": "string"},
            "metrics": {
                "type": "object",
                "description": "A number for each series, named as `metric` or `metric{label=\"value\"}`",
                "maxProperties": MAX_REPORT_SERIES,
                "properties": metrics,
                "additionalProperties": {"type": "number"},
            },
        },
    })
}

async fn report_host(
    State(state): State<ApiState>,
    IdParam(id): IdParam,
    request: Request,
) -> Result<Response, ApiError> {
    let token = bearer_token(&request)?;
    let encoding = request.headers().get(header::CONTENT_ENCODING).map(HeaderValue::as_bytes);
    let is_gzip = match encoding {
        None | Some(b"identity") => false,
        Some(b"gzip" | b"x-gzip") => true,
        Some(_) => {
            let message = "`Content-Encoding` of a report must be gzip, or absent";
            return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
        }
    };
    let too_large = || ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, ReportError::TooLarge.to_string());
    let length =
        request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if length.is_some_and(|length: usize| length > MAX_REPORT_BYTES) {
        return Err(too_large());
    }
    let body = Bytes::from_request(request, &state).await.map_err(|error| match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => too_large(),
        _ => ApiError::bad_request(vec!["The body was cut off".to_owned()]),
    })?;
    let recorded = state.host_service.record_report(&token, HostId(id), &body, is_gzip).await;
    let interval_s = recorded.map_err(|refusal| match refusal {
        ReportRefusal::Call(error) => ApiError::from(error),
        ReportRefusal::Body(ReportError::TooLarge) => too_large(),
        ReportRefusal::Body(ReportError::Invalid(reason)) => {
            ApiError::bad_request(vec![format!("The report cannot be used: {reason}")])
        }
    })?;
    let mut headers = HeaderMap::new();
    headers.insert(REPORT_SECONDS.clone(), interval_s.into());
    Ok((StatusCode::NO_CONTENT, headers).into_response())
}

async fn create_host_token(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    IdParam(id): IdParam,
) -> Result<Response, ApiError> {
    Ok(etag::saved_response(state.host_service.create_token(&caller, HostId(id)).await?))
}

async fn revoke_host_token(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    IdParam(id): IdParam,
) -> Result<StatusCode, ApiError> {
    state.host_service.revoke_token(&caller, HostId(id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn list_values(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    IdParam(id): IdParam,
    mut query: QueryParams,
) -> Result<Response, ApiError> {
    let paging = query.paging();
    query.into_result()?;
    let report = state.host_service.newest_report(&caller, HostId(id)).await?;
    let (measured_at, values) =
        report.map_or((String::new(), Vec::new()), |report| (report.measured_at.to_string(), report.values));
    let to_json = |value: &SeriesValue| {
        let metric = value.series.split('{').next().unwrap_or_default();
        let unit = find_host_metric(metric).map_or("", |metric| metric.unit.symbol());
        into_object(
            json!({"series": value.series, "value": value.value, "unit": unit, "measured_at": measured_at}),
        )
    };
    let rows = paging.slice(values.iter()).map(to_json);
    Ok(list_response::list_in_memory(caller.role, values.len() as u64, paging, rows))
}

async fn list_history(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    IdParam(id): IdParam,
    mut query: QueryParams,
) -> Result<Response, ApiError> {
    let zone = state.record_service.time_zone(&caller).await?;
    let from = query.parse_value("from", TIME_REQUIREMENT, |text| parse_time_in_zone(&zone, text));
    let until = query.parse_value("thru", TIME_REQUIREMENT, |text| parse_time_in_zone(&zone, text));
    let span = query.parse_value("span", "`report`, `block` or `hour`", HostSpan::from_name);
    let selector = query.parse_value("metric", "a metric such as `load1`, or one of its series", |text| {
        MetricSelector::parse(text).ok().filter(|selector| !selector.is_rate())
    });
    let paging = query.paging();
    query.into_result()?;
    let until = until.unwrap_or_else(|| state.clock.now());
    let from = from.unwrap_or_else(|| until - Duration::from_hours(DEFAULT_RANGE_HOURS));
    let request = HostHistoryRequest { host_id: HostId(id), selector, from, until, span };
    let rows = state.host_service.history(&caller, request).await?;
    let points = || rows.iter().flat_map(|row| row.values.iter().map(move |value| (row.start, value)));
    let objects = paging.slice(points()).map(|(start, value)| {
        into_object(json!({
            "series": value.series,
            "start": start.to_string(),
            "min": value.min,
            "mean": value.mean,
            "max": value.max,
        }))
    });
    Ok(list_response::list_in_memory(caller.role, points().count() as u64, paging, objects))
}
