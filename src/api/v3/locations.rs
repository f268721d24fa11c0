//! `GET /locations` and `GET /locations/{id}`.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::Uri;
use axum::response::{IntoResponse, Response};
use futures::stream;

use crate::api::ApiError;
use crate::api::list;
use crate::api::query::Query;
use crate::control::View;

/// `GET /locations?limit=&offset=`: the one that this process is.
pub(super) async fn list(State(view): State<Arc<View>>, uri: Uri) -> Result<Response, ApiError> {
    let mut query = Query::of(&uri, &["limit", "offset"]);
    let window = query.window();
    query.finish()?;
    let all = [view.location().clone()];
    let shown = list::steps(all.len(), window, all.len()).into_iter().filter_map(|step| all.get(step));
    let pieces: Vec<_> = shown.map(list::piece).collect();
    Ok(list::respond(all.len() as u64, window, list::sure(stream::iter(pieces))))
}

/// `GET /locations/{id}`: the bare object.
pub(super) async fn one(State(view): State<Arc<View>>, Path(id): Path<String>) -> Result<Response, ApiError> {
    let location = view.location();
    let found = id.parse() == Ok(location.id.0);
    if found { Ok(Json(location).into_response()) } else { Err(ApiError::not_found()) }
}
