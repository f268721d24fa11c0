//! The list shape of behaviour.md 1, sent in pieces so that a long list never stands in memory as a whole.

use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures::stream::{self, Stream, StreamExt};
use serde::Serialize;
use serde_json::json;

use super::query::Window;
use crate::model::{Right, Role};

/// `__permissions.acl`: what `role` may do in the account, as a sum of 1 see results and reports, 2 see
/// everything else, 4 edit, 8 administer, 16 own. The number is left open by behaviour.md.
fn acl(role: Role) -> u8 {
    let rights =
        [(Right::Report, 1), (Right::View, 2), (Right::Edit, 4), (Right::Administer, 8), (Right::Own, 16)];
    rights.into_iter().filter(|(right, _)| role.may(*right)).map(|(_, bit)| bit).sum()
}

/// Answers a caller of `role` with a list of which `pieces` are consecutive parts; `count` is what matched
/// before paging. A piece that fails cuts the answer off, so that it cannot be taken for the whole.
pub(super) fn respond<E>(
    role: Role,
    count: u64,
    window: Window,
    pieces: impl Stream<Item = Result<Vec<u8>, E>> + Send + 'static,
) -> Response
where
    E: std::error::Error + Send + Sync + 'static,
{
    let resultset = json!({"count": count, "limit": window.limit, "offset": window.offset});
    let metadata = json!({"__permissions": {"acl": acl(role)}, "resultset": resultset});
    let head = format!(r#"{{"metadata":{metadata},"results":["#).into_bytes();
    let mut first = true;
    let pieces = pieces.filter(|piece| std::future::ready(!matches!(piece, Ok(bytes) if bytes.is_empty())));
    let pieces = pieces.map(move |piece| {
        let piece = piece?;
        let separator = if std::mem::take(&mut first) { "" } else { "," };
        Ok::<_, E>(Bytes::from([separator.as_bytes(), &piece].concat()))
    });
    let body = stream::once(std::future::ready(Ok(Bytes::from(head))))
        .chain(pieces)
        .chain(stream::once(std::future::ready(Ok(Bytes::from_static(b"]}")))));
    ([(header::CONTENT_TYPE, "application/json")], Body::from_stream(body)).into_response()
}

/// The records of one piece, separated by commas.
pub(super) fn piece<T: Serialize>(records: impl IntoIterator<Item = T>) -> Vec<u8> {
    let mut out = Vec::new();
    for record in records {
        if !out.is_empty() {
            out.push(b',');
        }
        let before = out.len();
        if let Err(error) = serde_json::to_writer(&mut out, &record) {
            tracing::error!(error = %error, "a record cannot be written as JSON");
            out.truncate(before.saturating_sub(1));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_role_has_its_number() {
        assert_eq!(Role::ALL.map(acl), [31, 15, 7, 3, 1]);
    }
}
