//! The pages with the form of a monitor.

use askama::Template;
use axum::Extension;
use axum::extract::{Path, Query, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;

use super::form_action::{FormAction, GOES_ON};
use super::form_content::FormPage;
use super::form_subject::FormSubject;
use super::input_names::{CHECK_LOCATION, STEPS};
use super::item_edits::{ItemEdit, without_later_items};
use super::kept_form::read_kept_form;
use super::monitor_form::general_error;
use super::saved_page::SavedPage;
use super::submission::Submission;
use super::text_from_values::FormTexts;
use crate::domain::{LocationId, MonitorType, Permission};
use crate::schema::{Monitor, table};
use crate::service::monitors::{self, form_context};
use crate::service::{Caller, ServiceError};
use crate::syntax::node::Node;
use crate::texts::Locale;
use crate::web::actions::{ActionsState, OwnForm, find_own, refused};
use crate::web::forms::see_other;
use crate::web::page_frame::{Breadcrumb, PageFrame, Section, render_page};
use crate::web::responses::not_found;
use crate::web::viewer::Viewer;

/// The query of a new form.
#[derive(Deserialize)]
pub(in crate::web) struct NewFormQuery {
    #[serde(default, rename = "type")]
    monitor_type: String,
}

#[derive(Template)]
#[template(path = "monitor_types.html", config = "src/web/askama.toml")]
struct MonitorTypes {
    /// Name, what it checks, and whether this build checks it.
    types: Vec<(&'static str, &'static str, bool)>,
    t: Locale,
}

/// `GET /monitors/new?type=`: the form of a new monitor; without a type, the types.
pub(in crate::web) async fn get_new_form(
    State(state): State<ActionsState>,
    Extension(viewer): Extension<Viewer>,
    Query(query): Query<NewFormQuery>,
) -> Response {
    let Some(caller) = viewer.caller.clone().filter(|caller| caller.allows(Permission::Edit)) else {
        return refused(&ServiceError::Forbidden("Your role does not permit creating monitors".to_owned()));
    };
    let context = match form_context(&state.monitor_service, &caller).await {
        Ok(context) => context,
        Err(error) => return refused(&error),
    };
    let Some(monitor_type) = MonitorType::from_name(&query.monitor_type) else {
        let t = viewer.locale();
        let to_entry = |monitor_type: &MonitorType| {
            let is_checked = context.checked_types.contains(monitor_type);
            (monitor_type.name(), table::for_type(*monitor_type).description, is_checked)
        };
        let types = MonitorTypes { types: MonitorType::ALL.iter().map(to_entry).collect(), t };
        let title = format!("{} · Vigie", t.text("New monitor"));
        let frame = PageFrame {
            section: Some(Section::Monitors),
            breadcrumbs: vec![Breadcrumb::monitors(viewer.locale())],
            ..PageFrame::new(&title, &viewer)
        };
        // Writing into a string cannot fail.
        return render_page(frame, &types.render().unwrap_or_default()).into_response();
    };
    let subject = FormSubject::New(monitor_type);
    let mut texts = subject.shown_texts();
    texts.insert("billing_plancode".to_owned(), context.usual_plan.clone());
    if subject.fields().iter().any(|field| field.name == STEPS) {
        // There is no check without a first step.
        let _ = ItemEdit::parse(&format!("add {STEPS}"))
            .and_then(|edit| edit.apply(&subject.fields(), &mut texts));
    }
    FormPage::new(&subject, texts).render(&state, &viewer, &caller).await
}

/// `POST /monitors/new?type=`
pub(in crate::web) async fn post_new_form(
    State(state): State<ActionsState>,
    Query(query): Query<NewFormQuery>,
    request: Request,
) -> Response {
    let form = match read_kept_form(&state.auth, request).await {
        Ok(form) => form,
        Err(response) => return response,
    };
    let (Some(monitor_type), Some(caller)) =
        (MonitorType::from_name(&query.monitor_type), form.viewer.caller.clone())
    else {
        return not_found("There is no such type of monitor");
    };
    respond(&state, &FormSubject::New(monitor_type), &caller, form).await
}

/// `GET /monitors/{id}/edit`
pub(in crate::web) async fn get_edit_form(
    State(state): State<ActionsState>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
) -> Response {
    let (monitor, caller) = match find_editable(&state, &viewer, &id) {
        Ok(found) => found,
        Err(error) => return refused(&error),
    };
    let revision = monitor.revision.to_string();
    let subject = FormSubject::Existing(Box::new(monitor));
    let page = FormPage { revision, ..FormPage::new(&subject, subject.shown_texts()) };
    page.render(&state, &viewer, &caller).await
}

/// `POST /monitors/{id}/edit`
pub(in crate::web) async fn post_edit_form(
    State(state): State<ActionsState>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    let form = match read_kept_form(&state.auth, request).await {
        Ok(form) => form,
        Err(response) => return response,
    };
    match find_editable(&state, &form.viewer, &id) {
        Ok((monitor, caller)) => {
            respond(&state, &FormSubject::Existing(Box::new(monitor)), &caller, form).await
        }
        Err(error) => refused(&error),
    }
}

/// Does what the button of `form` says.
async fn respond(state: &ActionsState, subject: &FormSubject, caller: &Caller, form: OwnForm) -> Response {
    let submission = Submission::read(&state.monitor_service, caller, &subject.fields(), form);
    let Submission { viewer, texts, action, revision, server } = match submission {
        Ok(submission) => submission,
        Err(error) => return refused(&error),
    };
    let mut page = FormPage { revision, ..FormPage::new(subject, texts) };
    let done = match action {
        FormAction::ShowForm => Ok(()),
        FormAction::GoOn => {
            page.errors = vec![general_error(GOES_ON)];
            Ok(())
        }
        FormAction::Edit(edit) => {
            page.focus = edit.apply(&subject.fields(), &mut page.texts);
            Ok(())
        }
        FormAction::Save => {
            match subject.save(&state.monitor_service, caller, &page.texts, &page.revision).await {
                Ok(saved) if saved.warnings.is_empty() => {
                    return see_other(&format!("/monitors/{}", saved.id), None);
                }
                Ok(saved) => return see_other(&format!("/monitors/{}/saved", saved.id), None),
                Err(error) => Err(error),
            }
        }
        FormAction::Check(step) => start_check(state, caller, &page, step).await.map(|(test, warnings)| {
            (page.test, page.warnings) = (Some(test), warnings);
        }),
        FormAction::Show(text_form) => {
            let draft = subject.draft(&state.monitor_service, caller, &page.texts, &page.revision).await;
            draft.map(|draft| {
                page.shown_as = Some(text_form.show(&draft.monitor, &server));
                page.warnings = draft.warnings;
            })
        }
    };
    match done {
        Ok(()) => {}
        Err(ServiceError::Invalid(errors)) => {
            page.errors = errors;
            page.status = StatusCode::UNPROCESSABLE_ENTITY;
        }
        Err(ServiceError::PreconditionFailed) => {
            page.errors = vec![subject.conflict_error(&page.texts, viewer.locale())];
            page.status = StatusCode::PRECONDITION_FAILED;
            if let FormSubject::Existing(monitor) = subject {
                page.revision = monitor.revision.to_string();
            }
        }
        Err(error) => return refused(&error),
    }
    page.render(state, &viewer, caller).await
}

/// `GET /monitors/{id}/saved`: the warnings about a monitor that was just saved, so that loading the page again saves nothing.
pub(in crate::web) async fn get_saved(
    State(state): State<ActionsState>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
) -> Response {
    let (monitor, caller) = match find_editable(&state, &viewer, &id) {
        Ok(found) => found,
        Err(error) => return refused(&error),
    };
    let (t, path) = (viewer.locale(), format!("/monitors/{}", monitor.id));
    let unchanged = Node::from(json!({}));
    let of_stored = monitors::DraftOf::Change(monitor.id, None);
    let draft = match monitors::draft(&state.monitor_service, &caller, of_stored, &unchanged).await {
        Ok(draft) => draft,
        Err(error) => return refused(&error),
    };
    let page = SavedPage {
        heading: t.fill("{name} was saved", &[("name", monitor.name())]),
        values: Vec::new(),
        warnings: &draft.warnings,
        edit_path: Some(format!("{path}/edit")),
        next: (path, t.text("To the monitor")),
        t,
    };
    let title = format!("{} · Vigie", t.text("Saved"));
    let frame = PageFrame {
        section: Some(Section::Monitors),
        breadcrumbs: vec![Breadcrumb::monitors(t)],
        ..PageFrame::new(&title, &viewer)
    };
    // Writing into a string cannot fail.
    render_page(frame, &page.render().unwrap_or_default()).into_response()
}

/// Starts a check of what `page` holds, with its steps up to `step`; returns the id of the test, and warnings about what it
/// holds.
async fn start_check(
    state: &ActionsState,
    caller: &Caller,
    page: &FormPage<'_>,
    step: Option<usize>,
) -> Result<(i64, Vec<String>), ServiceError> {
    let shortened: FormTexts;
    let texts = match step {
        Some(step) => {
            shortened = without_later_items(STEPS, step, &page.texts);
            &shortened
        }
        None => &page.texts,
    };
    let location = page.texts.get(CHECK_LOCATION).and_then(|id| id.parse().ok()).map(LocationId);
    let draft = page.subject.draft(&state.monitor_service, caller, texts, &page.revision).await?;
    let test = state.on_demand_tests.start_draft(caller, draft.monitor, location).await?;
    Ok((test, draft.warnings))
}

/// Finds a monitor that the viewer may edit.
pub(super) fn find_editable(
    state: &ActionsState,
    viewer: &Viewer,
    id: &str,
) -> Result<(Monitor, Caller), ServiceError> {
    let (monitor, caller) = find_own(state, viewer, id).ok_or(ServiceError::NotFound)?;
    caller.require_permission(Permission::Edit)?;
    monitors::require_not_file_managed(&monitor)?;
    Ok((monitor, caller))
}
