//! HTTP/3 against a scripted server on loopback.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::{Buf, Bytes};
use h3::error::Code;
use hickory_proto::rr::rdata::A;
use hickory_proto::rr::{RData, RecordType};
use http::{Response, StatusCode};
use quinn::crypto::rustls::QuicServerConfig;
use rustls::version::TLS13;
use serde_json::{Value, json};
use vigie::domain::{FailureKind as Kind, Observation, Phase, WarningKind};
use vigie::net::{EgressPolicy, Endpoint, NameServers, ProxyProtocol, UpstreamProxy};

use crate::probe_http::check::Check;
use crate::probe_http::check::Expect::{self, Fails, Passes, Warns};
use crate::probe_http::server::{Server, page as page_of, respond};
use crate::probe_http::tls::pem;
use crate::support::name_server::{NameServer, Reply};
use crate::support::tls_server::{Authority, Identity, config};

const VALID: (i32, i32) = (2020, 2090);
const NAMES: &[&str] = &["127.0.0.1", "localhost"];

/// What the server does with a request, by its path.
#[derive(Clone, Debug)]
enum Act {
    /// Sends a status, header fields and a body.
    Respond(u16, Vec<(&'static str, String)>, Vec<u8>),
    /// Sends back the body, method and fields of the request.
    Echo,
    /// Sends the head and a part of the body, then resets the stream.
    CutBody,
    /// Sends the head and a part of the body, then nothing.
    StallBody,
    /// Sends nothing.
    Stall,
    /// Resets the stream.
    Reset,
    /// Closes the connection.
    Close,
    /// Sends informational responses without end.
    Hints,
}

struct QuicServer {
    port: u16,
    endpoint: quinn::Endpoint,
    connections: Arc<AtomicUsize>,
}

impl Drop for QuicServer {
    fn drop(&mut self) {
        self.endpoint.close(0_u32.into(), b"");
    }
}

impl QuicServer {
    fn start(own: &Identity, clients: Option<&Authority>, alpn: &[u8], act_for: fn(&str) -> Act) -> Self {
        Self::with_config(config(own, &[&TLS13], clients), "127.0.0.1:0", alpn, act_for)
    }

    fn with_config(
        mut tls: rustls::ServerConfig,
        address: &str,
        alpn: &[u8],
        act_for: fn(&str) -> Act,
    ) -> Self {
        tls.alpn_protocols = vec![alpn.to_vec()];
        let crypto = QuicServerConfig::try_from(tls).unwrap();
        let config = quinn::ServerConfig::with_crypto(Arc::new(crypto));
        let endpoint = quinn::Endpoint::server(config, address.parse().unwrap()).unwrap();
        let port = endpoint.local_addr().unwrap().port();
        let (accepting, connections) = (endpoint.clone(), Arc::new(AtomicUsize::new(0)));
        let count = connections.clone();
        tokio::spawn(async move {
            while let Some(incoming) = accepting.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(async move {
                    if let Ok(connection) = incoming.await {
                        serve(connection, act_for).await;
                    }
                });
            }
        });
        Self { port, endpoint, connections }
    }

    /// Returns the number of connections so far.
    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    fn url(&self, path: &str) -> String {
        format!("https://127.0.0.1:{}{path}", self.port)
    }
}

/// Serves a connection. Errors are ignored here, since they show in the observation of the client.
async fn serve(quic: quinn::Connection, act_for: fn(&str) -> Act) {
    let Ok(mut connection) =
        h3::server::Connection::<_, Bytes>::new(h3_quinn::Connection::new(quic.clone())).await
    else {
        return;
    };
    while let Ok(Some(resolver)) = connection.accept().await {
        let quic = quic.clone();
        tokio::spawn(async move {
            let Ok((request, mut stream)) = resolver.resolve_request().await else { return };
            let head = |status: u16| Response::builder().status(StatusCode::from_u16(status).unwrap());
            match act_for(request.uri().path()) {
                Act::Respond(status, fields, body) => {
                    let mut response = head(status);
                    for (name, value) in fields {
                        response = response.header(name, value);
                    }
                    let _ = stream.send_response(response.body(()).unwrap()).await;
                    let _ = stream.send_data(Bytes::from(body)).await;
                    let _ = stream.finish().await;
                }
                Act::Echo => {
                    let mut body = format!("{} {:?}\n", request.method(), request.headers()).into_bytes();
                    while let Ok(Some(mut data)) = stream.recv_data().await {
                        body.extend(data.copy_to_bytes(data.remaining()));
                    }
                    let _ = stream.send_response(head(200).body(()).unwrap()).await;
                    let _ = stream.send_data(Bytes::from(body)).await;
                    let _ = stream.finish().await;
                }
                Act::CutBody => {
                    let _ = stream.send_response(head(200).body(()).unwrap()).await;
                    let _ = stream.send_data(Bytes::from_static(b"half")).await;
                    // Otherwise the reset overtakes the data.
                    tokio::time::sleep(Duration::from_millis(200)).await;
                    stream.stop_stream(Code::H3_INTERNAL_ERROR);
                }
                Act::StallBody => {
                    let _ = stream.send_response(head(200).body(()).unwrap()).await;
                    let _ = stream.send_data(Bytes::from_static(b"half")).await;
                    std::future::pending::<()>().await;
                }
                Act::Stall => std::future::pending().await,
                Act::Reset => stream.stop_stream(Code::H3_REQUEST_REJECTED),
                Act::Close => quic.close(0x0102_u32.into(), b"bye"),
                Act::Hints => {
                    while stream
                        .send_response(head(103).header("link", "x".repeat(20_000)).body(()).unwrap())
                        .await
                        .is_ok()
                    {}
                }
            }
        });
    }
}

fn act_for(path: &str) -> Act {
    let respond_with = |status, body: &str| Act::Respond(status, Vec::new(), body.as_bytes().to_vec());
    let with_fields = |fields, body: &str| Act::Respond(200, fields, body.as_bytes().to_vec());
    match path {
        "/" => respond_with(200, "a page for the needle"),
        "/echo" => Act::Echo,
        "/503" => respond_with(503, "busy"),
        "/old" => Act::Respond(
            302,
            vec![("location", "/echo".to_owned()), ("set-cookie", "sid=7; Secure; Path=/".to_owned())],
            Vec::new(),
        ),
        "/large" => Act::Respond(200, Vec::new(), vec![b'x'; 2 * 1024 * 1024]),
        "/fields" => with_fields((0..300).map(|_| ("x-a", "b".to_owned())).collect(), ""),
        "/short" => with_fields(vec![("content-length", "99".to_owned())], "short"),
        "/coded" => with_fields(vec![("content-encoding", "gzip".to_owned())], "no gzip at all"),
        "/cut" => Act::CutBody,
        "/stall-body" => Act::StallBody,
        "/stall" => Act::Stall,
        "/reset" => Act::Reset,
        "/close" => Act::Close,
        "/hints" => Act::Hints,
        _ => respond_with(404, "nothing"),
    }
}

async fn observe(url: &str, fields: Value, ca: &Authority) -> Observation {
    let mut check = Check::new(url).with(json!({"http_version": "3"})).with(fields);
    check.config.trust_config.additional_authorities = vec![pem("test CA", ca.pem())];
    if url.contains("/stall") {
        check.timeout = Duration::from_millis(1_500);
    }
    check.run().await
}

#[tokio::test]
async fn http3_checks_run_over_quic() {
    let ca = Authority::new("test CA");
    let server = QuicServer::start(&ca.issue(NAMES, VALID), None, b"h3", act_for);
    let observation = observe(&server.url("/"), json!({"keyword_string": "the needle"}), &ca).await;
    Passes.compare(&observation).unwrap();
    let http = observation.facts.http.as_ref().unwrap();
    assert_eq!((http.http_version.as_str(), http.http_status, http.body_bytes), ("HTTP/3", 200, 21));
    let tls = observation.facts.tls.as_ref().unwrap();
    assert!(tls.tls_cipher.as_ref().is_some_and(|cipher| cipher.starts_with("TLS_")), "{tls:?}");
    assert_eq!(tls.tls_version.as_deref(), Some("TLSv1.3"));
    assert_eq!(tls.certificates[0].subject, "CN=leaf");
    for phase in [Phase::Resolve, Phase::Connect, Phase::Tls, Phase::Send, Phase::FirstByte, Phase::Transfer]
    {
        assert!(observation.phases.micros(phase).is_some(), "{phase:?}: {:?}", observation.phases);
    }
    assert_eq!(observation.address.map(|at| at.port()), Some(server.port));
    let sum: u64 = observation.phases.iter().map(|(_, micros)| u64::from(micros)).sum();
    assert!(u128::from(sum) <= observation.duration.as_micros(), "{observation:?}");
}

#[tokio::test]
async fn http3_requests_carry_methods_fields_and_cookies() {
    let ca = Authority::new("test CA");
    let server = QuicServer::start(&ca.issue(NAMES, VALID), None, b"h3", act_for);
    let post = json!({"http_method": "POST", "post_body": "a=b", "keyword_string": "\"application/x-www-form-urlencoded\""});
    for (path, fields) in [
        ("/echo", post),
        ("/echo", json!({"http_method": "POST", "post_body": "the-body", "keyword_string": "the-body"})),
        (
            "/echo",
            json!({"http_headers": [{"name": "X-A", "value": "one"}], "keyword_string": "\"x-a\": \"one\""}),
        ),
        // The cookie of the redirect is sent as well.
        ("/old", json!({"keyword_string": "sid=7"})),
    ] {
        let observation = observe(&server.url(path), fields.clone(), &ca).await;
        Passes.compare(&observation).unwrap_or_else(|difference| panic!("{path} {fields}: {difference}"));
    }
    let head = observe(&server.url("/short"), json!({"http_method": "HEAD"}), &ca).await;
    Passes.compare(&head).unwrap();
}

#[tokio::test]
async fn http3_failures_have_their_status_kind_and_phase() {
    let ca = Authority::new("test CA");
    let server = QuicServer::start(&ca.issue(NAMES, VALID), None, b"h3", act_for);
    let transfer = Some(Phase::Transfer);
    let cases: Vec<(&str, Expect)> = vec![
        ("/503", Fails(7, Kind::HttpErrorStatus, Some(Phase::Validate))),
        ("/large", Fails(3, Kind::ResponseTooLarge, transfer)),
        ("/fields", Fails(3, Kind::ResponseTooLarge, None)),
        ("/short", Fails(3, Kind::ResponseTruncated, transfer)),
        ("/coded", Fails(3, Kind::EncodingInvalid, transfer)),
        ("/cut", Fails(3, Kind::ResponseTruncated, transfer)),
        ("/stall-body", Fails(2, Kind::TimedOut, transfer)),
        ("/stall", Fails(2, Kind::TimedOut, Some(Phase::FirstByte))),
        ("/reset", Fails(6, Kind::ResponseReset, Some(Phase::FirstByte))),
        ("/close", Fails(6, Kind::NoResponse, Some(Phase::FirstByte))),
        ("/hints", Fails(3, Kind::ResponseTooLarge, Some(Phase::FirstByte))),
    ];
    for (path, expected) in cases {
        let observation = observe(&server.url(path), json!({}), &ca).await;
        expected.compare(&observation).unwrap_or_else(|difference| panic!("{path}: {difference}"));
    }
}

#[tokio::test]
async fn certificates_are_verified_over_quic_as_over_tcp() {
    let (ca, stranger) = (Authority::new("test CA"), Authority::new("another CA"));
    let tls = Some(Phase::Tls);
    for (own, expected) in [
        (ca.issue(NAMES, VALID), Passes),
        (ca.issue(&["other.test"], VALID), Fails(3, Kind::CertificateNameMismatch, tls)),
        (ca.issue(NAMES, (2019, 2020)), Fails(5, Kind::CertificateExpired, tls)),
        (stranger.issue(NAMES, VALID), Fails(3, Kind::CertificateIssuerUnknown, tls)),
    ] {
        let server = QuicServer::start(&own, None, b"h3", act_for);
        let observation = observe(&server.url("/"), json!({}), &ca).await;
        expected.compare(&observation).unwrap_or_else(|difference| panic!("{difference}"));
        assert!(!observation.facts.tls.unwrap().certificates.is_empty());
    }
    let untrusted = QuicServer::start(&stranger.issue(NAMES, VALID), None, b"h3", act_for);
    let unverified = observe(&untrusted.url("/"), json!({"verify_certificate": false}), &ca).await;
    Passes.compare(&unverified).unwrap();

    let mutual = QuicServer::start(&ca.issue(NAMES, VALID), Some(&ca), b"h3", act_for);
    for (fields, passes) in
        [(json!({"use_client_ssl_cert": true, "ssl_cert_id": 3}), true), (json!({}), false)]
    {
        let mut check = Check::new(&mutual.url("/")).with(json!({"http_version": "3"})).with(fields);
        check.config.trust_config.additional_authorities = vec![pem("test CA", ca.pem())];
        check.config.trust_config.client_certificates =
            [(3, pem("client", ca.issue(&["client.test"], VALID).pem()))].into();
        let observation = check.run().await;
        let expected = if passes { Passes } else { Fails(3, Kind::TlsHandshakeFailed, None) };
        expected.compare(&observation).unwrap_or_else(|difference| panic!("{difference}"));
    }
}

#[tokio::test]
async fn targets_without_http3_fail_with_a_clear_detail() {
    let ca = Authority::new("test CA");
    // A port without listener; a silent one; one that sends something else; QUIC, but not HTTP/3.
    // A connected socket reserves its port, and is closed for everyone but its peer.
    let connected = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    connected.connect("127.0.0.1:9").unwrap();
    let closed = connected.local_addr().unwrap().port();
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let noise = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let noise_port = noise.local_addr().unwrap().port();
    tokio::spawn(async move {
        let mut buffer = [0; 2048];
        while let Ok((_, from)) = noise.recv_from(&mut buffer).await {
            let _ = noise.send_to(b"\x80\x00\x00\x00\x01what do you want of me?", from).await;
        }
    });
    let doq = QuicServer::start(&ca.issue(NAMES, VALID), None, b"doq", act_for);
    let silent_port = silent.local_addr().unwrap().port();
    for (port, expected, text) in [
        (closed, Fails(1, Kind::ConnectRefused, Some(Phase::Connect)), "(QUIC, over UDP)"),
        (silent_port, Fails(2, Kind::TimedOut, Some(Phase::Connect)), "may not support HTTP/3"),
        (noise_port, Fails(2, Kind::TimedOut, None), ""),
        (doq.port, Fails(3, Kind::TlsHandshakeFailed, None), "not HTTP/3"),
    ] {
        let mut check = Check::new(&format!("https://127.0.0.1:{port}/")).with(json!({"http_version": "3"}));
        check.timeout = Duration::from_millis(1_500);
        let observation = check.run().await;
        expected.compare(&observation).unwrap_or_else(|difference| panic!("{text}: {difference}"));
        assert!(observation.failure.as_ref().unwrap().detail.contains(text), "{:?}", observation.failure);
    }
}

#[tokio::test]
async fn http3_obeys_the_egress_policy_and_refuses_proxies() {
    let ca = Authority::new("test CA");
    let server = QuicServer::start(&ca.issue(NAMES, VALID), None, b"h3", act_for);
    let mut denied = Check::new(&server.url("/")).with(json!({"http_version": "3"}));
    denied.config.egress_policy = EgressPolicy::parse(&[], &["127.0.0.0/8"]).unwrap();
    Fails(95, Kind::EgressDenied, Some(Phase::Connect)).compare(&denied.run().await).unwrap();

    let mut proxied = Check::new(&server.url("/")).with(json!({"http_version": "3", "proxy_id": 4}));
    proxied.proxies = [(4, UpstreamProxy::new(ProxyProtocol::Socks5, Endpoint::new("127.0.0.1", 1)))].into();
    let failure = proxied.run().await.failure.unwrap();
    assert_eq!((failure.status().0, failure.kind), (95, Kind::NotConfigured));
    assert!(failure.detail.contains("does not relay"), "{failure}");

    let pinned = observe(&server.url("/"), json!({"use_ssl_version": "12"}), &ca).await;
    assert_eq!(pinned.failure.map(|failure| failure.kind), Some(Kind::TlsVersionUnsupported));
}

/// Returns the configuration of a TLS 1.3 server that accepts this suite only.
fn config_with_suite(own: &Identity, suite: rustls::SupportedCipherSuite) -> rustls::ServerConfig {
    let provider = rustls::crypto::CryptoProvider {
        // This suite protects Initial packets, whatever is negotiated later (RFC 9001 5.2).
        cipher_suites: vec![suite, rustls::crypto::aws_lc_rs::cipher_suite::TLS13_AES_128_GCM_SHA256],
        ..rustls::crypto::aws_lc_rs::default_provider()
    };
    let mut config = rustls::ServerConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(own.chain(), own.private_key())
        .unwrap();
    config.ignore_client_order = true;
    config
}

#[tokio::test]
async fn the_cipher_suite_is_recorded_over_quic() {
    use rustls::crypto::aws_lc_rs::cipher_suite::{TLS13_AES_256_GCM_SHA384, TLS13_CHACHA20_POLY1305_SHA256};
    let ca = Authority::new("test CA");
    for (suite, name) in [
        (TLS13_AES_256_GCM_SHA384, "TLS_AES_256_GCM_SHA384"),
        (TLS13_CHACHA20_POLY1305_SHA256, "TLS_CHACHA20_POLY1305_SHA256"),
    ] {
        let server = QuicServer::with_config(
            config_with_suite(&ca.issue(NAMES, VALID), suite),
            "127.0.0.1:0",
            b"h3",
            act_for,
        );
        let observation = observe(&server.url("/"), json!({}), &ca).await;
        Passes.compare(&observation).unwrap();
        let tls = observation.facts.tls.unwrap();
        assert_eq!((tls.tls_version.as_deref(), tls.tls_cipher.as_deref()), (Some("TLSv1.3"), Some(name)));
    }
}

#[tokio::test]
async fn every_address_of_a_name_is_tried_in_time() {
    let ca = Authority::new("test CA");
    let own = ca.issue(&["site.test"], VALID);
    let server = QuicServer::with_config(config(&own, &[&TLS13], None), "127.0.0.9:0", b"h3", act_for);
    // One address has no listener, the others are silent. Waiting 2 s for each would exceed the timeout.
    let silent: Vec<_> = (3..9)
        .map(|last| std::net::UdpSocket::bind(format!("127.0.0.{last}:{}", server.port)).unwrap())
        .collect();
    let names = NameServer::start("127.0.0.1", |_, kind| match kind {
        RecordType::A => Reply::Records((2..10).map(|last| RData::A(A::new(127, 0, 0, last))).collect()),
        _ => Reply::Records(Vec::new()),
    })
    .await;
    let check = |port: u16, timeout| {
        let url = format!("https://site.test:{port}/");
        let mut check =
            Check::new(&url).with(json!({"http_version": "3", "resolve_dns": true})).within(timeout);
        check.config.name_servers = NameServers::Explicit(vec![names.at]);
        check.config.trust_config.additional_authorities = vec![pem("test CA", ca.pem())];
        check
    };
    let observation = check(server.port, Duration::from_secs(8)).run().await;
    Passes.compare(&observation).unwrap();
    assert_eq!(observation.address, Some(format!("127.0.0.9:{}", server.port).parse().unwrap()));
    assert!(observation.facts.tls.unwrap().tls_cipher.is_some());
    let sum: u64 = observation.phases.iter().map(|(_, micros)| u64::from(micros)).sum();
    assert!(u128::from(sum) <= observation.duration.as_micros(), "{:?}", observation.phases);

    // When no address responds, the failure lists all that were tried.
    let port = server.port;
    drop(server);
    let _taken = std::net::UdpSocket::bind(format!("127.0.0.9:{port}"));
    let observation = check(port, Duration::from_secs(3)).run().await;
    let failure = observation.failure.unwrap();
    assert_eq!((failure.kind, failure.phase), (Kind::TimedOut, Phase::Connect), "{failure}");
    for text in [format!("127.0.0.3:{port}, "), format!("127.0.0.2:{port}: "), "(QUIC, over UDP)".to_owned()]
    {
        assert!(failure.detail.contains(&text), "{text}: {failure}");
    }
    drop(silent);
}

/// Returns the bytes of a HEADERS frame with status 200 and one field whose value has this length (RFC 9114 7.2.2,
/// RFC 9204 4.5), up to that value.
fn head_with(value: usize) -> Vec<u8> {
    let mut fields = vec![0, 0, 0xd9, 0x21, b'x', 0x7f];
    let mut rest = value - 127;
    while rest >= 128 {
        fields.push(u8::try_from(rest % 128).unwrap() | 0x80);
        rest /= 128;
    }
    fields.push(u8::try_from(rest).unwrap());
    let length = u32::try_from(fields.len() + value).unwrap() | 0x8000_0000;
    [&[1], &length.to_be_bytes()[..], &fields].concat()
}

#[tokio::test]
async fn response_heads_are_read_up_to_their_limit() {
    let ca = Authority::new("test CA");
    // One that fits, one that is too long, and one that announces half a gigabyte and continues to send.
    for (value, expected) in [
        (30_000, Passes),
        (200_000, Fails(3, Kind::ResponseTooLarge, Some(Phase::FirstByte))),
        (500_000_000, Fails(3, Kind::ResponseTooLarge, Some(Phase::FirstByte))),
    ] {
        let mut tls = config(&ca.issue(NAMES, VALID), &[&TLS13], None);
        tls.alpn_protocols = vec![b"h3".to_vec()];
        let crypto = quinn::ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls).unwrap()));
        let endpoint = quinn::Endpoint::server(crypto, "127.0.0.1:0".parse().unwrap()).unwrap();
        let url = format!("https://{}/", endpoint.local_addr().unwrap());
        let serving = tokio::spawn(async move {
            let connection = endpoint.accept().await.unwrap().await.unwrap();
            let (mut stream, _request) = connection.accept_bi().await.unwrap();
            stream.write_all(&head_with(value)).await.unwrap();
            let mut left = value;
            while left > 0 {
                let chunk = left.min(16 * 1024);
                if stream.write_all(&vec![b'y'; chunk]).await.is_err() {
                    return value - left;
                }
                left -= chunk;
            }
            let _ = stream.finish();
            connection.closed().await;
            value
        });
        let observation = observe(&url, json!({}), &ca).await;
        expected.compare(&observation).unwrap_or_else(|difference| panic!("{value}: {difference}"));
        let accepted = serving.await.unwrap();
        assert!(accepted < 32 * 1024 * 1024, "{accepted} bytes were taken");
    }
}

#[tokio::test]
async fn only_objects_of_the_same_origin_use_http3() {
    let ca = Authority::new("test CA");
    let own = QuicServer::start(&ca.issue(NAMES, VALID), None, b"h3", |path| match path {
        "/page" => {
            let objects: Vec<String> = (0..40).map(|number| format!("<img src=/{number}.png>")).collect();
            let objects = objects.concat();
            let html = format!("<link rel=stylesheet href=/style.css>{objects}<img src=/missing>");
            Act::Respond(200, vec![("content-type", "text/html".to_owned())], html.into_bytes())
        }
        "/style.css" => {
            let css = b"p { background: url(/in-style.png) }".to_vec();
            Act::Respond(200, vec![("content-type", "text/css".to_owned())], css)
        }
        "/missing" => Act::Respond(404, Vec::new(), Vec::new()),
        _ => Act::Respond(200, Vec::new(), vec![b'x'; 300_000]),
    });
    let fields = json!({
        "http_version": "3", "interval_fullpage": 60, "fullpage_object_timeout": 60, "notify_on_fullpage_errors": true,
    });
    let mut check = Check::new(&own.url("/page")).with(fields.clone()).within(Duration::from_mins(2));
    check.config.trust_config.additional_authorities = vec![pem("test CA", ca.pem())];
    // The objects exceed the initial window of a connection.
    let observation = check.run().await;
    let page = observation.details.page_load.as_ref().unwrap_or_else(|| panic!("{observation:#?}"));
    assert_eq!(page.objects.len(), 43);
    for object in &page.objects {
        let end = object.url.rsplit('/').next().unwrap();
        let kind = object.failure.as_ref().map(|failure| failure.kind);
        if end == "missing" {
            assert_eq!((kind, object.http_status), (Some(Kind::HttpErrorStatus), 404), "{object:?}");
        } else {
            assert_eq!((kind, object.http_version.as_str()), (None, "HTTP/3"), "{object:?}");
            assert!(end == "style.css" || object.body_bytes == 300_000, "{object:?}");
        }
    }
    // One connection for the page and one for all of its objects.
    assert_eq!(own.connections(), 2);

    let other = Server::start(vec![respond(page_of("x"))]).await;
    let url = other.url("/other.png");
    OTHER_URL.set(url.clone()).unwrap();
    let own = QuicServer::start(&ca.issue(NAMES, VALID), None, b"h3", |_| {
        let html = format!("<img src={}>", OTHER_URL.get().unwrap());
        Act::Respond(200, vec![("content-type", "text/html".to_owned())], html.into_bytes())
    });
    let mut check = Check::new(&own.url("/page")).with(fields);
    check.config.trust_config.additional_authorities = vec![pem("test CA", ca.pem())];
    let observation = check.run().await;
    let objects = &observation.details.page_load.as_ref().unwrap().objects;
    assert_eq!((objects[0].url.as_str(), objects[0].http_version.as_str()), (url.as_str(), "HTTP/1.1"));
    Passes.compare(&observation).unwrap();
}

/// URL of the object that the page of the second server contains.
static OTHER_URL: OnceLock<String> = OnceLock::new();

#[tokio::test]
async fn a_plain_url_falls_back_to_http_1_1_with_a_warning() {
    let target = Server::start(vec![respond(page_of("ok"))]).await;
    let observation = observe(&target.url("/"), json!({}), &Authority::new("test CA")).await;
    Warns(WarningKind::CapabilityDowngrade).compare(&observation).unwrap();
    assert_eq!(observation.facts.http.unwrap().http_version, "HTTP/1.1");
}
