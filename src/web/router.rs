//! The routes of the pages.

use axum::response::Redirect;
use axum::routing::{get, post};
use axum::{Router, middleware};

use super::actions::{self, ActionsState};
use super::assets::unversioned_asset;
use super::form;
use super::form::records::{self, AccountState};
use super::history::{self, HistoryState};
use super::live::LiveState;
use super::locations_state::LocationsState;
use super::page_auth::PageAuth;
use super::page_state::PageState;
use super::responses::not_found;
use super::shares::{self, SharesState};

/// Builds all routes but those of the APIs; `auth` protects pages and metrics.
pub fn router(state: PageState, auth: PageAuth) -> Router {
    let protected_routes = Router::new()
        .route("/", get(super::monitors::get_page))
        .route("/monitors/{id}", get(super::monitor_page::get_page))
        .route("/views/{view}", get(super::monitors::get_page))
        .route("/monitors.csv", get(super::monitors::get_file))
        .route("/palette", get(super::palette::get_places))
        .route("/results/{id}", get(super::result::get_page))
        .route("/results/{id}/captures/{name}", get(super::result::get_capture))
        .route("/results/{id}/json", get(super::result::get_record))
        .route("/manual", get(super::manual::redirect_to_index))
        .route("/manual/", get(super::manual::get_index_or_search_results))
        .route("/manual/{*name}", get(super::manual::get_page))
        .route_layer(middleware::from_fn_with_state(auth.clone(), super::page_auth::require_page_access));
    let metrics_route = Router::new()
        .route("/metrics", get(super::health::get_metrics))
        .route_layer(middleware::from_fn_with_state(auth.clone(), super::page_auth::require_metrics_access));
    let monitor_metrics_route = Router::new()
        .route("/metrics/monitors", get(super::monitor_metrics::get_monitor_metrics))
        .route_layer(middleware::from_fn_with_state(
            auth.clone(),
            super::page_auth::require_monitor_metrics_access,
        ));
    let sign_in_routes = Router::new()
        .route("/sign-in", get(super::sign_in::get_sign_in).post(super::sign_in::post_sign_in))
        .route("/sign-in/link", get(super::sign_in::get_sign_in_link).post(super::sign_in::post_sign_in_link))
        .route("/sign-out", post(super::sign_in::post_sign_out))
        .route(
            "/preferences",
            get(super::preferences_form::get_preferences).post(super::preferences_form::post_preferences),
        )
        .with_state(auth);
    protected_routes
        .merge(metrics_route)
        .merge(monitor_metrics_route)
        .merge(sign_in_routes)
        .route("/assets/{hash}/{name}", get(super::assets::get_asset))
        // For the page of the API, which is none of these pages, and for bookmarks of the picture.
        .route("/style.css", get(async || unversioned_asset("style.css")))
        .route("/icon.svg", get(async || unversioned_asset("icon.svg")))
        .route("/healthz", get(super::health::get_liveness))
        .route("/readyz", get(super::health::get_readiness))
        .fallback(async || not_found("This page does not exist"))
        .with_state(state)
}

/// Builds the route of the page of locations; `auth` protects it.
pub fn locations_router(state: LocationsState, auth: PageAuth) -> Router {
    Router::new()
        .route("/locations", get(super::locations_page::get_page))
        .route_layer(middleware::from_fn_with_state(auth, super::page_auth::require_page_access))
        .with_state(state)
}

/// Builds the route of the updates of pages, which decides itself who may see them.
pub fn live_router(state: LiveState) -> Router {
    Router::new().route("/live", get(super::live::get_updates)).with_state(state)
}

/// Builds the routes of what a signed-in person does to a monitor.
pub fn actions_router(state: ActionsState) -> Router {
    let auth = state.auth.clone();
    let pages = Router::new()
        .route("/monitors/{id}/tests/{test}", get(actions::get_test_page))
        .route("/tests/{test}", get(actions::get_draft_test_page))
        .route("/monitors/new", get(form::get_new_form))
        .route("/apply", get(super::apply_page::get_page))
        .route("/monitors/{id}/edit", get(form::get_edit_form))
        .route("/monitors/{id}/remove", get(form::get_removal))
        .route("/monitors/{id}/saved", get(form::get_saved))
        .route_layer(middleware::from_fn_with_state(auth, super::page_auth::require_page_access));
    Router::new()
        .route("/monitors/{id}/pause", post(actions::post_pause))
        .route("/monitors/{id}/resume", post(actions::post_resume))
        .route("/monitors/{id}/push-token", post(actions::post_push_token))
        .route("/monitors/{id}/tests", post(actions::post_test))
        .route("/apply", post(super::apply_page::post_page))
        .route("/monitors/bulk", post(super::bulk::post_bulk))
        .route("/monitors/new", post(form::post_new_form))
        .route("/monitors/{id}/edit", post(form::post_edit_form))
        .route("/monitors/{id}/remove", post(form::post_removal))
        .merge(pages)
        .with_state(state)
}

/// Builds the routes of what an account has beside its monitors, and of the performance alerts of a monitor.
pub fn account_router(state: AccountState) -> Router {
    let auth = state.actions.auth.clone();
    Router::new()
        .route("/views", get(async || Redirect::to("/account/views")))
        .route("/account", get(records::get_index))
        .route("/account/password", get(records::get_password_form))
        .route("/account/{kind}", get(records::get_list))
        .route("/account/{kind}/new", get(records::get_new_form))
        .route("/account/{kind}/{id}", get(records::get_edit_form))
        .route("/account/{kind}/{id}/remove", get(records::get_removal))
        .route("/monitors/{monitor}/performance-alerts", get(records::get_list))
        .route("/monitors/{monitor}/performance-alerts/new", get(records::get_new_form))
        .route("/monitors/{monitor}/performance-alerts/{id}", get(records::get_edit_form))
        .route("/monitors/{monitor}/performance-alerts/{id}/remove", get(records::get_removal))
        .route_layer(middleware::from_fn_with_state(auth, super::page_auth::require_page_access))
        .route("/account/password", post(records::post_password_form))
        .route("/views", post(super::monitors::post_view))
        .route("/account/{kind}/new", post(records::post_new_form))
        .route("/account/{kind}/{id}", post(records::post_edit_form))
        .route("/account/{kind}/{id}/remove", post(records::post_removal))
        .route("/monitors/{monitor}/performance-alerts/new", post(records::post_new_form))
        .route("/monitors/{monitor}/performance-alerts/{id}", post(records::post_edit_form))
        .route("/monitors/{monitor}/performance-alerts/{id}/remove", post(records::post_removal))
        .with_state(state)
}

/// Builds the routes of shared results. Those of a link need no login: who has the link may see the page.
pub fn shares_router(state: SharesState) -> Router {
    let auth = state.auth.clone();
    Router::new()
        .route("/shares", get(shares::get_list))
        .route_layer(middleware::from_fn_with_state(auth, super::page_auth::require_page_access))
        .route("/results/{id}/share", post(shares::post_share))
        .route("/shares/{id}/revoke", post(shares::post_revoke))
        .route("/shared/{token}", get(shares::get_shared_page))
        .route("/shared/{token}/captures/{name}", get(shares::get_shared_capture))
        .with_state(state)
}

/// Builds the routes of the history of a monitor.
pub fn history_router(state: HistoryState) -> Router {
    let auth = state.actions.auth.clone();
    Router::new()
        .route("/monitors/{id}/history", get(history::get_page))
        .route("/monitors/{id}/history/{change}/revert", get(history::get_revert))
        .route_layer(middleware::from_fn_with_state(auth, super::page_auth::require_page_access))
        .route("/monitors/{id}/outages/{outage}/acknowledge", post(history::post_acknowledge))
        .route("/monitors/{id}/history/{change}/revert", post(history::post_revert))
        .with_state(state)
}
