//! The handlers that all kinds of records share.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};

use super::filters;
use crate::api::body::JsonBody;
use crate::api::error::ApiError;
use crate::api::query::QueryParams;
use crate::api::state::ApiState;
use crate::api::v3::bulk_edit_and_apply::bulk_edit_response;
use crate::api::{etag, list_response};
use crate::domain::ConfigRecordKind;
use crate::service::Caller;

pub(super) async fn list(
    kind: ConfigRecordKind,
    state: ApiState,
    caller: Caller,
    mut query: QueryParams,
) -> Result<Response, ApiError> {
    let zone = state.record_service.time_zone(&caller).await?;
    let filter = filters::parse_record_filter(kind, &mut query, &zone);
    let paging = query.paging();
    query.into_result()?;
    let (role, records) = (caller.role, state.record_service);
    let ascending_ids = |last, id| id > last;
    list_response::stream_pages(role, paging, ascending_ids, move |page| {
        let (records, caller, filter) = (Arc::clone(&records), caller.clone(), filter.clone());
        async move { records.list(&caller, filter, page).await }
    })
    .await
}

pub(super) async fn get(
    kind: ConfigRecordKind,
    state: ApiState,
    caller: Caller,
    id: i64,
) -> Result<Response, ApiError> {
    let (object, revision) = state.record_service.get(&caller, kind, id).await?;
    Ok(etag::json_with_etag(revision, &object))
}

pub(super) async fn create(
    kind: ConfigRecordKind,
    state: ApiState,
    caller: Caller,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    Ok(etag::saved_response(state.record_service.create(&caller, kind, &body).await?))
}

pub(super) async fn patch(
    kind: ConfigRecordKind,
    state: ApiState,
    caller: Caller,
    id: i64,
    headers: HeaderMap,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    let expected_revision = etag::expected_revision(&headers)?;
    Ok(etag::saved_response(state.record_service.patch(&caller, kind, id, &body, expected_revision).await?))
}

pub(super) async fn delete(
    kind: ConfigRecordKind,
    state: ApiState,
    caller: Caller,
    id: i64,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let expected_revision = etag::expected_revision(&headers)?;
    state.record_service.delete(&caller, kind, id, expected_revision).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

pub(super) async fn bulk_edit_blackouts(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    state.record_service.bulk_edit_blackouts(&caller, &body).await?;
    Ok(bulk_edit_response(&body, Vec::new()).into_response())
}
