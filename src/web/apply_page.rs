//! Monitors as code in the browser: a text as in the files of `vigie apply`, what it would change, and the change.

use askama::Template;
use aws_lc_rs::digest;
use axum::Extension;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use super::actions::{ActionsState, OwnForm, refused};
use super::csrf::FORM_TOKEN_FIELD;
use super::form::{error_text, read_kept_form};
use super::html::shown_value;
use super::page_auth::OwnFormPage;
use super::page_frame::{Breadcrumb, PageFrame, Section, render_page};
use super::viewer::Viewer;
use crate::domain::to_hex;
use crate::service::monitors::{self, parse_apply_text};
use crate::service::{AppliedChange, ApplyOptions, Caller, ServiceError};
use crate::syntax::ValidationError;
use crate::texts::{Locale, key};

/// Most changes that a page shows one by one.
const MAX_SHOWN: usize = 200;

/// A field of a monitor before and after a change.
struct FieldView {
    name: String,
    before: String,
    after: String,
}

/// A change of one monitor.
struct ChangeView {
    key: String,
    /// Id of the monitor, unless it does not exist now.
    id: Option<i64>,
    action: &'static str,
    fields: Vec<FieldView>,
    warnings: Vec<String>,
}

/// The page.
#[derive(Template, Default)]
#[template(path = "apply.html", config = "src/web/askama.toml")]
struct ApplyPage<'a> {
    text: &'a str,
    prune: bool,
    errors: Vec<String>,
    /// What would change, or has changed; `None` before a text was looked at.
    changes: Option<Vec<ChangeView>>,
    /// How many monitors are created, changed, removed, and stay as they are.
    counts: [u64; 4],
    /// Whether the changes have been made.
    is_done: bool,
    /// What tells these changes from others.
    seen: String,
    form_token: &'a str,
    t: Locale,
}

impl ApplyPage<'_> {
    fn is_change(&self) -> bool {
        self.counts[..3].iter().any(|count| *count > 0)
    }

    fn rest_text(&self) -> String {
        self.t.fill("and {rest} more", &[("rest", &self.left_out().to_string())])
    }

    fn left_out(&self) -> u64 {
        let shown = self.changes.as_ref().map_or(0, Vec::len) as u64;
        self.counts[..3].iter().sum::<u64>() - shown
    }

    /// Says how many monitors change.
    fn summary(&self) -> String {
        let texts = [
            key("{count} created"),
            key("{count} changed"),
            key("{count} removed"),
            key("{count} unchanged"),
        ];
        let parts = texts.iter().zip(self.counts);
        let parts = parts.map(|(text, count)| self.t.fill(text, &[("count", &count.to_string())]));
        parts.collect::<Vec<_>>().join(", ")
    }

    /// Adds `changes`, those without an effect only to the counts.
    fn with_changes(self, changes: &[AppliedChange], seen: String) -> Self {
        let count = |action: &str| changes.iter().filter(|change| change.action == action).count() as u64;
        let counts = ["create", "change", "remove", "none"].map(count);
        let shown = changes.iter().filter(|change| change.action != "none" || !change.warnings.is_empty());
        let views = shown.take(MAX_SHOWN).map(change_view).collect();
        Self { changes: Some(views), counts, seen, ..self }
    }
}

/// `GET /apply`
pub(super) async fn get_page(Extension(viewer): Extension<Viewer>) -> Response {
    if !viewer.may_edit() {
        return refused(&ServiceError::Forbidden("Your role does not permit changing monitors".to_owned()));
    }
    render(&viewer, StatusCode::OK, ApplyPage::default())
}

/// `POST /apply`: shows what would change; with the fingerprint of what was shown, changes it.
pub(super) async fn post_page(State(state): State<ActionsState>, request: Request) -> Response {
    let OwnForm { viewer, fields, .. } = match read_kept_form(&state.auth, request).await {
        Ok(form) => form,
        Err(response) => return response,
    };
    let Some(caller) = viewer.caller.clone() else {
        return refused(&ServiceError::Forbidden("Sign in to change monitors".to_owned()));
    };
    let field = |name: &str| fields.get(name).map(String::as_str).unwrap_or_default();
    let (text, prune) = (field("text"), fields.contains_key("prune"));
    let seen = Some(field("seen")).filter(|_| field("do") == "apply");
    let mut page = ApplyPage { text, prune, t: viewer.locale(), ..ApplyPage::default() };
    let status = match apply(&state, &caller, text, prune, seen).await {
        Ok(Applied { changes, fingerprint, state: AppliedState::Changed }) => {
            page = ApplyPage { is_done: true, ..page }.with_changes(&changes, fingerprint);
            StatusCode::OK
        }
        Ok(Applied { changes, fingerprint, state }) => {
            page = page.with_changes(&changes, fingerprint);
            if state == AppliedState::NotAsSeen {
                let message = key("This is not what you saw: look at it again, and apply it then.");
                page.errors.push(page.t.text(message).to_owned());
            }
            StatusCode::OK
        }
        Err(ServiceError::Invalid(errors)) => {
            page.errors = errors.iter().map(error_line).collect();
            StatusCode::UNPROCESSABLE_ENTITY
        }
        Err(ServiceError::Conflict(message)) => {
            page.errors.push(message);
            StatusCode::CONFLICT
        }
        Err(error) => return refused(&error),
    };
    render(&viewer, status, page)
}

/// What became of a text.
struct Applied {
    changes: Vec<AppliedChange>,
    fingerprint: String,
    state: AppliedState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AppliedState {
    /// Nothing has changed: it is a preview.
    Preview,
    /// Nothing has changed: it is not what the person saw.
    NotAsSeen,
    /// The changes have been made.
    Changed,
}

/// Makes the changes if they are those with the fingerprint `seen`; otherwise only finds them.
async fn apply(
    state: &ActionsState,
    caller: &Caller,
    text: &str,
    prune: bool,
    seen: Option<&str>,
) -> Result<Applied, ServiceError> {
    let service = &state.monitor_service;
    let (entries, options) = parse_apply_text(text, prune)?;
    let planned = monitors::apply(service, caller, entries.clone(), options).await?;
    let fingerprint = fingerprint(&planned);
    let state = match seen {
        None => AppliedState::Preview,
        Some(seen) if seen != fingerprint => AppliedState::NotAsSeen,
        Some(_) => AppliedState::Changed,
    };
    let changes = match state {
        AppliedState::Changed => {
            monitors::apply(service, caller, entries, ApplyOptions { dry_run: false, prune }).await?
        }
        AppliedState::Preview | AppliedState::NotAsSeen => planned,
    };
    Ok(Applied { changes, fingerprint, state })
}

fn fingerprint(changes: &[AppliedChange]) -> String {
    let parts = changes
        .iter()
        .map(|change| json!([change.key, change.action, change.before, change.after]).to_string());
    to_hex(digest::digest(&digest::SHA256, parts.collect::<Vec<_>>().join("\n").as_bytes()).as_ref())
}

fn change_view(change: &AppliedChange) -> ChangeView {
    let value = |fields: &Map<String, Value>, name: &str| {
        fields.get(name).map_or_else(|| "–".to_owned(), shown_value)
    };
    let names: std::collections::BTreeSet<&String> =
        change.before.keys().chain(change.after.keys()).collect();
    let fields = names.into_iter().map(|name| FieldView {
        name: name.clone(),
        before: value(&change.before, name),
        after: value(&change.after, name),
    });
    let action = match change.action {
        "create" => key("new"),
        "change" => key("changed"),
        "remove" => key("removed"),
        _ => key("unchanged"),
    };
    ChangeView {
        key: change.key.clone(),
        id: change.id.map(|id| id.0).filter(|_| change.action != "remove"),
        action,
        // Of one that goes, the fields tell nothing new.
        fields: if change.action == "remove" { Vec::new() } else { fields.collect() },
        warnings: change.warnings.clone(),
    }
}

/// Says what is wrong, and in which line of the text.
fn error_line(error: &ValidationError) -> String {
    let place = if error.position.is_known() { format!("{}: ", error.position.line) } else { String::new() };
    format!("{place}{}", error_text(error))
}

fn render(viewer: &Viewer, status: StatusCode, page: ApplyPage<'_>) -> Response {
    let t = viewer.locale();
    let page = ApplyPage { form_token: viewer.form_token().unwrap_or_default(), t, ..page };
    let title = format!("{} · Vigie", t.text("Apply monitors"));
    let frame = PageFrame {
        section: Some(Section::Monitors),
        breadcrumbs: vec![Breadcrumb::monitors(t)],
        ..PageFrame::new(&title, viewer)
    };
    // Writing into a string cannot fail.
    let page = render_page(frame, &page.render().unwrap_or_default());
    (status, Extension(OwnFormPage), page).into_response()
}
