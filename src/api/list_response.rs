//! The list shape of behaviour.md 1, sent in chunks so that a long list is never in memory as a whole.

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures::stream::{self, Stream, StreamExt};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::error::ApiError;
use super::query::{FieldSelection, Paging};
use crate::domain::{Paginated, Pagination, Permission, Role, StoreError};
use crate::service::ServiceError;

/// Returns `__permissions.acl`: the permissions of `role` as a sum of 1 view results and reports, 2 view
/// everything else, 4 edit, 8 administer, 16 manage admins. behaviour.md does not define the numbers.
fn acl_bits(role: Role) -> u8 {
    let permission_bits = [
        (Permission::ViewReports, 1),
        (Permission::View, 2),
        (Permission::Edit, 4),
        (Permission::Administer, 8),
        (Permission::ManageAdmins, 16),
    ];
    permission_bits.into_iter().filter(|(permission, _)| role.allows(*permission)).map(|(_, bit)| bit).sum()
}

/// Builds the response to a caller of `role` from the consecutive `chunks` of a list; `total_count` is the number of
/// matches before paging. A failed chunk aborts the response, so that clients do not take it for complete.
pub(super) fn stream_list<E>(
    role: Role,
    total_count: u64,
    paging: Paging,
    chunks: impl Stream<Item = Result<Vec<u8>, E>> + Send + 'static,
) -> Response
where
    E: std::error::Error + Send + Sync + 'static,
{
    let resultset = json!({"count": total_count, "limit": paging.limit, "offset": paging.offset});
    let metadata = json!({"__permissions": {"acl": acl_bits(role)}, "resultset": resultset});
    let list_start = format!(r#"{{"metadata":{metadata},"results":["#).into_bytes();
    let mut is_first_chunk = true;
    let chunks = chunks.filter(|chunk| std::future::ready(!matches!(chunk, Ok(bytes) if bytes.is_empty())));
    let selection = paging.selection;
    let chunks = chunks.map(move |chunk| {
        let chunk = selected_chunk(chunk?, &selection);
        let separator = if std::mem::take(&mut is_first_chunk) { "" } else { "," };
        Ok::<_, E>(Bytes::from([separator.as_bytes(), &chunk].concat()))
    });
    let body = stream::once(std::future::ready(Ok(Bytes::from(list_start))))
        .chain(chunks)
        .chain(stream::once(std::future::ready(Ok(Bytes::from_static(b"]}")))));
    ([(header::CONTENT_TYPE, "application/json")], Body::from_stream(body)).into_response()
}

/// Removes the fields that `selection` does not name from the objects of `chunk`.
fn selected_chunk(chunk: Vec<u8>, selection: &FieldSelection) -> Vec<u8> {
    if selection.is_all() {
        return chunk;
    }
    let list = [b"[".as_slice(), &chunk, b"]"].concat();
    match serde_json::from_slice::<Vec<JsonObject>>(&list) {
        Ok(mut objects) => {
            for object in &mut objects {
                selection.remove_unselected(object);
            }
            json_chunk(&objects)
        }
        Err(error) => {
            tracing::error!(error = %error, "failed to select the fields of a list; sent all of them");
            chunk
        }
    }
}

/// Sends the objects that `fetch_page` finds in pages of at most [`MAX_PAGE_OBJECTS`], so that only one page of a
/// long list is in memory. `may_follow` returns whether an id may follow the last sent one: new objects push older
/// ones into the next page, which must not be sent twice.
pub(super) async fn stream_pages<F, R>(
    role: Role,
    paging: Paging,
    may_follow: fn(i64, i64) -> bool,
    fetch_page: F,
) -> Result<Response, ApiError>
where
    F: Fn(Pagination) -> R + Send + 'static,
    R: Future<Output = Result<Paginated<JsonObject>, ServiceError>> + Send + 'static,
{
    let (offset, remaining) = (paging.offset.unwrap_or(0), paging.limit.unwrap_or(u64::MAX));
    let first_page = fetch_page(next_pagination(remaining, offset)).await?;
    let total_count = first_page.total;
    let reader = PageReader {
        fetch_page,
        may_follow,
        offset,
        remaining,
        last_sent_id: None,
        prefetched_page: Some(first_page),
    };
    Ok(stream_list(role, total_count, paging, stream::try_unfold(reader, PageReader::next_chunk)))
}

/// Builds the response with a list whose `rows` are in memory, out of `total_count`.
pub(super) fn list_in_memory<T: Serialize>(
    role: Role,
    total_count: u64,
    paging: Paging,
    rows: impl Iterator<Item = T>,
) -> Response {
    stream_list(role, total_count, paging, stream::iter([Ok::<_, Infallible>(json_chunk(rows))]))
}

type JsonObject = Map<String, Value>;

/// Most objects that are read and sent at a time.
const MAX_PAGE_OBJECTS: u32 = 500;

fn next_pagination(remaining: u64, offset: u64) -> Pagination {
    Pagination { limit: u32::try_from(remaining).unwrap_or(MAX_PAGE_OBJECTS).min(MAX_PAGE_OBJECTS), offset }
}

/// Reads a list page by page.
struct PageReader<F> {
    fetch_page: F,
    may_follow: fn(i64, i64) -> bool,
    offset: u64,
    remaining: u64,
    /// Id of the last object that was sent.
    last_sent_id: Option<i64>,
    prefetched_page: Option<Paginated<JsonObject>>,
}

impl<F, R> PageReader<F>
where
    F: Fn(Pagination) -> R,
    R: Future<Output = Result<Paginated<JsonObject>, ServiceError>>,
{
    async fn next_chunk(mut self) -> Result<Option<(Vec<u8>, Self)>, StoreError> {
        let page = match self.prefetched_page.take() {
            Some(prefetched_page) => prefetched_page,
            None if self.remaining == 0 => return Ok(None),
            None => (self.fetch_page)(next_pagination(self.remaining, self.offset))
                .await
                .map_err(to_stream_error)?,
        };
        let page_length = page.items.len() as u64;
        let id_of = |object: &JsonObject| object.get("id").and_then(Value::as_i64);
        let unsent: Vec<_> = page
            .items
            .into_iter()
            .filter(|object| {
                self.last_sent_id.zip(id_of(object)).is_none_or(|(last, id)| (self.may_follow)(last, id))
            })
            .collect();
        self.offset += page_length;
        self.last_sent_id = unsent.last().and_then(id_of).or(self.last_sent_id);
        self.remaining = if page_length < u64::from(MAX_PAGE_OBJECTS) {
            0
        } else {
            self.remaining.saturating_sub(unsent.len() as u64)
        };
        Ok(Some((json_chunk(&unsent), self)))
    }
}

/// Converts an error after the response has started; only the store can still fail then.
fn to_stream_error(source: ServiceError) -> StoreError {
    match source {
        ServiceError::StoreFailed(error) => error,
        _ => StoreError::Closed,
    }
}

/// Encodes the objects of one chunk as JSON, separated by commas. Skips those that cannot be encoded, with a log entry.
pub(super) fn json_chunk<T: Serialize>(objects: impl IntoIterator<Item = T>) -> Vec<u8> {
    let mut json = Vec::new();
    for object in objects {
        if !json.is_empty() {
            json.push(b',');
        }
        let length_before = json.len();
        if let Err(error) = serde_json::to_writer(&mut json, &object) {
            tracing::error!(error = %error, "failed to write a record as JSON");
            json.truncate(length_before.saturating_sub(1));
        }
    }
    json
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_role_has_its_acl_value() {
        assert_eq!(Role::ALL.map(acl_bits), [31, 15, 7, 3, 1]);
    }
}
