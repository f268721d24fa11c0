//! GET `/episodes`, GET `/episodes/{id}`, POST `/episodes/{id}/acknowledge`: outages.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use axum::{Extension, Json};
use serde_json::{Map, Value};

use super::records::window;
use crate::api::error::ApiError;
use crate::api::list;
use crate::api::operation::{Answer, Operation, Param, ParamKind, Verb};
use crate::api::path::Id;
use crate::api::query::Query;
use crate::api::routes::Routes;
use crate::api::state::ApiState;
use crate::domain::{EpisodeFilter, EpisodeId, MonitorId, Permission};
use crate::schema::table::alerting::{EPISODE, EPISODE_DETAIL};
use crate::service::Caller;

const FLAGS: &[&str] = &["true", "false"];

const PARAMS: &[Param] = &[
    Param::new("monitor_id", ParamKind::Int(1), "Of this monitor"),
    Param::new("open", ParamKind::Choice(FLAGS), "Those that go on, or those that ended"),
    Param::new("from", ParamKind::Time, "Open at this time or later"),
    Param::new("thru", ParamKind::Time, "Begun before this time"),
];

pub(super) fn routes(routes: Routes) -> Routes {
    let all = Operation::new(Verb::Get, "/episodes", "listEpisodes", "episodes", "Outages, newest first")
        .query(PARAMS)
        .paged()
        .answer(Answer::List(vec![&EPISODE]));
    let about = "One outage, with the messages about it";
    let one = Operation::new(Verb::Get, "/episodes/{id}", "getEpisode", "episodes", about)
        .answer(Answer::One(&EPISODE_DETAIL));
    let path = "/episodes/{id}/acknowledge";
    let about = "Acknowledge an open outage: its errors are told no more, but its end is";
    let acknowledge = Operation::new(Verb::Post, path, "acknowledgeEpisode", "episodes", about)
        .right(Some(Permission::Edit))
        .answer(Answer::One(&EPISODE))
        .or(409, "The outage has ended");
    routes.on(all, many).on(one, get).on(acknowledge, note)
}

async fn many(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    mut query: Query,
) -> Result<Response, ApiError> {
    let zone = state.resources.time_zone(&caller).await?;
    let (from, thru) = window(&mut query, &zone);
    let id = |text: &str| text.parse::<i64>().ok().filter(|id| *id > 0);
    let filter = EpisodeFilter {
        customer: None,
        monitor: query.one("monitor_id", "an id", id).map(MonitorId),
        open: query.one("open", "`true` or `false`", |text| text.parse::<bool>().ok()),
        from,
        until: thru,
    };
    let shown = query.window();
    query.finish()?;
    let (role, alerting) = (caller.role, state.alerting);
    // Ids say nothing of their order in time: a page is taken as it comes.
    let any = |last, id| id != last;
    list::paged(role, shown, any, move |page| {
        let (alerting, caller, filter) = (Arc::clone(&alerting), caller.clone(), filter.clone());
        async move { alerting.episodes(&caller, filter, page).await }
    })
    .await
}

async fn get(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
) -> Result<Json<Map<String, Value>>, ApiError> {
    Ok(Json(state.alerting.episode(&caller, EpisodeId(id)).await?))
}

async fn note(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
) -> Result<Json<Map<String, Value>>, ApiError> {
    Ok(Json(state.alerting.acknowledge(&caller, EpisodeId(id)).await?))
}
