//! Converts checked values to the settings of each part of the process.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use super::alerts::read_alerts;
use super::browser::read_browser;
use super::bus::read_bus;
use super::certificates::read_certificate_names;
use super::concurrency::read_concurrency;
use super::controller::read_controller;
use super::hosted_location::{read_endpoints, read_other_locations};
use super::mobile::read_mobile;
use super::model::Settings;
use super::network::{read_first_location_net, read_first_location_proxy};
use super::otlp::read_otlp;
use super::plans::read_plans;
use super::probe::read_probe;
use super::proxies::read_proxies;
use super::server::{read_listen_addresses, read_server};
use super::settings_reader::{SettingsReader, default_values};
use super::sources::SettingSources;
use super::store::read_store;
use super::table::SETTINGS;
use super::validate::SettingValues;
use crate::browser::BrowserPool;
use crate::domain::{Location, LocationId};
use crate::probe::ProbeBuildContext;
use crate::redaction::redactor::{SecretSet, SharedRedactor};
use crate::syntax::ValidationError;
use crate::syntax::node::Node;
use crate::telemetry::{LogFormat, LogOptions};

pub(super) fn build(
    values: SettingValues,
    sources: &SettingSources,
    file_name: Option<&Arc<str>>,
    errors: &mut Vec<ValidationError>,
) -> Settings {
    let differs_from_default = |path: &str| {
        values
            .get(path)
            .is_some_and(|value| default_values().get(path).map(Node::to_json) != Some(value.to_json()))
    };
    let (data_dir_is_set, monitor_paths_are_set) =
        (differs_from_default("data"), differs_from_default("monitors"));
    let mut reader = SettingsReader { values, file_name, errors, secrets: SecretSet::default() };
    let browser = read_browser(&mut reader);
    let probe = ProbeBuildContext {
        browser_pool: Arc::new(BrowserPool::new(browser.clone())),
        ..read_probe(&mut reader)
    };
    let mobile = read_mobile(&reader, &probe.device_profiles);
    let mut settings = Settings {
        // Unset values are the defaults of the table; a test checks their types.
        listen_addresses: read_listen_addresses(&reader),
        server: read_server(&mut reader),
        data_dir: reader.text("data").into(),
        monitor_paths: reader.text_list("monitors").into_iter().map(PathBuf::from).collect(),
        data_dir_is_set,
        monitor_paths_are_set,
        billing_plans: read_plans(&mut reader),
        log: LogOptions {
            format: reader.text("log.format").parse().unwrap_or(LogFormat::Text),
            filter: reader.text("log.level"),
        },
        concurrency: read_concurrency(&reader),
        store: read_store(&mut reader, sources),
        location: Location {
            id: LocationId(reader.int("location.id")),
            name: reader.text("location.name"),
            region_code: reader.int("location.region"),
        },
        net: read_first_location_net(&mut reader),
        location_proxy: read_first_location_proxy(&mut reader),
        bus: read_bus(&reader),
        controller: read_controller(&reader),
        agent_weight: u32::try_from(reader.int("location.weight")).unwrap_or(1),
        can_verify: reader.node("location.verifies").to_json() == Value::Bool(true),
        connectivity_targets: read_endpoints(reader.node("location.connectivity_targets")),
        other_locations: read_other_locations(&mut reader),
        proxies: read_proxies(&mut reader),
        client_certificate_names: read_certificate_names(&reader),
        probe,
        browser_pool_config: browser,
        mobile_emulation: mobile,
        alerts: read_alerts(&mut reader),
        otlp: read_otlp(&mut reader),
        raw_values: SETTINGS
            .iter()
            .map(|setting| (setting.path, reader.node(setting.path).to_json()))
            .collect(),
    };
    settings.probe.settings_redactor = Arc::new(SharedRedactor::new(reader.secrets.into_redactor()));
    settings
}
