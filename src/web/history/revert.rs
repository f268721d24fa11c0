//! Going back to an older version of a monitor: a preview, then a change like any other.

use askama::Template;
use axum::Extension;
use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};

use super::changes::ChangeView;
use super::page::load_changes;
use super::state::HistoryState;
use crate::domain::{Permission, Revision};
use crate::schema::Monitor;
use crate::schema::reader::InputFormat;
use crate::service::monitors::{self, OlderVersion, older_versions, require_not_file_managed};
use crate::service::{Caller, ServiceError};
use crate::syntax::node::Node;
use crate::texts::{Locale, key};
use crate::web::actions::{MAX_BUTTON_FORM_BYTES, find_own, read_own_form, refused};
use crate::web::csrf::FORM_TOKEN_FIELD;
use crate::web::forms::see_other;
use crate::web::html::shown_value;
use crate::web::page_frame::{Breadcrumb, PageFrame, Section, render_page};
use crate::web::viewer::Viewer;

/// A field now and then.
struct FieldView {
    name: String,
    now: String,
    then: String,
}

#[derive(Template)]
#[template(path = "history_revert.html", config = "src/web/askama.toml")]
struct Revert<'a> {
    name: &'a str,
    id: String,
    change: i64,
    time: String,
    login: &'a str,
    fields: Vec<FieldView>,
    kept_secrets: &'a [String],
    has_masked_parts: bool,
    form_token: &'a str,
    revision: String,
    t: Locale,
}

/// `GET /monitors/{id}/history/{change}/revert`: what going back to the version of a change would do.
pub(in crate::web) async fn get_revert(
    State(state): State<HistoryState>,
    Extension(viewer): Extension<Viewer>,
    Path((id, change)): Path<(String, String)>,
) -> Response {
    let found = match find_version(&state, &viewer, &id, &change).await {
        Ok(found) => found,
        Err(error) => return refused(&error),
    };
    let (monitor, version) = (&found.monitor, &found.version);
    let field_view = |value: &Value| if value.is_null() { "–".to_owned() } else { shown_value(value) };
    let fields = version.changes.iter().map(|field| FieldView {
        name: field.name.clone(),
        now: field_view(&field.now),
        then: field_view(&field.then),
    });
    let t = viewer.locale();
    let change = ChangeView::new(&found.entry, t);
    let revert = Revert {
        name: monitor.name(),
        id: monitor.id.to_string(),
        change: change.id,
        time: format!("{} {}", change.at, t.zone.name()),
        login: &change.login,
        fields: fields.collect(),
        kept_secrets: &version.kept_secrets,
        has_masked_parts: version.has_masked_parts(),
        form_token: viewer.form_token().unwrap_or_default(),
        revision: monitor.revision.to_string(),
        t,
    };
    let path = format!("/monitors/{}", monitor.id);
    let history = Breadcrumb { name: t.text("History").to_owned(), path: format!("{path}/history") };
    let crumb = Breadcrumb { name: monitor.name().to_owned(), path };
    let title = format!("{} · Vigie", t.fill("Older version of {name}", &[("name", monitor.name())]));
    let frame = PageFrame {
        section: Some(Section::Monitors),
        breadcrumbs: vec![Breadcrumb::monitors(viewer.locale()), crumb, history],
        ..PageFrame::new(&title, &viewer)
    };
    // Writing into a string cannot fail.
    render_page(frame, &revert.render().unwrap_or_default()).into_response()
}

/// `POST /monitors/{id}/history/{change}/revert`
pub(in crate::web) async fn post_revert(
    State(state): State<HistoryState>,
    Path((id, change)): Path<(String, String)>,
    request: Request,
) -> Response {
    let form = match read_own_form(&state.actions.auth, request, MAX_BUTTON_FORM_BYTES).await {
        Ok(form) => form,
        Err(response) => return response,
    };
    let revision = form.fields.get("revision").map(String::as_str).unwrap_or_default();
    match revert(&state, &form.viewer, &id, &change, revision).await {
        Ok(monitor) => see_other(&format!("/monitors/{}/history", monitor.id), None),
        Err(error) => refused(&error),
    }
}

async fn revert(
    state: &HistoryState,
    viewer: &Viewer,
    id: &str,
    change: &str,
    revision: &str,
) -> Result<Monitor, ServiceError> {
    let found = find_version(state, viewer, id, change).await?;
    let FoundVersion { monitor, caller, body, .. } = found;
    // Without the revision that the person saw, the change of somebody else would be lost.
    let expected = revision.parse().map(Revision).map_err(|_| ServiceError::PreconditionFailed)?;
    if expected != monitor.revision {
        return Err(ServiceError::PreconditionFailed);
    }
    monitors::patch(
        &state.actions.monitor_service,
        &caller,
        monitor.id,
        Some(monitor.monitor_type()),
        InputFormat::V3,
        &body,
        Some(expected),
    )
    .await?;
    Ok(monitor)
}

/// A version of a monitor, and who may go back to it.
struct FoundVersion {
    monitor: Monitor,
    caller: Caller,
    /// The change that led to it.
    entry: Map<String, Value>,
    version: OlderVersion,
    /// The change that leads back to it.
    body: Node,
}

async fn find_version(
    state: &HistoryState,
    viewer: &Viewer,
    id: &str,
    change: &str,
) -> Result<FoundVersion, ServiceError> {
    let (monitor, caller) = find_own(&state.actions, viewer, id).ok_or(ServiceError::NotFound)?;
    caller.require_permission(Permission::Edit)?;
    require_not_file_managed(&monitor)?;
    let change: i64 = change.parse().map_err(|_| ServiceError::NotFound)?;
    let entries = load_changes(state, &monitor, &caller).await?.items;
    let versions = older_versions(&monitor, &entries);
    let is_change = |entry: &Map<String, Value>| entry.get("id").and_then(Value::as_i64) == Some(change);
    let found = entries.into_iter().zip(versions).find(|(entry, _)| is_change(entry));
    let (entry, version) = found.ok_or(ServiceError::NotFound)?;
    let version =
        version.map_err(|gap| ServiceError::Conflict(format!("This version cannot be rebuilt: {gap}")))?;
    if version.changes.is_empty() {
        return Err(ServiceError::Conflict(key("The monitor is as it was then").to_owned()));
    }
    let body = version.to_body(&monitor).map_err(|lost| {
        let lost: Vec<_> = lost.iter().map(|path| format!("`{path}`")).collect();
        ServiceError::Conflict(format!(
            "This version has secrets of which nothing is stored any more: {}. Write it into the form instead, with its secrets",
            lost.join(", ")
        ))
    })?;
    Ok(FoundVersion { monitor, caller, entry, version, body })
}
