//! Runs one attempt of a collection monitor.

use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use vigie::clock::SystemClock;
use vigie::domain::{MonitorType, Observation};
use vigie::net::{Deadline, Net, NetConfig, PublicRoots, TrustConfig};
use vigie::probe::{ProbeBuildContext, ProbeContext, build_probe};
use vigie::schema::MonitorDocument;

/// Runs an attempt of a monitor with these fields.
pub async fn run_fields(
    fields: Map<String, Value>,
    context: &ProbeBuildContext,
    timeout: Duration,
) -> Observation {
    let script_program = Path::new(env!("CARGO_BIN_EXE_vigie")).into();
    run_with_program(fields, &ProbeBuildContext { script_program, ..context.clone() }, timeout).await
}

/// Like [`run_fields`], with the program for scripts that the context names.
pub async fn run_with_program(
    fields: Map<String, Value>,
    context: &ProbeBuildContext,
    timeout: Duration,
) -> Observation {
    let document = MonitorDocument::new(MonitorType::CollectionApi, fields).unwrap();
    let (probe, _) = build_probe(&document, context);
    let trust = TrustConfig { public_roots: PublicRoots::None, ..TrustConfig::default() };
    let net = Net::new(&NetConfig { trust_config: trust, ..NetConfig::default() }).unwrap();
    let cancel = CancellationToken::new();
    probe.attempt(ProbeContext::new(&net, Deadline::within(timeout), &cancel, &SystemClock)).await
}

/// Runs a collection of these items.
pub async fn run(items: Value) -> Observation {
    run_with(items, json!({})).await
}

/// Runs a collection of these items with more fields of the monitor.
pub async fn run_with(items: Value, more: Value) -> Observation {
    let collection = json!({"info": {"name": "Shop"}, "item": items});
    let mut fields = more.as_object().unwrap().clone();
    fields.insert("script".to_owned(), collection.to_string().into());
    run_fields(fields, &ProbeBuildContext::default(), Duration::from_secs(30)).await
}

/// Returns a request that runs `code` after its response.
pub fn item(name: &str, url: &str, code: &str) -> Value {
    json!({"name": name, "request": url, "event": [{"listen": "test", "script": {"exec": [code]}}]})
}
