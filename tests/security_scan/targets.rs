//! What may be scanned: nothing, unless the settings of the location allow it.

use serde_json::json;
use vigie::domain::{FailureKind, Status};
use vigie::net::NameServers;
use vigie::probe::{AllowedTargets, SecurityScanSettings};

use super::site::{Site, response};
use super::{net_with, scan_with, settings};
use crate::support::name_server::{NameServer, Reply};

fn plain(_: &str, _: &str) -> String {
    response("200 OK", "", "x")
}

#[tokio::test]
async fn nothing_is_sent_to_a_target_that_is_not_allowed() {
    let site = Site::start("127.0.74.1", None, plain).await;
    let cases = [(&[][..], "is empty"), (&["127.0.75.0/24"][..], "is not in `security.allowed_targets`")];
    for (allowed, reason) in cases {
        let settings = SecurityScanSettings { allowed_targets: AllowedTargets::parse(allowed), ..settings() };
        let net = net_with(NameServers::System);
        let observation = scan_with(json!({"url": site.url("http")}), settings, &net).await;
        let failure = observation.failure.unwrap();
        assert_eq!((failure.kind, failure.status()), (FailureKind::NotConfigured, Status::CANNOT_RUN));
        assert!(failure.detail.contains(reason), "{failure}");
        assert_eq!(site.connections(), 0);
    }
    let everything = SecurityScanSettings { allowed_targets: None, ..settings() };
    let net = net_with(NameServers::System);
    let observation = scan_with(json!({"url": site.url("http")}), everything, &net).await;
    assert!(observation.facts.security.is_some() && site.connections() > 0);
}

#[tokio::test]
async fn a_name_that_leads_elsewhere_is_refused() {
    let site = Site::start("127.0.74.2", None, plain).await;
    let server = NameServer::start("127.0.74.3", |name, _| match name {
        "scan.test" => {
            Reply::Records(vec![hickory_proto::rr::RData::A(std::net::Ipv4Addr::new(127, 0, 74, 2).into())])
        }
        _ => Reply::Code(hickory_proto::op::ResponseCode::NXDomain),
    })
    .await;
    let net = net_with(NameServers::Explicit(vec![server.at]));
    let url = format!("http://scan.test:{}/", site.at.port());
    // The name is allowed, but leads to a private address.
    let by_name = SecurityScanSettings {
        allowed_targets: AllowedTargets::parse(&["*.test", "scan.test"]),
        ..settings()
    };
    let failure = scan_with(json!({"url": url}), by_name, &net).await.failure.unwrap();
    assert!(
        failure.kind == FailureKind::NotConfigured && failure.detail.contains("leads to 127.0.74.2"),
        "{failure}"
    );
    assert_eq!(site.connections(), 0);
    let by_network =
        SecurityScanSettings { allowed_targets: AllowedTargets::parse(&["127.0.74.0/24"]), ..settings() };
    let observation = scan_with(json!({"url": url}), by_network, &net).await;
    assert!(observation.facts.security.is_some(), "{observation:?}");
}
