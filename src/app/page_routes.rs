//! The routes of the pages, each with the parts of the server that it needs.

use std::sync::Arc;

use axum::Router;
use tokio_util::sync::CancellationToken;

use super::host_names::host_names;
use crate::api::ApiState;
use crate::settings::ServerSettings;
use crate::web::{
    self, AccountState, ActionsState, HistoryState, KnownHosts, LiveState, LocationsState, PageAuth,
    PageState, SharesState,
};

/// Builds the routes of the pages; `stop` ends the streams of updates.
pub(super) fn page_routes(
    api_state: &ApiState,
    page_state: PageState,
    server: &ServerSettings,
    stop: &CancellationToken,
) -> Router {
    let metrics_allow = server.metrics_allow.clone();
    let auth = PageAuth {
        is_public: server.public_pages,
        account_service: Arc::clone(&api_state.account_service),
        account_data: Some(Arc::clone(&page_state.monitor_reader)),
        known_hosts: KnownHosts::new(server.hosts.iter().cloned().chain(host_names())),
        allows_metrics: Arc::new(move |address| {
            metrics_allow.iter().any(|network| network.contains(address))
        }),
    };
    let locations_state = LocationsState {
        config_record_service: Arc::clone(&api_state.record_service),
        clock: Arc::clone(&page_state.clock),
    };
    let actions_state = ActionsState {
        pages: page_state.clone(),
        auth: auth.clone(),
        monitor_service: Arc::clone(&api_state.monitor_service),
        push_service: Arc::clone(&api_state.push_service),
        on_demand_tests: Arc::clone(&api_state.on_demand_tests),
    };
    let history_state = HistoryState {
        actions: actions_state.clone(),
        alert_service: Arc::clone(&api_state.alert_service),
        config_record_service: Arc::clone(&api_state.record_service),
    };
    let account_state = AccountState {
        actions: actions_state.clone(),
        config_record_service: Arc::clone(&api_state.record_service),
    };
    let shares_state = SharesState {
        pages: page_state.clone(),
        auth: auth.clone(),
        result_shares: Arc::clone(&api_state.result_shares),
    };
    let live_state = LiveState::new(actions_state.clone(), locations_state.clone(), stop.clone());
    let pages = web::router(page_state, auth.clone());
    pages
        .merge(web::locations_router(locations_state, auth))
        .merge(web::actions_router(actions_state))
        .merge(web::history_router(history_state))
        .merge(web::account_router(account_state))
        .merge(web::shares_router(shares_state))
        .merge(web::live_router(live_state))
}
