//! The page of a check that somebody asked for: its progress, then its result.

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};

use super::monitor_actions::find_own;
use super::refusal::refused;
use super::state::ActionsState;
use crate::domain::{CheckResult, LocationId, Timestamp};
use crate::schema::Monitor;
use crate::service::ServiceError;
use crate::web::html::{escape, render_age};
use crate::web::live::{LiveBlock, LivePage};
use crate::web::page_frame::{Breadcrumb, PageFrame, Section, render_page};
use crate::web::result::{location_name, render_lone_result};
use crate::web::viewer::Viewer;

/// `GET /monitors/{id}/tests/{test}`
pub(in crate::web) async fn get_test_page(
    State(state): State<ActionsState>,
    Extension(viewer): Extension<Viewer>,
    Path((id, test)): Path<(String, String)>,
) -> Response {
    let (monitor, page) = match find_page(&state, &viewer, &id, &test).await {
        Ok(found) => found,
        Err(response) => return response,
    };
    let monitor_path = format!("/monitors/{}", monitor.id);
    let body = page.render(&format!("{monitor_path}/tests/{test}"));
    let frame = PageFrame {
        section: Some(Section::Monitors),
        breadcrumbs: vec![
            Breadcrumb::monitors(),
            Breadcrumb { name: monitor.name().to_owned(), path: monitor_path },
        ],
        ..PageFrame::new(&page.title, &viewer).at(state.pages.clock.now())
    };
    render_page(frame, &body).into_response()
}

/// Makes what changes by itself of the page of the check `test` of the monitor `id`.
pub(in crate::web) async fn live_page(
    state: &ActionsState,
    viewer: &Viewer,
    id: &str,
    test: &str,
) -> Result<LivePage, Response> {
    find_page(state, viewer, id, test).await.map(|(_, page)| page)
}

async fn find_page(
    state: &ActionsState,
    viewer: &Viewer,
    id: &str,
    test: &str,
) -> Result<(Monitor, LivePage), Response> {
    let (Some((monitor, caller)), Ok(test)) = (find_own(state, viewer, id), test.parse()) else {
        return Err(refused(&ServiceError::NotFound));
    };
    let record = state.on_demand_tests.get(&caller, test).await.map_err(|error| refused(&error))?;
    if record.get("monitor_id").and_then(Value::as_i64) != Some(monitor.id.0) {
        return Err(refused(&ServiceError::NotFound));
    }
    let content = render_test(state, &monitor, &record);
    let title = format!("Check of {} · Vigie", monitor.name());
    Ok((monitor, LivePage { title, blocks: vec![LiveBlock::new("test", content)] }))
}

/// Renders the result of a check that has ended, or how it goes.
fn render_test(state: &ActionsState, monitor: &Monitor, record: &Map<String, Value>) -> String {
    let locations = state.pages.monitor_reader.locations();
    if let Some(result) = record.get("result").filter(|result| !result.is_null())
        && let Ok(result) = serde_json::from_value::<CheckResult>(result.clone())
    {
        return render_lone_result(&result, locations);
    }
    let name = escape(monitor.name());
    if let Some(error) = record.get("error").and_then(Value::as_str) {
        return format!(
            r#"<h1>Check of {name}</h1><p class="notice">It could not run: {}</p>"#,
            escape(error)
        );
    }
    let location = record.get("location_id").and_then(Value::as_i64);
    let place = location.map_or_else(String::new, |id| {
        format!(" from {}", escape(&location_name(&locations, LocationId(id))))
    });
    let started_at = record.get("ordered_at").and_then(Value::as_str).and_then(Timestamp::parse);
    let age = started_at.map_or_else(String::new, |at| render_age(at, state.pages.clock.now()));
    format!(
        r#"<h1>Check of {name}</h1><p class="notice" role="status">Running{place}; started {age}. The result appears here. <a href="">Look again</a></p>"#
    )
}
