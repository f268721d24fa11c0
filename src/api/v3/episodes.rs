//! GET `/episodes`, GET `/episodes/{id}`, POST `/episodes/{id}/acknowledge`: outages.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use axum::{Extension, Json};
use serde_json::{Map, Value};

use super::records::parse_time_range;
use crate::api::error::ApiError;
use crate::api::list_response;
use crate::api::operation::{Operation, OperationMethod, Param, ParamType, ResponseSpec};
use crate::api::operation_router::OperationRouter;
use crate::api::path::IdParam;
use crate::api::query::QueryParams;
use crate::api::state::ApiState;
use crate::domain::{EpisodeFilter, EpisodeId, MonitorId, Permission};
use crate::schema::table::alerting::{EPISODE, EPISODE_DETAIL};
use crate::service::Caller;

const BOOLEANS: &[&str] = &["true", "false"];

const FILTER_PARAMS: &[Param] = &[
    Param::new("monitor_id", ParamType::Int(1), "Of this monitor"),
    Param::new("open", ParamType::Choice(BOOLEANS), "Ongoing outages, or ended ones"),
    Param::new("from", ParamType::Time, "Open at this time or later"),
    Param::new("thru", ParamType::Time, "Started before this time"),
];

pub(super) fn add_routes(router: OperationRouter) -> OperationRouter {
    let list_operation = Operation::new(
        OperationMethod::Get,
        "/episodes",
        "listEpisodes",
        "episodes",
        "Outages, newest first",
    )
    .with_query_params(FILTER_PARAMS)
    .with_paging()
    .with_response(ResponseSpec::List(vec![&EPISODE]));
    let summary = "One outage, with its notifications";
    let get_operation =
        Operation::new(OperationMethod::Get, "/episodes/{id}", "getEpisode", "episodes", summary)
            .with_response(ResponseSpec::Object(&EPISODE_DETAIL));
    let path = "/episodes/{id}/acknowledge";
    let summary = "Acknowledge an open outage: no further error notifications; its end is still notified";
    let acknowledge_operation =
        Operation::new(OperationMethod::Post, path, "acknowledgeEpisode", "episodes", summary)
            .with_permission(Some(Permission::Edit))
            .with_response(ResponseSpec::Object(&EPISODE))
            .with_additional_status(409, "The outage has ended");
    router
        .route(list_operation, list_episodes)
        .route(get_operation, get_episode)
        .route(acknowledge_operation, acknowledge_episode)
}

async fn list_episodes(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    mut query: QueryParams,
) -> Result<Response, ApiError> {
    let zone = state.record_service.time_zone(&caller).await?;
    let (from, until) = parse_time_range(&mut query, &zone);
    let parse_positive_id = |text: &str| text.parse::<i64>().ok().filter(|id| *id > 0);
    let filter = EpisodeFilter {
        customer: None,
        monitor: query.parse_value("monitor_id", "an id", parse_positive_id).map(MonitorId),
        is_open: query.parse_value("open", "`true` or `false`", |text| text.parse::<bool>().ok()),
        from,
        until,
    };
    let paging = query.paging();
    query.into_result()?;
    let (role, alerts) = (caller.role, state.alert_service);
    // Outages are ordered by start, not by id, so only a repeat of the last one can be detected.
    let is_different_id = |last, id| id != last;
    list_response::stream_pages(role, paging, is_different_id, move |page| {
        let (alerts, caller, filter) = (Arc::clone(&alerts), caller.clone(), filter.clone());
        async move { alerts.episodes(&caller, filter, page).await }
    })
    .await
}

async fn get_episode(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    IdParam(id): IdParam,
) -> Result<Json<Map<String, Value>>, ApiError> {
    Ok(Json(state.alert_service.episode(&caller, EpisodeId(id)).await?))
}

async fn acknowledge_episode(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    IdParam(id): IdParam,
) -> Result<Json<Map<String, Value>>, ApiError> {
    Ok(Json(state.alert_service.acknowledge_episode(&caller, EpisodeId(id)).await?))
}
