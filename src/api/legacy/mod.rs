//! The legacy API, base `/legacy-api` (interface.md 4.1, behaviour.md 2).
//!
//! Every answer has HTTP status 200 and says in `metadata` how it went. What behaviour.md leaves open is decided
//! so:
//!
//! | Case | Answer |
//! |---|---|
//! | what is wrong with several things | login (40), right (63), body as a whole (66), `site_type`, what is missing in the order of interface.md 4.1, then values |
//! | the body is no JSON object, too large or cut off | 66 `Invalid body` |
//! | another content type than `application/json` | 66 `Invalid Content-Type` |
//! | a path or method that there is not | 66 `Invalid path`, 66 `Invalid method` |
//! | too many failed logins | 47, with the seconds until the next try |
//! | the store is busy or broken, the server shuts down | 99 and what is the matter |
//! | an unknown `site_type` in a filter | no monitor fits: empty results, status 0 |
//! | `id` or `site_type` empty in a query | as if it were not there |
//! | a request collection (`collection-api`) | it has no legacy type name: not listed, its id is 65 |

mod answer;
mod call;
mod devices;
mod edits;
mod filter;
mod locations;
mod login;

use axum::Router;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use axum::routing::{get, patch, post};
use tower_http::catch_panic::CatchPanicLayer;

use super::ApiState;
use crate::domain::Right;
use answer::{Fault, Metadata};
use call::run;

type Id = Result<Path<String>, PathRejection>;

/// The paths below `/legacy-api`.
pub fn router(state: ApiState) -> Router {
    let list = async |State(state): State<ApiState>, request: Request| {
        run(state, Right::View, request, devices::list).await
    };
    let create = async |State(state): State<ApiState>, request: Request| {
        run(state, Right::Edit, request, edits::create).await
    };
    let change = async |State(state): State<ApiState>, id: Id, request: Request| {
        run(state, Right::Edit, request, |call| edits::change(call, text(id))).await
    };
    let remove = async |State(state): State<ApiState>, id: Id, request: Request| {
        run(state, Right::Edit, request, |call| edits::remove(call, text(id))).await
    };
    let locations = async |State(state): State<ApiState>, request: Request| {
        run(state, Right::View, request, locations::list).await
    };
    Router::new()
        .route("/login", post(login::log_in))
        .route("/devices", get(list).post(create))
        .route("/devices/{id}", patch(change).delete(remove))
        .route("/locations", get(locations))
        .with_state(state)
        .fallback(async || refused("path"))
        .method_not_allowed_fallback(async || refused("method"))
        .layer(CatchPanicLayer::custom(|_| {
            Metadata::default().refuse(&Fault::trouble("The server could not answer this; see its log."))
        }))
}

/// The number in the path, as it stands there; nothing when it is no text.
fn text(id: Id) -> String {
    id.map(|Path(text)| text).unwrap_or_default()
}

fn refused(what: &str) -> Response {
    Metadata::default().refuse(&Fault::invalid(what))
}
