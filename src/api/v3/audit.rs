//! GET `/audit`: who changed what, newest first.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{Method, Uri};
use axum::response::Response;
use futures::stream;
use serde_json::{Map, Value};

use super::records::window;
use crate::api::query::Query;
use crate::api::routes::Routes;
use crate::api::{Answer, ApiError, ApiState, Operation, Param, ParamKind, list};
use crate::control::{AuditFilter, Caller, Listed, Page, Refusal, Resources, StoreError};
use crate::model::table::records::AUDIT_ENTRY;

/// How many entries are read and sent at a time.
const STEP: u32 = 500;

const PARAMS: &[Param] = &[
    Param::new("login", ParamKind::Text, "Done by this login"),
    Param::new("object", ParamKind::Text, "Done to this kind of thing, such as `monitor`"),
    Param::new("object_id", ParamKind::Int(1), "Done to this one"),
    Param::new("from", ParamKind::Time, "At this time or later"),
    Param::new("thru", ParamKind::Time, "Before this time"),
];

pub(super) fn routes(routes: Routes) -> Routes {
    let about = "Who changed what, newest first";
    let operation = Operation::new(Method::GET, "/audit", "listAudit", "audit", about)
        .query(PARAMS)
        .paged()
        .answer(Answer::List(vec![&AUDIT_ENTRY]));
    routes.on(operation, entries)
}

async fn entries(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    uri: Uri,
) -> Result<Response, ApiError> {
    let zone = state.resources.time_zone(&caller).await?;
    let mut query = Query::of(&uri, &["login", "object", "object_id", "from", "thru", "limit", "offset"]);
    let (from, thru) = window(&mut query, &zone);
    let id = |text: &str| text.parse::<i64>().ok().filter(|id| *id > 0);
    let filter = AuditFilter {
        customer: None,
        login: query.text("login").map(str::to_owned),
        object: query.text("object").map(str::to_owned),
        object_id: query.one("object_id", "an id", id),
        from,
        thru,
    };
    let shown = query.window();
    query.finish()?;
    let (offset, left) = (shown.offset.unwrap_or(0), shown.limit.unwrap_or(u64::MAX));
    let resources = state.resources;
    let first = resources.audit(&caller, filter.clone(), page(left, offset)).await?;
    let (role, count) = (caller.role, first.count);
    let walk = Walk { resources, caller, filter, offset, left, last: None, fetched: Some(first) };
    Ok(list::respond(role, count, shown, stream::try_unfold(walk, Walk::next)))
}

fn page(left: u64, offset: u64) -> Page {
    Page { limit: u32::try_from(left).unwrap_or(STEP).min(STEP), offset }
}

/// Reads on, page by page. New entries push older ones into the next page; those are not sent twice.
struct Walk {
    resources: Arc<Resources>,
    caller: Caller,
    filter: AuditFilter,
    offset: u64,
    left: u64,
    /// The lowest id that was sent.
    last: Option<i64>,
    fetched: Option<Listed<Map<String, Value>>>,
}

impl Walk {
    async fn next(mut self) -> Result<Option<(Vec<u8>, Self)>, StoreError> {
        let fetched = match self.fetched.take() {
            Some(first) => first,
            None if self.left == 0 => return Ok(None),
            None => {
                let page = page(self.left, self.offset);
                self.resources.audit(&self.caller, self.filter.clone(), page).await.map_err(broken)?
            }
        };
        let rows = fetched.rows.len() as u64;
        let id = |entry: &Map<String, Value>| entry.get("id").and_then(Value::as_i64);
        let fresh: Vec<_> = fetched
            .rows
            .into_iter()
            .filter(|entry| self.last.is_none_or(|last| id(entry) < Some(last)))
            .collect();
        self.offset += rows;
        self.last = fresh.last().and_then(id).or(self.last);
        self.left = if rows < u64::from(STEP) { 0 } else { self.left.saturating_sub(fresh.len() as u64) };
        Ok(Some((list::piece(&fresh), self)))
    }
}

/// In the middle of an answer only the store can still refuse.
fn broken(refusal: Refusal) -> StoreError {
    match refusal {
        Refusal::Store(error) => error,
        _ => StoreError::Closed,
    }
}
