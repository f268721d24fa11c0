//! The DNS records of the target, from a scripted name server.

use hickory_proto::op::ResponseCode;
use hickory_proto::rr::rdata::{A, CNAME, TXT};
use hickory_proto::rr::{Name, RData, RecordType};
use serde_json::json;
use vigie::domain::{FailureKind, Severity};
use vigie::net::NameServers;

use super::site::{Site, response};
use super::{facts, labels, net_with, scan_with, settings, severity};
use crate::support::name_server::{NameServer, Reply};

fn text(value: &str) -> RData {
    RData::TXT(TXT::new(vec![value.to_owned()]))
}

#[tokio::test]
async fn records_of_the_domain_are_judged() {
    let site = Site::start("127.0.76.1", None, |_, _| response("200 OK", "", "x")).await;
    let server = NameServer::start("127.0.76.2", |name, record_type| match (name, record_type) {
        ("www.scan.test", RecordType::A) => Reply::Records(vec![RData::A(A::new(127, 0, 76, 1))]),
        ("scan.test", RecordType::TXT) => Reply::Records(vec![text("other"), text("v=spf1 +all")]),
        ("_dmarc.scan.test", RecordType::TXT) => Reply::Records(vec![text("v=DMARC1; p=none")]),
        ("www.scan.test" | "scan.test", _) => Reply::Records(vec![]),
        _ => Reply::Code(ResponseCode::NXDomain),
    })
    .await;
    let net = net_with(NameServers::Explicit(vec![server.at]));
    let url = format!("http://www.scan.test:{}/", site.at.port());
    let observation = scan_with(json!({"url": url}), settings(), &net).await;
    let found = labels(&observation);
    for label in ["caa-missing", "dnssec-missing", "spf-open", "dmarc-none"] {
        assert!(found.contains(label), "{label} is not among {:#?}", facts(&observation));
    }
    assert_eq!(severity(&observation, "spf-open"), Some(Severity::High));
    // An address has no records.
    let observation = scan_with(json!({"url": site.url("http")}), settings(), &net).await;
    assert!(!labels(&observation).contains("caa-missing"));
}

#[tokio::test]
async fn an_alias_of_a_name_that_is_gone_is_a_finding() {
    let server = NameServer::start("127.0.76.3", |name, record_type| match (name, record_type) {
        ("shop.scan.test", RecordType::CNAME) => {
            Reply::Records(vec![RData::CNAME(CNAME(Name::from_ascii("gone.cloud.test.").unwrap()))])
        }
        _ => Reply::Code(ResponseCode::NXDomain),
    })
    .await;
    let net = net_with(NameServers::Explicit(vec![server.at]));
    let observation = scan_with(json!({"hostname": "shop.scan.test"}), settings(), &net).await;
    assert!(labels(&observation).contains("cname-dangling (shop.scan.test)"));
    assert_eq!(observation.failure.as_ref().unwrap().kind, FailureKind::SecurityFindings);
    let areas = facts(&observation).open_questions.iter().map(|question| question.split(':').next().unwrap());
    assert_eq!(areas.collect::<Vec<_>>(), ["ports", "tls", "web"], "the findings of those are not gone");
    let fields = json!({"hostname": "shop.scan.test", "fail_severity": "critical"});
    let observation = scan_with(fields, settings(), &net).await;
    assert_eq!(observation.failure.unwrap().kind, FailureKind::NameNotFound);
}

#[tokio::test]
async fn a_resolver_that_fails_leaves_questions_open() {
    let site = Site::start("127.0.76.4", None, |_, _| response("200 OK", "", "x")).await;
    let server = NameServer::start("127.0.76.5", |name, record_type| match (name, record_type) {
        ("www.scan.test", RecordType::A) => Reply::Records(vec![RData::A(A::new(127, 0, 76, 4))]),
        ("www.scan.test", RecordType::AAAA) => Reply::Records(vec![]),
        _ => Reply::Code(ResponseCode::ServFail),
    })
    .await;
    let net = net_with(NameServers::Explicit(vec![server.at]));
    let url = format!("http://www.scan.test:{}/", site.at.port());
    let observation = scan_with(json!({"url": url}), settings(), &net).await;
    assert!(!labels(&observation).contains("caa-missing"));
    let questions = &facts(&observation).open_questions;
    assert!(questions.iter().any(|question| question.starts_with("dns: ")), "{questions:?}");
}
