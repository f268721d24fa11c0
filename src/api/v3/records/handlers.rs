//! The handlers that all kinds of records share.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use futures::stream;
use serde_json::{Map, Value};

use super::filters;
use crate::api::body::JsonBody;
use crate::api::query::Query;
use crate::api::v3::bulk::edited;
use crate::api::{ApiError, ApiState, etag, list as lists};
use crate::control::{Caller, Listed, Page, RecordFilter, Refusal, Resources, StoreError};
use crate::model::RecordKind;

/// How many records are read and sent at a time.
const STEP: u32 = 500;

pub(super) async fn list(
    kind: RecordKind,
    state: ApiState,
    caller: Caller,
    uri: Uri,
) -> Result<Response, ApiError> {
    let zone = state.resources.time_zone(&caller).await?;
    let mut known: Vec<&str> = filters::params(kind).iter().map(|param| param.name).collect();
    known.extend(["limit", "offset"]);
    let mut query = Query::of(&uri, &known);
    let filter = filters::read(kind, &mut query, &zone);
    let window = query.window();
    query.finish()?;
    let (offset, left) = (window.offset.unwrap_or(0), window.limit.unwrap_or(u64::MAX));
    let resources = state.resources;
    let first = resources.list(&caller, filter.clone(), page(left, offset)).await?;
    let (role, count) = (caller.role, first.count);
    let walk = Walk { resources, caller, filter, offset, left, fetched: Some(first) };
    Ok(lists::respond(role, count, window, stream::try_unfold(walk, Walk::next)))
}

pub(super) async fn one(
    kind: RecordKind,
    state: ApiState,
    caller: Caller,
    id: i64,
) -> Result<Response, ApiError> {
    let (object, revision) = state.resources.one(&caller, kind, id).await?;
    Ok(etag::tagged(revision, &object))
}

pub(super) async fn create(
    kind: RecordKind,
    state: ApiState,
    caller: Caller,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    Ok(etag::saved(state.resources.create(&caller, kind, &body).await?))
}

pub(super) async fn patch(
    kind: RecordKind,
    state: ApiState,
    caller: Caller,
    id: i64,
    headers: HeaderMap,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    let if_match = etag::if_match(&headers)?;
    Ok(etag::saved(state.resources.patch(&caller, kind, id, &body, if_match).await?))
}

pub(super) async fn delete(
    kind: RecordKind,
    state: ApiState,
    caller: Caller,
    id: i64,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let if_match = etag::if_match(&headers)?;
    state.resources.delete(&caller, kind, id, if_match).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

pub(super) async fn bulk_edit_blackouts(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    JsonBody(body): JsonBody,
) -> Result<Response, ApiError> {
    state.resources.bulk_edit_blackouts(&caller, &body).await?;
    Ok(edited(&body, Vec::new()).into_response())
}

fn page(left: u64, offset: u64) -> Page {
    Page { limit: u32::try_from(left).unwrap_or(STEP).min(STEP), offset }
}

/// Reads on, page by page.
struct Walk {
    resources: Arc<Resources>,
    caller: Caller,
    filter: RecordFilter,
    offset: u64,
    left: u64,
    fetched: Option<Listed<Map<String, Value>>>,
}

impl Walk {
    async fn next(mut self) -> Result<Option<(Vec<u8>, Self)>, StoreError> {
        let fetched = match self.fetched.take() {
            Some(first) => first,
            None if self.left == 0 => return Ok(None),
            None => {
                let page = page(self.left, self.offset);
                self.resources.list(&self.caller, self.filter.clone(), page).await.map_err(broken)?
            }
        };
        let rows = fetched.rows.len() as u64;
        self.offset += rows;
        self.left = if rows < u64::from(STEP) { 0 } else { self.left.saturating_sub(rows) };
        Ok(Some((lists::piece(&fetched.rows), self)))
    }
}

/// In the middle of an answer only the store can still refuse.
fn broken(refusal: Refusal) -> StoreError {
    match refusal {
        Refusal::Store(error) => error,
        _ => StoreError::Closed,
    }
}
