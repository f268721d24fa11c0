//! Steps over TLS: trust, client certificates, the pinned version, mixed with plain steps; IPv6.

use rustls::version::{TLS12, TLS13};
use serde_json::{Value, json};
use vigie::domain::{FailureKind, Observation};
use vigie::net::Pem;

use crate::probe_api::check::{Check, failed, get, passed};
use crate::probe_api::service::{Service, respond};
use crate::support::tls_server::{Authority, config};

fn pem(label: &str, text: String) -> Pem {
    Pem { label: label.to_owned(), text: text.into_bytes() }
}

/// Runs a plain step and one over TLS, by a monitor with these fields.
async fn observe(service: &Service, plain: &Service, ca: Option<&Authority>, fields: Value) -> Observation {
    let secure = format!("https://localhost:{}/s", service.address.port());
    let mut check = Check::of(&[get("Plain", &plain.url("/p")), get("Secure", &secure)]);
    let Value::Object(fields) = fields else { panic!("fields are an object") };
    check.fields.extend(fields);
    check.config.trust_config.additional_authorities =
        ca.map(|ca| pem("test CA", ca.pem())).into_iter().collect();
    check.run().await
}

#[tokio::test]
async fn servers_are_verified_unless_the_monitor_disables_it() {
    let ca = Authority::new("test CA");
    let tls = config(&ca.issue(&["localhost"], (2020, 2090)), &[&TLS13, &TLS12], None);
    let service = Service::start_with_tls(Some(tls), |_| respond(200, "", "in")).await;
    let plain = Service::start(|_| respond(200, "", "")).await;
    let observe_with = |ca, fields| observe(&service, &plain, ca, fields);
    let trusted = observe_with(Some(&ca), json!({})).await;
    passed(&trusted);
    assert_eq!(trusted.facts.tls.as_ref().unwrap().tls_version.as_deref(), Some("TLSv1.3"));
    let untrusted = observe_with(None, json!({})).await;
    let failure = failed(&untrusted, FailureKind::CertificateIssuerUnknown, 3);
    assert!(failure.detail.starts_with("step 2 `Secure`: "), "{}", failure.detail);
    passed(&observe_with(None, json!({"verify_certificate": false})).await);
    let pinned = observe_with(Some(&ca), json!({"use_ssl_version": "12"})).await;
    passed(&pinned);
    assert_eq!(pinned.facts.tls.unwrap().tls_version.as_deref(), Some("TLSv1.2"));
    failed(&observe_with(Some(&ca), json!({"ca_cert_id": 9})).await, FailureKind::NotConfigured, 95);
    failed(
        &observe_with(Some(&ca), json!({"use_client_ssl_cert": true, "ssl_cert_id": 9})).await,
        FailureKind::NotConfigured,
        95,
    );
}

#[tokio::test]
async fn ipv6_is_used_as_the_monitor_says() {
    let plain = Service::start(|_| respond(200, "", "")).await;
    let url = format!("http://localhost:{}/", plain.address.port());
    let mut check = Check::of(&[get("Four", &url)]);
    passed(&check.run().await);
    check.fields.insert("ipv6_enabled".to_owned(), json!("Enforced"));
    let observation = check.run().await;
    assert!(
        observation.failure.is_some() && observation.address.is_none_or(|address| address.is_ipv6()),
        "{observation:?}"
    );
    assert_eq!(plain.requests().len(), 1);
}

#[tokio::test]
async fn a_client_certificate_is_sent_when_enabled() {
    let ca = Authority::new("test CA");
    let tls = config(&ca.issue(&["localhost"], (2020, 2090)), &[&TLS13], Some(&ca));
    let service = Service::start_with_tls(Some(tls), |_| respond(200, "", "in")).await;
    let mut check = Check::of(&[get("In", &format!("https://localhost:{}/", service.address.port()))]);
    check.config.trust_config.named_authorities = [(5, pem("CA", ca.pem()))].into();
    check.config.trust_config.client_certificates =
        [(3, pem("client", ca.issue(&["client"], (2020, 2090)).pem()))].into();
    check.fields.insert("ca_cert_id".to_owned(), json!(5));
    check.fields.insert("ssl_cert_id".to_owned(), json!(3));
    for (enabled, holds) in [(true, true), (false, false)] {
        check.fields.insert("use_client_ssl_cert".to_owned(), json!(enabled));
        let observation = check.run().await;
        assert_eq!(observation.failure.is_none(), holds, "{:?}", observation.failure);
    }
}
