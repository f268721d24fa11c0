//! `GET /results`, `GET /results/{id}` and the files that a result holds (behaviour.md 1).

mod course;
mod played;
pub(super) mod schema;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use futures::stream;
use jiff::tz::TimeZone;

use crate::api::path::number;
use crate::api::query::{Query, Window, time_in, words};
use crate::api::routes::Routes;
use crate::api::{Answer, ApiError, ApiState, Operation, Param, ParamKind, Verb, list};
use crate::domain::{CheckId, CheckResult, LocationId, MonitorId, Outcome, Right};
use crate::service::{Caller, View};
use crate::service::{Page, ResultFilter, ResultPage, StoreError};

/// How many results are read and sent at a time.
const STEP: u32 = 500;
/// Words of [`Outcome`].
const OUTCOMES: [&str; 6] = ["ok", "warning", "error", "unknown", "missed", "blackout"];
/// The number of a result.
const ID: Param = Param::new("id", ParamKind::Pattern("^[0-9a-f]{16}$"), "Number of the result");

pub(super) fn routes(routes: Routes) -> Routes {
    let list_all = Operation::new(
        Verb::Get,
        "/results",
        "listResults",
        "results",
        "Check results of the account's monitors, removed ones too; newest first",
    )
    .right(Some(Right::Report))
    .query(&[
        Param::new("monitor_id", ParamKind::Ids, "Of these monitors only"),
        Param::new("location_id", ParamKind::Int(1), "Of this location only"),
        Param::new("from", ParamKind::Time, "Planned at or after"),
        Param::new("thru", ParamKind::Time, "Planned before"),
        Param::new("outcome", ParamKind::Choices(&OUTCOMES), "Of these outcomes only"),
    ])
    .paged()
    .answer(Answer::Schema(schema::list()));
    let get_one = Operation::new(Verb::Get, "/results/{id}", "getResult", "results", "One check result")
        .right(Some(Right::Report))
        .path_param(ID)
        .answer(Answer::Schema(schema::result()));
    let get_file = Operation::new(
        Verb::Get,
        "/results/{id}/captures/{name}",
        "getResultCapture",
        "results",
        "A file that a result holds, such as the body of a bad answer",
    )
    .right(Some(Right::Report))
    .path_param(ID)
    .path_param(Param::new("name", ParamKind::Text, "Name of the file, as `captures` of the result has it"))
    .answer(Answer::File);
    routes.on(list_all, list).on(get_one, one).on(get_file, file)
}

/// Newest first. `from` is in the window, `thru` is not.
async fn list(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    query: Query,
) -> Result<Response, ApiError> {
    let facts = state.directory.facts(caller.customer).await?;
    let (mut filter, window) = read(query, &facts.time_zone)?;
    filter.customer = Some(caller.customer);
    let view = state.view;
    let offset = window.offset.unwrap_or(0);
    let left = window.limit.unwrap_or(u64::MAX);
    let first = view.results(filter.clone(), page(left, offset)).await?;
    let count = first.count;
    let walk = Walk { view, filter, offset, left, fetched: Some(first), seen: HashSet::new() };
    Ok(list::respond(caller.role, count, window, stream::try_unfold(walk, Walk::next)))
}

/// The bare object.
async fn one(
    State(ApiState { view, .. }): State<ApiState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let result = view.result_of(caller.customer, check_id(&id)?).await?.ok_or_else(ApiError::not_found)?;
    Ok(Json(result).into_response())
}

/// The content of a file. It comes from a target, which may be hostile: a browser saves it and shows nothing.
async fn file(
    State(ApiState { view, .. }): State<ApiState>,
    Extension(caller): Extension<Caller>,
    Path((id, name)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let id = check_id(&id)?;
    view.result_of(caller.customer, id).await?.ok_or_else(ApiError::not_found)?;
    let capture = view.capture(id, name).await?.ok_or_else(ApiError::not_found)?;
    let content = capture.content.ok_or_else(ApiError::not_found)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let name: String = capture.name.chars().map(|c| if plain(c) { c } else { '_' }).collect();
    let value = |text: &str| {
        HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static("application/octet-stream"))
    };
    let fields: [(HeaderName, HeaderValue); 4] = [
        (header::CONTENT_TYPE, value(&capture.mimetype)),
        (header::CONTENT_DISPOSITION, value(&format!("attachment; filename=\"{name}\""))),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox")),
    ];
    Ok((fields, content.to_vec()).into_response())
}

/// Anything but 16 hexadecimal digits, as we write them, is no result.
fn check_id(text: &str) -> Result<CheckId, ApiError> {
    let id: CheckId = text.parse().map_err(|_| ApiError::not_found())?;
    if id.to_string() == text { Ok(id) } else { Err(ApiError::not_found()) }
}

fn read(mut query: Query, zone: &TimeZone) -> Result<(ResultFilter, Window), ApiError> {
    let outcomes = format!("one or several of {}", words(&OUTCOMES));
    let times = "a time as `2026-11-20T12:00:00Z`, or `2026-11-20 12:00:00` in the account's time zone";
    let time = |text: &str| time_in(zone, text);
    let filter = ResultFilter {
        monitors: query
            .many("monitor_id", "an id or a comma list of ids", |text| number(text).map(MonitorId)),
        location: query.one("location_id", "an id", |text| number(text).map(LocationId)),
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

/// A list has thousands of results, and headers and bodies make up most of some.
fn without_exchanges(mut result: CheckResult) -> CheckResult {
    result.course.exchanges.clear();
    for step in &mut result.course.steps {
        step.exchanges.clear();
        if let Some(played) = &mut step.played {
            played.objects.clear();
            played.console.clear();
        }
    }
    result
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
        let fresh = fetched.results.into_iter().filter(|result| !self.seen.contains(&result.check_id));
        let fresh: Vec<CheckResult> = fresh.map(without_exchanges).collect();
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

#[cfg(test)]
mod tests;
