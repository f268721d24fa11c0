//! Handlers of results and their files.

use std::collections::HashSet;

use axum::extract::{Path, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use futures::stream;

use super::result_filter::{parse_check_id, parse_result_filter};
use super::result_reader::{ResultReader, next_pagination};
use crate::api::error::ApiError;
use crate::api::list_response;
use crate::api::query::QueryParams;
use crate::api::state::ApiState;
use crate::service::Caller;

/// Lists results, newest first. `from` is inclusive, `thru` exclusive.
pub(super) async fn list_results(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    query: QueryParams,
) -> Result<Response, ApiError> {
    let zone = state.record_service.time_zone(&caller).await?;
    let (mut filter, paging) = parse_result_filter(query, &zone)?;
    filter.customer = Some(caller.customer);
    let monitor_reader = state.monitor_reader;
    let offset = paging.offset.unwrap_or(0);
    let remaining = paging.limit.unwrap_or(u64::MAX);
    let first_page = monitor_reader.results(filter.clone(), next_pagination(remaining, offset)).await?;
    let total_count = first_page.total;
    let reader = ResultReader {
        monitor_reader,
        filter,
        offset,
        remaining,
        prefetched_page: Some(first_page),
        last_page_ids: HashSet::new(),
    };
    Ok(list_response::stream_list(
        caller.role,
        total_count,
        paging,
        stream::try_unfold(reader, ResultReader::next_chunk),
    ))
}

/// Returns one result as a bare object.
pub(super) async fn get_result(
    State(ApiState { monitor_reader, .. }): State<ApiState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let result = monitor_reader
        .result_for_customer(caller.customer, parse_check_id(&id)?)
        .await?
        .ok_or_else(ApiError::not_found)?;
    Ok(Json(result).into_response())
}

/// Returns the content of a capture. It comes from a target, which may be hostile: browsers must not display it.
pub(super) async fn get_capture(
    State(ApiState { monitor_reader, .. }): State<ApiState>,
    Extension(caller): Extension<Caller>,
    Path((id, name)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let id = parse_check_id(&id)?;
    monitor_reader.result_for_customer(caller.customer, id).await?.ok_or_else(ApiError::not_found)?;
    let capture = monitor_reader.capture(id, name).await?.ok_or_else(ApiError::not_found)?;
    let content = capture.content.ok_or_else(ApiError::not_found)?;
    let is_safe_char = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let name: String = capture.name.chars().map(|c| if is_safe_char(c) { c } else { '_' }).collect();
    let header_value = |text: &str| {
        HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static("application/octet-stream"))
    };
    let headers: [(HeaderName, HeaderValue); 4] = [
        (header::CONTENT_TYPE, header_value(&capture.media_type)),
        (header::CONTENT_DISPOSITION, header_value(&format!("attachment; filename=\"{name}\""))),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox")),
    ];
    Ok((headers, content.to_vec()).into_response())
}
