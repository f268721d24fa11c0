//! The pages with the form of a monitor.

use askama::Template;
use axum::Extension;
use axum::extract::{Path, Query, Request, State};
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use serde::Deserialize;

use super::fields_from_text::{body_from_texts, is_changed};
use super::monitor_form::{MonitorForm, form_sections, general_errors, settable_fields};
use super::text_from_values::{FormTexts, texts_from_values};
use crate::domain::{MonitorType, Permission, Revision};
use crate::schema::field::Field;
use crate::schema::reader::InputFormat;
use crate::schema::{Monitor, MonitorDocument, SecretMode, table};
use crate::service::monitors::{self, FormContext, form_context};
use crate::service::{Caller, ServiceError};
use crate::syntax::node::Position;
use crate::syntax::{ValidationError, ValidationErrorKind};
use crate::web::actions::{ActionsState, MAX_MONITOR_FORM_BYTES, find_own, read_own_form, refused};
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
        let to_entry = |monitor_type: &MonitorType| {
            let is_checked = context.checked_types.contains(monitor_type);
            (monitor_type.name(), table::for_type(*monitor_type).description, is_checked)
        };
        let types = MonitorTypes { types: MonitorType::ALL.iter().map(to_entry).collect() };
        // Writing into a string cannot fail.
        let body = types.render().unwrap_or_default();
        return render(&viewer, "New monitor · Vigie", None, &body).into_response();
    };
    let mut texts = default_texts(monitor_type);
    texts.insert("billing_plancode".to_owned(), context.usual_plan.clone());
    let form = FormData { context: &context, texts: &texts, errors: &[], stored_secrets: &[] };
    form.new_page(monitor_type, &viewer).into_response()
}

/// Returns what an empty form shows.
fn default_texts(monitor_type: MonitorType) -> FormTexts {
    texts_from_values(&settable_fields(monitor_type), &table::for_type(monitor_type).defaults())
}

/// Returns what the form of `monitor` shows.
fn stored_texts(monitor: &Monitor) -> FormTexts {
    let fields = settable_fields(monitor.monitor_type());
    texts_from_values(&fields, &monitor.document.to_json(SecretMode::Masked))
}

/// `POST /monitors/new?type=`
pub(in crate::web) async fn post_new_form(
    State(state): State<ActionsState>,
    Query(query): Query<NewFormQuery>,
    request: Request,
) -> Response {
    let form = match read_own_form(&state.auth, request, MAX_MONITOR_FORM_BYTES).await {
        Ok(form) => form,
        Err(response) => return response,
    };
    let (Some(monitor_type), Some(caller)) =
        (MonitorType::from_name(&query.monitor_type), form.viewer.caller.clone())
    else {
        return not_found("There is no such type of monitor");
    };
    let (fields, shown) = (settable_fields(monitor_type), default_texts(monitor_type));
    let created = match body_from_texts(&fields, &form.fields, &shown, true) {
        Ok(body) => {
            monitors::create(&state.monitor_service, &caller, monitor_type, InputFormat::V3, &body).await
        }
        Err(errors) => Err(ServiceError::Invalid(errors)),
    };
    let errors = match created {
        Ok(saved) => return see_other(&format!("/monitors/{}", saved.id), None),
        Err(ServiceError::Invalid(errors)) => errors,
        Err(error) => return refused(&error),
    };
    match form_context(&state.monitor_service, &caller).await {
        Ok(context) => {
            let data =
                FormData { context: &context, texts: &form.fields, errors: &errors, stored_secrets: &[] };
            (StatusCode::UNPROCESSABLE_ENTITY, data.new_page(monitor_type, &form.viewer)).into_response()
        }
        Err(error) => refused(&error),
    }
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
    let context = match form_context(&state.monitor_service, &caller).await {
        Ok(context) => context,
        Err(error) => return refused(&error),
    };
    let texts = stored_texts(&monitor);
    let secrets = stored_secrets(&monitor.document);
    let form = FormData { context: &context, texts: &texts, errors: &[], stored_secrets: &secrets };
    form.edit_page(&monitor, &monitor.revision.to_string(), &viewer).into_response()
}

/// `POST /monitors/{id}/edit`
pub(in crate::web) async fn post_edit_form(
    State(state): State<ActionsState>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    let form = match read_own_form(&state.auth, request, MAX_MONITOR_FORM_BYTES).await {
        Ok(form) => form,
        Err(response) => return response,
    };
    let (monitor, caller) = match find_editable(&state, &form.viewer, &id) {
        Ok(found) => found,
        Err(error) => return refused(&error),
    };
    let revision = form.fields.get("revision").cloned().unwrap_or_default();
    let (status, errors, revision) =
        match save_changes(&state, &caller, &monitor, &form.fields, &revision).await {
            Ok(()) => return see_other(&format!("/monitors/{}", monitor.id), None),
            Err(ServiceError::Invalid(errors)) => (StatusCode::UNPROCESSABLE_ENTITY, errors, revision),
            Err(ServiceError::PreconditionFailed) => {
                let errors = vec![conflict_error(&monitor, &form.fields)];
                (StatusCode::PRECONDITION_FAILED, errors, monitor.revision.to_string())
            }
            Err(error) => return refused(&error),
        };
    match form_context(&state.monitor_service, &caller).await {
        Ok(context) => {
            let secrets = stored_secrets(&monitor.document);
            let data = FormData {
                context: &context,
                texts: &form.fields,
                errors: &errors,
                stored_secrets: &secrets,
            };
            (status, data.edit_page(&monitor, &revision, &form.viewer)).into_response()
        }
        Err(error) => refused(&error),
    }
}

/// Returns the error of a form whose monitor was changed since it was opened; names what saving it would overwrite.
fn conflict_error(monitor: &Monitor, texts: &FormTexts) -> ValidationError {
    let (fields, stored) = (settable_fields(monitor.monitor_type()), stored_texts(monitor));
    let differing = fields.iter().filter(|field| is_changed(field, texts, &stored));
    let names: Vec<String> = differing.map(|field| format!("`{}`", field.name)).collect();
    let message = if names.is_empty() {
        "Somebody else changed this monitor since you opened the form. It is now as yours".to_owned()
    } else {
        format!(
            "Somebody else changed this monitor since you opened the form. Yours differs from it in {}; Save again to \
             overwrite",
            names.join(", ")
        )
    };
    ValidationError::new(ValidationErrorKind::Conflict, "", Position::default(), message)
}

async fn save_changes(
    state: &ActionsState,
    caller: &Caller,
    monitor: &Monitor,
    texts: &FormTexts,
    revision: &str,
) -> Result<(), ServiceError> {
    let fields = settable_fields(monitor.monitor_type());
    let body = body_from_texts(&fields, texts, &stored_texts(monitor), false)?;
    // Without the revision that the person saw, the change of somebody else would be lost.
    let expected = revision.parse().map(Revision).map_err(|_| ServiceError::PreconditionFailed)?;
    let expected_type = Some(monitor.monitor_type());
    let saved = monitors::patch(
        &state.monitor_service,
        caller,
        monitor.id,
        expected_type,
        InputFormat::V3,
        &body,
        Some(expected),
    );
    saved.await.map(drop)
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

/// Returns the names of the secrets that `document` has.
fn stored_secrets(document: &MonitorDocument) -> Vec<&'static str> {
    let has_value =
        |field: &&Field| field.secret && document.value(field.name).is_some_and(|value| !value.is_null());
    settable_fields(document.monitor_type())
        .iter()
        .copied()
        .filter(has_value)
        .map(|field| field.name)
        .collect()
}

/// What stands in a form.
struct FormData<'a> {
    context: &'a FormContext,
    texts: &'a FormTexts,
    errors: &'a [ValidationError],
    stored_secrets: &'a [&'static str],
}

impl FormData<'_> {
    fn new_page(&self, monitor_type: MonitorType, viewer: &Viewer) -> Html<String> {
        let action = format!("/monitors/new?type={}", monitor_type.name());
        let body = self.render(monitor_type, "New monitor", &action, String::new(), "/", viewer);
        render(viewer, "New monitor · Vigie", None, &body)
    }

    fn edit_page(&self, monitor: &Monitor, revision: &str, viewer: &Viewer) -> Html<String> {
        let path = format!("/monitors/{}", monitor.id);
        let title = format!("Edit {}", monitor.name());
        let action = format!("{path}/edit");
        let body = self.render(monitor.monitor_type(), &title, &action, revision.to_owned(), &path, viewer);
        let crumb = Breadcrumb { name: monitor.name().to_owned(), path };
        render(viewer, &format!("{title} · Vigie"), Some(crumb), &body)
    }

    fn render(
        &self,
        monitor_type: MonitorType,
        title: &str,
        action: &str,
        revision: String,
        cancel_path: &str,
        viewer: &Viewer,
    ) -> String {
        let form = MonitorForm {
            title,
            action,
            form_token: viewer.form_token().unwrap_or_default(),
            monitor_type,
            description: table::for_type(monitor_type).description,
            revision,
            general_errors: general_errors(monitor_type, self.errors),
            sections: form_sections(
                monitor_type,
                self.texts,
                self.errors,
                &self.context.locations,
                self.stored_secrets,
            ),
            cancel_path,
        };
        // Writing into a string cannot fail.
        form.render().unwrap_or_default()
    }
}

fn render(viewer: &Viewer, title: &str, crumb: Option<Breadcrumb>, body: &str) -> Html<String> {
    let breadcrumbs = std::iter::once(Breadcrumb::monitors()).chain(crumb).collect();
    let frame = PageFrame { section: Some(Section::Monitors), breadcrumbs, ..PageFrame::new(title, viewer) };
    render_page(frame, body)
}
