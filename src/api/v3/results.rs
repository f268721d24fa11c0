//! `GET /results` and `GET /results/{id}`.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::{Method, Uri};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use futures::stream;

use crate::api::ApiError;
use crate::api::list;
use crate::api::query::{Query, Window, time, words};
use crate::api::routes::Routes;
use crate::api::{Answer, ApiState, Operation};
use crate::control::{Caller, Page, ResultFilter, ResultPage, StoreError, View};
use crate::model::{CheckId, CheckResult, LocationId, MonitorId, Outcome, Right};

/// How many results are read and sent at a time.
const STEP: u32 = 500;

pub(super) fn routes(routes: Routes) -> Routes {
    let list_all =
        Operation::new(Method::GET, "/results", "listResults", "results", "Check results, newest first")
            .right(Some(Right::Report))
            .paged()
            .answer(Answer::Schema(serde_json::Value::Bool(true)));
    let get_one = Operation::new(Method::GET, "/results/{id}", "getResult", "results", "One check result")
        .right(Some(Right::Report))
        .answer(Answer::Schema(serde_json::Value::Bool(true)));
    routes.on(list_all, list).on(get_one, one)
}

/// `GET /results?monitor_id=&location_id=&from=&thru=&outcome=&limit=&offset=`, newest first. `monitor_id`
/// and `outcome` take comma lists; `from` is in the window, `thru` is not.
async fn list(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    uri: Uri,
) -> Result<Response, ApiError> {
    let (mut filter, window) = read(&uri)?;
    filter.customer = Some(caller.customer);
    let view = state.view;
    let offset = window.offset.unwrap_or(0);
    let left = window.limit.unwrap_or(u64::MAX);
    let first = view.results(filter.clone(), page(left, offset)).await?;
    let count = first.count;
    let walk = Walk { view, filter, offset, left, fetched: Some(first), seen: HashSet::new() };
    Ok(list::respond(caller.role, count, window, stream::try_unfold(walk, Walk::next)))
}

/// `GET /results/{id}`: the bare object.
async fn one(
    State(ApiState { view, .. }): State<ApiState>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let id: CheckId = id.parse().map_err(|_| ApiError::not_found())?;
    let result = view.result(id).await?.ok_or_else(ApiError::not_found)?;
    Ok(Json(result).into_response())
}

fn read(uri: &Uri) -> Result<(ResultFilter, Window), ApiError> {
    let known = ["monitor_id", "location_id", "from", "thru", "outcome", "limit", "offset"];
    let mut query = Query::of(uri, &known);
    let outcomes = format!("one or several of {}", words(&Outcome::ALL));
    let times = "a time as `2026-11-20T12:00:00Z` or `2026-11-20 12:00:00` (UTC)";
    let id = |text: &str| text.parse::<i64>().ok();
    let filter = ResultFilter {
        monitors: query.many("monitor_id", "an id or a comma list of ids", |text| id(text).map(MonitorId)),
        location: query.one("location_id", "an id", |text| id(text).map(LocationId)),
        from: query.one("from", times, time),
        thru: query.one("thru", times, time),
        outcomes: query.many("outcome", outcomes, Outcome::from_name),
        customer: None,
    };
    if let (Some(from), Some(thru)) = (filter.from, filter.thru)
        && from >= thru
    {
        query.fault("`from` must lie before `thru`");
    }
    let window = query.window();
    query.finish()?;
    Ok((filter, window))
}

fn page(left: u64, offset: u64) -> Page {
    Page { limit: u32::try_from(left).unwrap_or(STEP).min(STEP), offset }
}

/// Reads on, page by page. New results push older ones into the next page; those are not sent twice.
struct Walk {
    view: Arc<View>,
    filter: ResultFilter,
    offset: u64,
    left: u64,
    fetched: Option<ResultPage>,
    seen: HashSet<CheckId>,
}

impl Walk {
    async fn next(mut self) -> Result<Option<(Vec<u8>, Self)>, StoreError> {
        let fetched = match self.fetched.take() {
            Some(first) => first,
            None if self.left == 0 => return Ok(None),
            None => self.view.results(self.filter.clone(), page(self.left, self.offset)).await?,
        };
        let rows = fetched.results.len() as u64;
        let times = fetched.results.first().zip(fetched.results.last());
        let times = times.map(|(first, last)| (first.planned_at, last.planned_at));
        let at_last = fetched.results.iter().filter(|result| times.is_some_and(|t| result.planned_at == t.1));
        let at_last = at_last.count() as u64;
        let fresh: Vec<CheckResult> =
            fetched.results.into_iter().filter(|result| !self.seen.contains(&result.check_id)).collect();
        match times {
            // On by time: an offset would read all that was sent before anew for each page.
            Some((first, last)) if first != last => {
                self.filter.thru = Some(last + Duration::from_micros(1));
                self.offset = at_last;
            }
            _ => self.offset += rows,
        }
        self.left = if rows < u64::from(STEP) { 0 } else { self.left.saturating_sub(fresh.len() as u64) };
        self.seen = fresh.iter().map(|result| result.check_id).collect();
        Ok(Some((list::piece(&fresh), self)))
    }
}
