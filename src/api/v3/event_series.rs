//! `GET /events/series`: values and quantities of events over time (behaviour.md 1). The shape is Vigie's own.

use std::time::Duration;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde_json::{Value, json};

use super::response_schemas as schema;
use crate::api::error::ApiError;
use crate::api::operation::{Operation, OperationMethod, Param, ParamType, ResponseSpec};
use crate::api::operation_router::OperationRouter;
use crate::api::query::QueryParams;
use crate::api::state::ApiState;
use crate::domain::{EventPoint, EventSeriesQuery, Permission, Timestamp};
use crate::service::{Caller, event_label};

/// Each step with its seconds, and the days before `thru` where the series start by default.
const STEPS: [(&str, u64, u64); 3] = [("minute", 60, 1), ("hour", 3600, 7), ("day", 86_400, 90)];
const STEP_NAMES: [&str; 3] = ["minute", "hour", "day"];

pub(super) fn add_routes(router: OperationRouter) -> OperationRouter {
    let summary = "Number, quantity and values of events over time, one series for each type";
    let operation = Operation::new(
        OperationMethod::Get,
        "/events/series",
        "getEventSeries",
        "events",
        summary,
    )
    .with_permission(Some(Permission::View))
    .with_query_params(&[
        Param::new("event", ParamType::Text, "Those of this type"),
        Param::new(
            "from",
            ParamType::Time,
            "Reported at this time or later; by default 1, 7 or 90 days before `thru`, depending on `step`",
        ),
        Param::new("thru", ParamType::Time, "Reported before this time; now by default"),
        Param::new("step", ParamType::Choice(&STEP_NAMES), "Length of a step, UTC; an hour by default"),
    ])
    .with_response(ResponseSpec::JsonSchema(response_schema()));
    router.route(operation, get_series)
}

async fn get_series(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    mut query: QueryParams,
) -> Result<Response, ApiError> {
    let zone = state.record_service.time_zone(&caller).await?;
    let (from, until) = super::records::parse_time_range(&mut query, &zone);
    let step = query.parse_value("step", "one of `minute`, `hour`, `day`", |text| {
        STEPS.into_iter().find(|(name, ..)| *name == text)
    });
    let event_type = query.value("event").map(str::to_owned);
    let (step_name, seconds, days) = step.unwrap_or(STEPS[1]);
    let until = until.unwrap_or_else(|| state.clock.now());
    let from = from.unwrap_or_else(|| until - Duration::from_secs(days * 86_400));
    if from >= until {
        query.push_error("`from` must be before `thru`");
    }
    query.into_result()?;
    let step_us = i64::try_from(seconds * 1_000_000).unwrap_or(i64::MAX);
    let query = EventSeriesQuery { customer: caller.customer, event_type, from, until, step_us };
    let series = state.record_service.event_series(&caller, query).await?;
    let series: Vec<Value> = series
        .into_iter()
        .map(|(event, points)| {
            let points: Vec<Value> = points.into_iter().map(point_json).collect();
            json!({"event": event, "name": event_label(&event), "points": points})
        })
        .collect();
    Ok(Json(json!({"step": step_name, "from": from, "thru": until, "series": series})).into_response())
}

fn point_json((at, point): (Timestamp, EventPoint)) -> Value {
    let values = point.values;
    json!({
        "at": at, "events": point.events, "quantity": point.quantity,
        "value_min": values.map(|values| values.min),
        "value_mean": values.map(|values| values.mean()),
        "value_max": values.map(|values| values.max),
    })
}

fn response_schema() -> Value {
    let count = |description: &str| json!({"type": "integer", "minimum": 0, "description": description});
    let value = |what: &str| {
        let description = format!("{what} of the values that are numbers; null without one");
        json!({"type": ["number", "null"], "description": description})
    };
    let point = schema::named_object_schema(
        "EventPoint",
        &["at", "events", "quantity", "value_min", "value_mean", "value_max"],
        json!({
            "at": schema::timestamp_schema("Start of the step"),
            "events": count("Events in the step"),
            "quantity": count("Sum of their quantities"),
            "value_min": value("Smallest"), "value_mean": value("Mean"), "value_max": value("Largest"),
        }),
    );
    let series = schema::named_object_schema(
        "EventTypeSeries",
        &["event", "name", "points"],
        json!({
            "event": schema::string_schema("Type of the events"),
            "name": schema::string_schema("Its label"),
            "points": {"type": "array", "items": point, "description": "Steps without an event have no point"},
        }),
    );
    schema::named_object_schema(
        "EventSeries",
        &["step", "from", "thru", "series"],
        json!({
            "step": {"type": "string", "enum": STEP_NAMES},
            "from": schema::timestamp_schema("Start"),
            "thru": schema::timestamp_schema("End, which is not in it"),
            "series": {"type": "array", "items": series},
        }),
    )
}
