//! The page of the locations, and of their agents on other hosts.

use std::collections::HashMap;
use std::fmt::Write;

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};

use super::html::{escape, render_age};
use super::live::{LiveBlock, LivePage, LiveRow};
use super::locations_state::LocationsState;
use super::page_frame::{PageFrame, Section, render_page};
use super::responses::service_unavailable;
use super::viewer::{NotSignedIn, Viewer};
use crate::domain::Timestamp;
use crate::service::LocationsOverview;
use crate::texts::{Locale, key};

/// `GET /locations`
pub(super) async fn get_page(
    State(state): State<LocationsState>,
    Extension(viewer): Extension<Viewer>,
) -> Response {
    let page = match live_page(&state, &viewer).await {
        Ok(page) => page,
        Err(response) => return response,
    };
    let frame = PageFrame {
        section: Some(Section::Locations),
        ..PageFrame::new(&page.title, &viewer).at(state.clock.now())
    };
    render_page(
        frame,
        &format!("<h1>{}</h1>{}", viewer.locale().text("Locations"), page.render("/locations")),
    )
    .into_response()
}

/// Makes what changes by itself of the page.
pub(super) async fn live_page(state: &LocationsState, viewer: &Viewer) -> Result<LivePage, Response> {
    let overview_of = async |account| {
        let overview = state.config_record_service.locations_overview(account).await;
        overview.map_err(|error| service_unavailable(&error))
    };
    let mut overview = overview_of(viewer.visible_account).await?;
    // Names and versions of hosts are not for everybody, even where the pages are.
    let agents_account = viewer.account_of_caller();
    match agents_account {
        Ok(account) if account == viewer.visible_account => {}
        Ok(account) => overview.agents = overview_of(account).await?.agents,
        Err(NotSignedIn) => overview.agents.clear(),
    }
    let blocks = render_overview(&overview, agents_account.is_ok(), state.clock.now(), viewer.locale());
    Ok(LivePage { title: format!("{} · Vigie", viewer.locale().text("Locations")), blocks })
}

fn render_overview(
    overview: &LocationsOverview,
    is_signed_in: bool,
    now: Timestamp,
    t: Locale,
) -> Vec<LiveBlock> {
    let id_of = |object: &Map<String, Value>| object.get("id").and_then(Value::as_i64).unwrap_or_default();
    let locations = render_table(
        "locations",
        &[
            key("State"),
            key("Location"),
            key("Id"),
            key("Region"),
            key("Agents"),
            key("Verifies"),
            key("Made in"),
        ],
        overview.locations.iter().map(|location| (id_of(location), location_cells(location, t))),
        t,
    );
    if !is_signed_in {
        return vec![locations];
    }
    let heading = format!("<h2>{}</h2>", t.text("Agents on other hosts"));
    if overview.agents.is_empty() {
        let notice = t.text("There are none. <a href='/manual/many-hosts'>Many hosts</a> tells how to run agents on other hosts.");
        let notice = format!(r#"<p class="notice">{notice}</p>"#);
        return vec![locations, LiveBlock::new("agents", format!("{heading}{notice}"))];
    }
    let names: HashMap<i64, &str> = overview
        .locations
        .iter()
        .filter_map(|location| Some((location.get("id")?.as_i64()?, location.get("name")?.as_str()?)))
        .collect();
    let mut agents = render_table(
        "agents",
        &[
            key("State"),
            key("Agent"),
            key("Location"),
            key("Last seen"),
            key("Version"),
            key("Clock offset"),
            key("Lateness"),
            key("Monitors"),
            key("Queue"),
            key("Backlog"),
            key("Spool"),
            key("Dropped"),
            key("Browsers"),
        ],
        overview.agents.iter().map(|agent| (id_of(agent), agent_cells(agent, &names, now, t))),
        t,
    );
    agents.before.insert_str(0, &heading);
    vec![locations, agents]
}

/// Renders a table as the part `id`; each row has an id of its own.
fn render_table(
    id: &'static str,
    head: &[&str],
    rows: impl Iterator<Item = (i64, Vec<String>)>,
    t: Locale,
) -> LiveBlock {
    let mut before = String::from(r#"<div class="scroll"><table class="rows"><thead><tr>"#);
    for name in head {
        // Writing into a string cannot fail.
        let _ = write!(before, "<th>{}</th>", t.text(name));
    }
    before.push_str("</tr></thead><tbody>");
    let to_row = |(row_id, cells): (i64, Vec<String>)| {
        let row_id = format!("{id}-{row_id}");
        let mut html = format!(r#"<tr id="{row_id}">"#);
        for (index, (name, cell)) in head.iter().zip(cells).enumerate() {
            // The first two cells need no heading on a narrow screen.
            let heading = if index < 2 {
                String::new()
            } else {
                format!(r#" data-h="{}""#, t.within_sentence(t.text(name)))
            };
            // Writing into a string cannot fail.
            let _ = write!(html, "<td{heading}>{cell}</td>");
        }
        html.push_str("</tr>");
        LiveRow { id: row_id, html }
    };
    LiveBlock { id, before, rows: rows.map(to_row).collect(), after: "</tbody></table></div>".to_owned() }
}

fn location_cells(location: &Map<String, Value>, t: Locale) -> Vec<String> {
    let health = |name: &str| location.get("health").and_then(|health| health.get(name));
    let count = |name: &str| health(name).and_then(Value::as_u64).unwrap_or_default();
    let is_true = |name: &str| location.get(name) == Some(&Value::Bool(true));
    let state = health("state").and_then(Value::as_str).unwrap_or("away");
    vec![
        state_pill(state, if state == "alive" { "ok" } else { "error" }, t),
        text_cell(location, "name"),
        text_cell(location, "id"),
        text_cell(location, "region"),
        t.fill(
            "{count} of {all}",
            &[("count", &count("alive").to_string()), ("all", &count("agents").to_string())],
        ),
        t.text(if is_true("verifies") { key("yes") } else { key("no") }).to_owned(),
        t.text(if is_true("managed") { key("settings") } else { key("API") }).to_owned(),
    ]
}

fn agent_cells(
    agent: &Map<String, Value>,
    location_names: &HashMap<i64, &str>,
    now: Timestamp,
    t: Locale,
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
        (results, captures) if results == "0" && captures == "0" => t.text("none").to_owned(),
        (results, captures) => t.fill(
            "{results} results, {captures} captures",
            &[("results", &results), ("captures", &captures)],
        ),
    };
    vec![
        state_pill(state, color, t),
        text_cell(agent, "name"),
        location,
        last_seen.map_or_else(String::new, |at| render_age(at, now, t)),
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

fn state_pill(state: &str, color: &str, t: Locale) -> String {
    format!(r#"<span class="pill s-{color}">{}</span>"#, escape(t.text(state)))
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
    use crate::syntax::json_object::into_object;

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
        let render = |overview: &LocationsOverview, is_signed_in, seconds| -> String {
            let blocks =
                render_overview(overview, is_signed_in, Timestamp::from_seconds(seconds), Locale::default());
            blocks.iter().map(LiveBlock::render).collect()
        };
        let html = render(&overview, true, 1_767_225_605);
        assert!(!html.contains("<b>") && !html.contains("<script"), "{html}");
        for text in
            ["1 of 2", "5 s ago", "-12 ms", "90 (4 KiB)", "1 results, 0 captures", ">40<", "offline", ">6<"]
        {
            assert!(html.contains(text), "{text}: {html}");
        }
        let public = render(&overview, false, 0);
        assert!(public.contains("1 of 2") && !public.contains("1.2.3"), "{public}");
        let none = render(&LocationsOverview::default(), true, 0);
        assert!(none.contains("/manual/many-hosts"), "{none}");
    }
}
