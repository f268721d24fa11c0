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
use crate::texts::Locale;
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
    respond(&state, &viewer, &format!("/monitors/{id}/tests/{test}")).await
}

/// `GET /tests/{test}`: a check of a new monitor that is not saved.
pub(in crate::web) async fn get_draft_test_page(
    State(state): State<ActionsState>,
    Extension(viewer): Extension<Viewer>,
    Path(test): Path<String>,
) -> Response {
    respond(&state, &viewer, &format!("/tests/{test}")).await
}

async fn respond(state: &ActionsState, viewer: &Viewer, path: &str) -> Response {
    let TestPage { monitor, heading, page } = match find_page(state, viewer, path).await {
        Ok(found) => found,
        Err(response) => return response,
    };
    let to_crumb = |monitor: Monitor| Breadcrumb {
        name: monitor.name().to_owned(),
        path: format!("/monitors/{}", monitor.id),
    };
    let frame = PageFrame {
        section: Some(Section::Monitors),
        breadcrumbs: std::iter::once(Breadcrumb::monitors(viewer.locale()))
            .chain(monitor.map(to_crumb))
            .collect(),
        ..PageFrame::new(&page.title, viewer).at(state.pages.clock.now())
    };
    render_page(frame, &(heading + &page.render(path))).into_response()
}

/// The page of a check on demand.
struct TestPage {
    /// The monitor; `None` for a new one that is not saved.
    monitor: Option<Monitor>,
    /// What stands above the changing parts on a page of its own; empty when they have the heading.
    heading: String,
    /// What changes by itself.
    page: LivePage,
}

/// Makes what changes by itself of the page at `path`, which is that of a check on demand.
pub(in crate::web) async fn test_page_of(
    state: &ActionsState,
    viewer: &Viewer,
    path: &str,
) -> Result<LivePage, Response> {
    find_page(state, viewer, path).await.map(|found| found.page)
}

/// Whether `path` is that of the page of a check on demand.
pub(in crate::web) fn is_test_path(path: &str) -> bool {
    path.starts_with("/tests/") || path.starts_with("/monitors/") && path.contains("/tests/")
}

async fn find_page(state: &ActionsState, viewer: &Viewer, path: &str) -> Result<TestPage, Response> {
    let not_found = || refused(&ServiceError::NotFound);
    let (monitor, test) = path.rsplit_once("/tests/").ok_or_else(not_found)?;
    let (monitor, caller) = match monitor.strip_prefix("/monitors/") {
        Some(id) => find_own(state, viewer, id).map(|(monitor, caller)| (Some(monitor), caller)),
        None => viewer.caller.clone().map(|caller| (None, caller)),
    }
    .ok_or_else(not_found)?;
    let test = test.parse().map_err(|_| not_found())?;
    let record = state.on_demand_tests.get(&caller, test).await.map_err(|error| refused(&error))?;
    if record.get("monitor_id").and_then(Value::as_i64) != monitor.as_ref().map(|monitor| monitor.id.0) {
        return Err(not_found());
    }
    let t = viewer.locale();
    let name = monitor.as_ref().map_or(t.text("a new monitor"), Monitor::name);
    let mut content = render_test(state, name, path, &record, t);
    let title = format!("{} · Vigie", t.fill("Check of {name}", &[("name", name)]));
    let mut heading = String::new();
    if is_draft(&record) {
        // It stands below a form, too, which has the heading of the page.
        content = with_lower_headings(&content);
        heading = format!("<h1>{}</h1>", t.html("Check of {name}", &[("name", name)]));
    }
    let page = LivePage { title, blocks: vec![LiveBlock::new("test", content)] };
    Ok(TestPage { monitor, heading, page })
}

/// Whether the check is one of what a form holds.
fn is_draft(record: &Map<String, Value>) -> bool {
    record.get("draft").and_then(Value::as_bool).unwrap_or_default()
}

/// Makes every heading of `html` one of the next level. Text has no tags: it is escaped.
fn with_lower_headings(html: &str) -> String {
    let mut html = html.to_owned();
    for level in (1..=3).rev() {
        for tag in ["<h", "</h"] {
            html = html.replace(&format!("{tag}{level}"), &format!("{tag}{}", level + 1));
        }
    }
    html
}

/// Renders the result of a check that has ended, or how it goes.
fn render_test(
    state: &ActionsState,
    name: &str,
    path: &str,
    record: &Map<String, Value>,
    t: Locale,
) -> String {
    let locations = state.pages.monitor_reader.locations();
    if let Some(result) = record.get("result").filter(|result| !result.is_null())
        && let Ok(result) = serde_json::from_value::<CheckResult>(result.clone())
    {
        return render_lone_result(&result, locations, t);
    }
    let heading = if is_draft(record) {
        t.text("Result").to_owned()
    } else {
        t.html("Check of {name}", &[("name", name)])
    };
    if let Some(error) = record.get("error").and_then(Value::as_str) {
        return format!(
            r#"<h1>{heading}</h1><p class="notice">{}</p>"#,
            t.html("It could not run: {error}", &[("error", error)])
        );
    }
    let location = record.get("location_id").and_then(Value::as_i64);
    let place = location.map_or_else(String::new, |id| {
        let name = location_name(&locations, LocationId(id), t);
        format!(" {}", t.html("from {location}", &[("location", &name)]))
    });
    let started_at = record.get("ordered_at").and_then(Value::as_str).and_then(Timestamp::parse);
    let age = started_at.map_or_else(String::new, |at| render_age(at, state.pages.clock.now(), t));
    // Beside a form, the link must not lead away from it.
    let target = if is_draft(record) { r#" target="_blank""# } else { "" };
    let path = escape(path);
    // The place is HTML, and so is the age.
    let text = t.fill("Running{place}; started {age}. The result appears here.", &[("place", &place)]);
    format!(
        r#"<h1>{heading}</h1><p class="notice" role="status">{} <a href="{path}"{target}>{}</a></p>"#,
        text.replace("{age}", &age),
        t.text("Look again")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_of_a_part_are_below_those_of_its_page() {
        let html = "<h1>a <small>b</small></h1><hr><h2 id=\"x\">c</h2><h3>d</h3><pre>&lt;h1&gt;</pre>";
        let lower = "<h2>a <small>b</small></h2><hr><h3 id=\"x\">c</h3><h4>d</h4><pre>&lt;h1&gt;</pre>";
        assert_eq!(with_lower_headings(html), lower);
    }
}
