//! Destinations of requests: other hosts, pinned addresses, address families, egress policy.

use serde_json::json;
use vigie::domain::{FailureKind as Kind, Phase};
use vigie::net::EgressPolicy;

use crate::probe_http::check::Check;
use crate::probe_http::check::Expect::{Fails, Passes};
use crate::probe_http::server::{Server, page, redirect, respond};

#[tokio::test]
async fn secrets_stay_with_the_first_host() {
    let other = Server::bind("127.0.0.2:0", vec![respond(page("x"))], None).await;
    let challenge =
        "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic\r\nContent-Length: 0\r\nSet-Cookie: a=1\r\n\r\n";
    let first = Server::start(vec![respond(challenge), respond(redirect(307, &other.url("/other")))]).await;
    let fields = json!({
        "realm_userid": "me", "realm_password": "secret",
        "http_headers": [{"name": "X-Shown", "value": "1"}, {"name": "Cookie", "value": "b=2"},
            {"name": "X-Api-Key", "value": "k"}, {"name": "X-Auth-Token", "value": "t"}],
    });
    let observation = Check::new(&first.url("/")).with(fields).run().await;
    Passes.compare(&observation).unwrap();
    let request = &other.requests()[0];
    assert!(!request.contains("Authorization") && !request.contains("Cookie"), "{request}");
    assert!(!request.contains("X-Api-Key") && !request.contains("X-Auth-Token"), "{request}");
    assert!(request.contains("X-Shown: 1"), "{request}");
    assert!(first.requests()[1].contains("Authorization: Basic bWU6c2VjcmV0"));
    assert!(first.requests()[1].contains("X-Api-Key: k\r\n"));
    assert_eq!(observation.address, Some(other.address));
}

#[tokio::test]
async fn credentials_are_not_sent_to_another_host() {
    let challenge = "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n";
    let other = Server::bind("127.0.0.2:0", vec![respond(challenge)], None).await;
    let first = Server::start(vec![respond(redirect(302, &other.url("/")))]).await;
    let observation = Check::new(&first.url("/"))
        .with(json!({"realm_userid": "me", "realm_password": "secret"}))
        .run()
        .await;
    Fails(7, Kind::HttpErrorStatus, Some(Phase::Validate)).compare(&observation).unwrap();
    assert_eq!(other.requests().len(), 1);
}

// row: 2.8 website.resolve_dns; 2.8 website.ip_address
#[tokio::test]
async fn a_pinned_address_is_used_for_the_first_host_only() {
    let other = Server::bind("127.0.0.2:0", vec![respond(page("x"))], None).await;
    let first =
        Server::start(vec![respond(redirect(302, "/again")), respond(redirect(302, &other.url("/")))]).await;
    let url = format!("http://no-such-name.invalid:{}/", first.address.port());
    let fields = json!({"resolve_dns": false, "ip_address": "127.0.0.1"});
    let observation = Check::new(&url).with(fields).run().await;
    Passes.compare(&observation).unwrap();
    let host = format!("Host: no-such-name.invalid:{}\r\n", first.address.port());
    assert!(first.requests().iter().all(|request| request.contains(&host)), "{:?}", first.requests());
    assert_eq!(first.requests().len(), 2);
    assert_eq!(observation.address, Some(other.address));
}

// row: 2.8 website.port
#[tokio::test]
async fn the_port_field_overrides_the_port_of_the_url() {
    let server = Server::start(vec![respond(page("x"))]).await;
    let check = Check::new("http://127.0.0.1:1/").with(json!({"port": server.address.port()}));
    Passes.compare(&check.run().await).unwrap();
}

#[tokio::test]
async fn ipv6_literals_are_used() {
    let server = Server::bind("[::1]:0", vec![respond(page("x"))], None).await;
    let observation = Check::new(&server.url("/")).run().await;
    Passes.compare(&observation).unwrap();
    assert!(server.requests()[0].contains(&format!("Host: [::1]:{}\r\n", server.address.port())));
    let url = format!("http://localhost:{}/", server.address.port());
    let fields = json!({"resolve_dns": false, "ip_address": "::1"});
    Passes.compare(&Check::new(&url).with(fields).run().await).unwrap();
}

#[tokio::test]
async fn enforced_ipv6_refuses_an_ipv4_target() {
    let server = Server::start(vec![respond(page("x"))]).await;
    let observation = Check::new(&server.url("/")).with(json!({"ipv6_enabled": "Enforced"})).run().await;
    Fails(51, Kind::NameWithoutAddress, Some(Phase::Resolve)).compare(&observation).unwrap();
}

#[tokio::test]
async fn the_egress_policy_holds_for_the_first_hop_and_for_redirects() {
    let denied = EgressPolicy::parse(&[] as &[&str], &["127.0.0.2/32"]).unwrap();
    let other = Server::bind("127.0.0.2:0", vec![respond(page("x"))], None).await;
    let first = Server::start(vec![respond(redirect(302, &other.url("/")))]).await;
    for url in [other.url("/"), first.url("/")] {
        let mut check = Check::new(&url);
        check.config.egress_policy = denied.clone();
        let observation = check.run().await;
        Fails(95, Kind::EgressDenied, Some(Phase::Connect))
            .compare(&observation)
            .unwrap_or_else(|_| panic!("{observation:#?}"));
    }
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn every_address_of_a_name_is_recorded() {
    let server = Server::start(vec![respond(page("x"))]).await;
    let url = format!("http://localhost:{}/", server.address.port());
    let observation = Check::new(&url).run().await;
    Passes.compare(&observation).unwrap();
    assert!(
        observation.facts.resolved_addresses.contains(&server.address.ip()),
        "{:?}",
        observation.facts.resolved_addresses
    );
    assert_eq!(observation.address, Some(server.address));
}
