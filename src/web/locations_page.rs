//! The page of the locations, and of their agents on other hosts.

use std::collections::HashMap;
use std::fmt::Write;

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};

use super::html::{escape, format_time, render_age, render_reloading_document};
use super::locations_state::LocationsState;
use super::responses::service_unavailable;
use super::viewer::{SessionControl, Viewer};
use crate::domain::Timestamp;
use crate::service::LocationsOverview;

/// `GET /locations`
pub(super) async fn get_page(
    State(state): State<LocationsState>,
    Extension(viewer): Extension<Viewer>,
) -> Response {
    match state.config_record_service.locations_overview(viewer.visible_account).await {
        Ok(mut overview) => {
            let is_signed_in = !matches!(viewer.session_control, SessionControl::SignIn);
            if !is_signed_in {
                // Names and versions of hosts are not for everybody, even where the pages are.
                overview.agents.clear();
            }
            let body = render_overview(&overview, is_signed_in, state.clock.now());
            render_reloading_document("Locations · Vigie", &body, &viewer).into_response()
        }
        Err(error) => service_unavailable(&error),
    }
}

fn render_overview(overview: &LocationsOverview, is_signed_in: bool, now: Timestamp) -> String {
    let mut out = format!("<h1>Locations <small>{} UTC</small></h1>", format_time(now));
    out.push_str(&render_table(
        &["State", "Location", "Id", "Region", "Agents", "Verifies", "Made in"],
        overview.locations.iter().map(location_cells),
    ));
    if !is_signed_in {
        return out;
    }
    out.push_str("<h2>Agents on other hosts</h2>");
    if overview.agents.is_empty() {
        out.push_str(
            r#"<p class="notice">There are none. <a href="/manual/many-hosts">Many hosts</a> tells how to run agents on other hosts.</p>"#,
        );
        return out;
    }
    let names: HashMap<i64, &str> = overview
        .locations
        .iter()
        .filter_map(|location| Some((location.get("id")?.as_i64()?, location.get("name")?.as_str()?)))
        .collect();
    out.push_str(&render_table(
        &[
            "State",
            "Agent",
            "Location",
            "Last seen",
            "Version",
            "Clock offset",
            "Lateness",
            "Monitors",
            "Queue",
            "Backlog",
            "Spool",
            "Dropped",
            "Browsers",
        ],
        overview.agents.iter().map(|agent| agent_cells(agent, &names, now)),
    ));
    out
}

fn render_table<'t>(head: &'t [&'t str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut out = String::from(r#"<div class="scroll"><table class="rows"><thead><tr>"#);
    for name in head {
        let _ = write!(out, "<th>{name}</th>");
    }
    out.push_str("</tr></thead><tbody>");
    for row in rows {
        out.push_str("<tr>");
        for (index, (name, cell)) in head.iter().zip(row).enumerate() {
            // The first two cells need no heading on a narrow screen.
            let heading =
                if index < 2 { String::new() } else { format!(r#" data-h="{}""#, name.to_lowercase()) };
            let _ = write!(out, "<td{heading}>{cell}</td>");
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div>");
    out
}

fn location_cells(location: &Map<String, Value>) -> Vec<String> {
    let health = |name: &str| location.get("health").and_then(|health| health.get(name));
    let count = |name: &str| health(name).and_then(Value::as_u64).unwrap_or_default();
    let is_true = |name: &str| location.get(name) == Some(&Value::Bool(true));
    let state = health("state").and_then(Value::as_str).unwrap_or("away");
    vec![
        state_pill(state, if state == "alive" { "ok" } else { "error" }),
        text_cell(location, "name"),
        text_cell(location, "id"),
        text_cell(location, "region"),
        format!("{} of {}", count("alive"), count("agents")),
        if is_true("verifies") { "yes" } else { "no" }.to_owned(),
        if is_true("managed") { "settings" } else { "API" }.to_owned(),
    ]
}

fn agent_cells(
    agent: &Map<String, Value>,
    location_names: &HashMap<i64, &str>,
    now: Timestamp,
) -> Vec<String> {
    let state = agent.get("state").and_then(Value::as_str).unwrap_or_default();
    let color = match state {
        "online" => "ok",
        "draining" => "warning",
        _ => "error",
    };
    let location = agent.get("location_id").and_then(Value::as_i64).unwrap_or_default();
    let location =
        location_names.get(&location).map_or_else(|| location.to_string(), |name| escape(name).into_owned());
    let last_seen = agent.get("last_seen_at").and_then(Value::as_str).and_then(Timestamp::parse);
    let number = |name: &str, unit: &str| match agent.get(name).filter(|value| !value.is_null()) {
        Some(value) => format!("{value}{unit}"),
        None => String::new(),
    };
    let (results, bytes) = (number("spooled_results", ""), agent.get("spool_bytes").and_then(Value::as_u64));
    let spool = bytes.map_or_else(String::new, |bytes| format!("{results} ({} KiB)", bytes.div_ceil(1024)));
    let dropped = match (number("dropped_results", ""), number("dropped_captures", "")) {
        (results, captures) if results.is_empty() && captures.is_empty() => String::new(),
        (results, captures) if results == "0" && captures == "0" => "none".to_owned(),
        (results, captures) => format!("{results} results, {captures} captures"),
    };
    vec![
        state_pill(state, color),
        text_cell(agent, "name"),
        location,
        last_seen.map_or_else(String::new, |at| render_age(at, now)),
        text_cell(agent, "version"),
        number("clock_offset_ms", " ms"),
        number("lateness_ms", " ms"),
        number("planned_monitors", ""),
        number("waiting_checks", ""),
        number("waiting_results", ""),
        spool,
        dropped,
        number("browser_capacity", ""),
    ]
}

fn state_pill(state: &str, color: &str) -> String {
    format!(r#"<span class="pill s-{color}">{}</span>"#, escape(state))
}

fn text_cell(object: &Map<String, Value>, name: &str) -> String {
    match object.get(name) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => escape(text).into_owned(),
        Some(value) => escape(&value.to_string()).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn into_object(value: Value) -> Map<String, Value> {
        let Value::Object(object) = value else { unreachable!() };
        object
    }

    #[test]
    fn hostile_names_are_shown_as_text_and_unknown_values_are_empty() {
        let overview = LocationsOverview {
            locations: vec![into_object(json!({
                "id": 100_001, "name": "<b>north", "region": 2, "private": true, "managed": false, "verifies": true,
                "health": {"agents": 2, "alive": 1, "state": "alive"},
            }))],
            agents: vec![
                into_object(json!({
                    "id": 7, "location_id": 100_001, "name": "\"><script>", "state": "online", "version": "1.2.3",
                    "last_seen_at": "2026-01-01T00:00:00Z", "clock_offset_ms": -12, "lateness_ms": 3,
                    "planned_monitors": 800, "waiting_checks": 2, "waiting_results": 40, "spooled_results": 90,
                    "spool_bytes": 4096, "dropped_results": 1, "dropped_captures": 0, "browser_capacity": 4,
                })),
                into_object(
                    json!({"id": 8, "location_id": 6, "name": "b", "state": "offline", "version": null}),
                ),
            ],
        };
        let html = render_overview(&overview, true, Timestamp::from_seconds(1_767_225_605));
        assert!(!html.contains("<b>") && !html.contains("<script"), "{html}");
        for text in
            ["1 of 2", "5 s ago", "-12 ms", "90 (4 KiB)", "1 results, 0 captures", ">40<", "offline", ">6<"]
        {
            assert!(html.contains(text), "{text}: {html}");
        }
        let public = render_overview(&overview, false, Timestamp::from_seconds(0));
        assert!(public.contains("1 of 2") && !public.contains("1.2.3"), "{public}");
        let none = render_overview(&LocationsOverview::default(), true, Timestamp::from_seconds(0));
        assert!(none.contains("/manual/many-hosts"), "{none}");
    }
}
