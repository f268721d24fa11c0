//! From checked values to what the parts of the process take.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use super::alerts::alerts;
use super::browser::browser;
use super::certificates::certificate_names;
use super::engine::engine;
use super::hosted::{others, targets};
use super::mobile::mobile;
use super::model::Settings;
use super::network::{first_proxy, net};
use super::plans::plans;
use super::probe::probe;
use super::proxies::proxies;
use super::read::Values;
use super::reader::{Reader, defaults};
use super::server::{listen, server};
use super::store::store;
use super::table::SETTINGS;
use crate::browser::House;
use crate::domain::{Location, LocationId};
use crate::probe::ProbeSettings;
use crate::syntax::ValidationError;
use crate::syntax::source::Node;
use crate::telemetry::{LogFormat, LogOptions};

pub(super) fn build(values: Values, file: Option<&Arc<str>>, faults: &mut Vec<ValidationError>) -> Settings {
    let named = |path: &str| {
        values.get(path).is_some_and(|value| defaults().get(path).map(Node::to_json) != Some(value.to_json()))
    };
    let (data_named, monitors_named) = (named("data"), named("monitors"));
    let mut read = Reader { values, file, faults };
    let browser = browser(&mut read);
    let probe = ProbeSettings { browser: Arc::new(House::new(browser.clone())), ..probe(&mut read) };
    let mobile = mobile(&read, &probe.devices);
    Settings {
        // Values that were not set are those of the table, which a test holds to their kinds.
        listen: listen(&read),
        server: server(&mut read),
        data: read.text("data").into(),
        monitors: read.texts("monitors").into_iter().map(PathBuf::from).collect(),
        data_named,
        monitors_named,
        plans: plans(&mut read),
        log: LogOptions {
            format: read.text("log.format").parse().unwrap_or(LogFormat::Text),
            filter: read.text("log.level"),
        },
        engine: engine(&read),
        store: store(&read),
        location: Location {
            id: LocationId(read.number("location.id")),
            name: read.text("location.name"),
            region: read.number("location.region"),
        },
        net: net(&mut read),
        proxy: first_proxy(&mut read),
        verifies: read.node("location.verifies").to_json() == Value::Bool(true),
        connectivity: targets(read.node("location.connectivity_targets")),
        others: others(&mut read),
        proxies: proxies(&mut read),
        certificate_names: certificate_names(&read),
        probe,
        browser,
        mobile,
        alerts: alerts(&mut read),
        raw: SETTINGS.iter().map(|setting| (setting.path, read.node(setting.path).to_json())).collect(),
    }
}
