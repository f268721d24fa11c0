//! Tests the probes of `tcp`, `ping` and `name-server` against scripted loopback servers and real daemons.

mod dns;
mod dns_daemons;
mod dns_table;
mod golden;
mod ping;
mod ping_errors;
mod pinned_addresses;
mod tcp;
mod tcp_table;

use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use vigie::clock::SystemClock;
use vigie::domain::{FailureKind, MonitorType, Observation};
use vigie::net::{Deadline, Net, NetConfig, PublicRoots, TrustConfig};
use vigie::probe::{ProbeBuildContext, ProbeContext, build_probe};
use vigie::schema::MonitorDocument;

fn net_with(change: impl FnOnce(&mut NetConfig)) -> Net {
    let trust = TrustConfig { public_roots: PublicRoots::None, ..TrustConfig::default() };
    let mut config = NetConfig { trust_config: trust, ..NetConfig::default() };
    change(&mut config);
    Net::new(&config).unwrap()
}

fn net() -> Net {
    net_with(|_| {})
}

/// Runs one attempt of a monitor of type `kind` with `fields`, within `timeout`.
async fn attempt(net: &Net, kind: MonitorType, fields: Value, timeout: Duration) -> Observation {
    let Value::Object(fields) = fields else { panic!("{fields} is not an object") };
    let settings = ProbeBuildContext {
        dns_query_names: vec!["default.test".to_owned(), "second.test".to_owned()],
        ..ProbeBuildContext::default()
    };
    let (probe, _) = build_probe(&MonitorDocument::new(kind, fields).unwrap(), &settings);
    let cancel = CancellationToken::new();
    let cx = ProbeContext::new(net, Deadline::within(timeout), &cancel, &SystemClock);
    let observation = probe.attempt(cx).await;
    assert!(observation.duration <= timeout + Duration::from_millis(500), "{:?}", observation.duration);
    observation
}

fn failure_kind(observation: &Observation) -> Option<FailureKind> {
    observation.failure.as_ref().map(|failure| failure.kind)
}

const TIMEOUT: Duration = Duration::from_secs(10);

#[tokio::test]
async fn each_kind_names_its_target() {
    for (kind, host) in
        [(MonitorType::Tcp, "a.test"), (MonitorType::Ping, "b.test"), (MonitorType::NameServer, "c.test")]
    {
        let Value::Object(fields) = json!({"hostname": host, "port": 1}) else { unreachable!() };
        let (probe, _) =
            build_probe(&MonitorDocument::new(kind, fields).unwrap(), &ProbeBuildContext::default());
        assert_eq!(probe.target_host(), Some(host));
    }
}
