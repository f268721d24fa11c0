//! Pause, resume, and a check at once.

use std::time::Duration;

use axum::extract::{Path, Request, State};
use axum::response::Response;

use super::own_form::{MAX_BUTTON_FORM_BYTES, OwnForm, read_own_form};
use super::refusal::refused;
use super::state::ActionsState;
use crate::domain::{MonitorId, Permission};
use crate::schema::Monitor;
use crate::service::{Caller, ServiceError, monitors};
use crate::web::forms::see_other;
use crate::web::viewer::Viewer;

/// Longest pause, in seconds: a year.
const MAX_PAUSE_SECONDS: u64 = 366 * 86_400;

/// `POST /monitors/{id}/pause` with `seconds`
pub(in crate::web) async fn post_pause(
    State(state): State<ActionsState>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    let (form, monitor, caller) = match read_action(&state, &id, request).await {
        Ok(action) => action,
        Err(response) => return response,
    };
    let seconds = form.fields.get("seconds").and_then(|text| text.parse().ok());
    let Some(seconds) = seconds.filter(|seconds| (1..=MAX_PAUSE_SECONDS).contains(seconds)) else {
        let message = format!("The pause must last from 1 to {MAX_PAUSE_SECONDS} seconds");
        return refused(&ServiceError::Conflict(message));
    };
    let until = state.pages.clock.now() + Duration::from_secs(seconds);
    done(monitors::pause_monitor(&state.monitor_service, &caller, monitor.id, until).await, &monitor)
}

/// `POST /monitors/{id}/resume`
pub(in crate::web) async fn post_resume(
    State(state): State<ActionsState>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    match read_action(&state, &id, request).await {
        Ok((_, monitor, caller)) => {
            done(monitors::resume_monitor(&state.monitor_service, &caller, monitor.id).await, &monitor)
        }
        Err(response) => response,
    }
}

/// `POST /monitors/{id}/tests`: starts a check, and leads to its page.
pub(in crate::web) async fn post_test(
    State(state): State<ActionsState>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    let (_, monitor, caller) = match read_action(&state, &id, request).await {
        Ok(action) => action,
        Err(response) => return response,
    };
    if let Err(error) = caller.require_permission(Permission::Edit) {
        return refused(&error);
    }
    match state.on_demand_tests.start(&caller, monitor.id, None).await {
        Ok(test) => see_other(&format!("/monitors/{}/tests/{test}", monitor.id), None),
        Err(error) => refused(&error),
    }
}

/// Reads the form of an action on the monitor `id`, and finds who does it.
pub(super) async fn read_action(
    state: &ActionsState,
    id: &str,
    request: Request,
) -> Result<(OwnForm, Monitor, Caller), Response> {
    let form = read_own_form(&state.auth, request, MAX_BUTTON_FORM_BYTES).await?;
    match find_own(state, &form.viewer, id) {
        Some((monitor, caller)) => Ok((form, monitor, caller)),
        None => Err(refused(&ServiceError::NotFound)),
    }
}

/// Finds the monitor `id`, and the caller that acts for `viewer` in its account; `None` when there is no such monitor, or
/// the viewer may not act there.
pub(in crate::web) fn find_own(state: &ActionsState, viewer: &Viewer, id: &str) -> Option<(Monitor, Caller)> {
    let monitor = state.pages.monitor_reader.monitor(MonitorId(id.parse().ok()?))?;
    let caller = viewer.caller_for(monitor.customer)?;
    Some((monitor, caller))
}

/// Leads back to the monitor, or says why nothing was done.
fn done<T>(outcome: Result<T, ServiceError>, monitor: &Monitor) -> Response {
    match outcome {
        Ok(_) => see_other(&format!("/monitors/{}", monitor.id), None),
        Err(error) => refused(&error),
    }
}
