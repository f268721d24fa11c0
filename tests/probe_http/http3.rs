//! HTTP/3 against a server of its own on loopback that plays scripts.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, Bytes};
use h3::error::Code;
use http::{Response, StatusCode};
use quinn::crypto::rustls::QuicServerConfig;
use rustls::version::TLS13;
use serde_json::{Value, json};
use vigie::model::FailureKind as Kind;
use vigie::model::{Observation, Phase, WarningKind};
use vigie::net::{EgressPolicy, Endpoint, Proxy, ProxyKind};

use crate::check::Check;
use crate::check::Expect::{self, Fails, Passes, Warns};
use crate::server::{Server, answers, page};
use crate::tls::pem;
use crate::tls_server::{Authority, Identity, config};

const VALID: (i32, i32) = (2020, 2090);
const NAMES: &[&str] = &["127.0.0.1", "localhost"];

/// What the server does with a request, by its path.
#[derive(Clone, Debug)]
enum Act {
    /// A status, header fields, a body.
    Answer(u16, Vec<(&'static str, String)>, Vec<u8>),
    /// What was sent, and the method and fields that it came with.
    Echo,
    /// The head and a part of the body, then a reset.
    CutBody,
    /// The head and a part of the body, then nothing.
    StallBody,
    /// Nothing at all.
    Stall,
    /// Resets the stream.
    Reset,
    /// Closes the connection.
    Close,
    /// Informational answers without end.
    Hints,
}

struct Quic {
    port: u16,
    endpoint: quinn::Endpoint,
}

impl Drop for Quic {
    fn drop(&mut self) {
        self.endpoint.close(0_u32.into(), b"");
    }
}

impl Quic {
    fn start(own: &Identity, clients: Option<&Authority>, alpn: &[u8], acts: fn(&str) -> Act) -> Self {
        let mut tls = config(own, &[&TLS13], clients);
        tls.alpn_protocols = vec![alpn.to_vec()];
        let crypto = QuicServerConfig::try_from(tls).unwrap();
        let config = quinn::ServerConfig::with_crypto(Arc::new(crypto));
        let endpoint = quinn::Endpoint::server(config, "127.0.0.1:0".parse().unwrap()).unwrap();
        let port = endpoint.local_addr().unwrap().port();
        let accepting = endpoint.clone();
        tokio::spawn(async move {
            while let Some(incoming) = accepting.accept().await {
                tokio::spawn(async move {
                    if let Ok(connection) = incoming.await {
                        serve(connection, acts).await;
                    }
                });
            }
        });
        Self { port, endpoint }
    }

    fn url(&self, path: &str) -> String {
        format!("https://127.0.0.1:{}{path}", self.port)
    }
}

/// What fails here fails for the client too, who is the one that is looked at.
async fn serve(quic: quinn::Connection, acts: fn(&str) -> Act) {
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
            match acts(request.uri().path()) {
                Act::Answer(status, fields, body) => {
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
                    // Else the reset overtakes what was sent.
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

fn acts(path: &str) -> Act {
    let said = |status, body: &str| Act::Answer(status, Vec::new(), body.as_bytes().to_vec());
    let with = |fields, body: &str| Act::Answer(200, fields, body.as_bytes().to_vec());
    match path {
        "/" => said(200, "a page for the needle"),
        "/echo" => Act::Echo,
        "/503" => said(503, "busy"),
        "/old" => Act::Answer(
            302,
            vec![("location", "/echo".to_owned()), ("set-cookie", "sid=7; Secure; Path=/".to_owned())],
            Vec::new(),
        ),
        "/large" => Act::Answer(200, Vec::new(), vec![b'x'; 2 * 1024 * 1024]),
        "/fields" => with((0..300).map(|_| ("x-a", "b".to_owned())).collect(), ""),
        "/short" => with(vec![("content-length", "99".to_owned())], "short"),
        "/coded" => with(vec![("content-encoding", "gzip".to_owned())], "no gzip at all"),
        "/cut" => Act::CutBody,
        "/stall-body" => Act::StallBody,
        "/stall" => Act::Stall,
        "/reset" => Act::Reset,
        "/close" => Act::Close,
        "/hints" => Act::Hints,
        _ => said(404, "nothing"),
    }
}

async fn seen(url: &str, fields: Value, ca: &Authority) -> Observation {
    let mut check = Check::of(url).with(json!({"http_version": "3"})).with(fields);
    check.config.trust.authorities = vec![pem("test CA", ca.pem())];
    if url.contains("/stall") {
        check.timeout = Duration::from_millis(1_500);
    }
    check.run().await
}

#[tokio::test]
async fn a_server_that_speaks_http3_is_asked_over_quic() {
    let ca = Authority::new("test CA");
    let server = Quic::start(&ca.issue(NAMES, VALID), None, b"h3", acts);
    let seen = seen(&server.url("/"), json!({"keyword_string": "the needle"}), &ca).await;
    Passes.compare(&seen).unwrap();
    let http = seen.facts.http.as_ref().unwrap();
    assert_eq!((http.http_version.as_str(), http.http_status, http.body_bytes), ("HTTP/3", 200, 21));
    let tls = seen.facts.tls.as_ref().unwrap();
    assert_eq!(tls.tls_version.as_deref(), Some("TLSv1.3"));
    assert_eq!(tls.certificates[0].subject, "CN=leaf");
    for phase in [Phase::Resolve, Phase::Connect, Phase::Tls, Phase::Send, Phase::FirstByte, Phase::Transfer]
    {
        assert!(seen.phases.micros(phase).is_some(), "{phase:?}: {:?}", seen.phases);
    }
    assert_eq!(seen.address.map(|at| at.port()), Some(server.port));
    let sum: u64 = seen.phases.iter().map(|(_, micros)| u64::from(micros)).sum();
    assert!(u128::from(sum) <= seen.total.as_micros(), "{seen:?}");
}

#[tokio::test]
async fn requests_over_http3_carry_what_others_do() {
    let ca = Authority::new("test CA");
    let server = Quic::start(&ca.issue(NAMES, VALID), None, b"h3", acts);
    let post = json!({"http_method": "POST", "post_body": "a=b", "keyword_string": "\"application/x-www-form-urlencoded\""});
    for (path, fields) in [
        ("/echo", post),
        ("/echo", json!({"http_method": "POST", "post_body": "the-body", "keyword_string": "the-body"})),
        (
            "/echo",
            json!({"http_headers": [{"name": "X-A", "value": "one"}], "keyword_string": "\"x-a\": \"one\""}),
        ),
        // The cookie of the redirect goes along.
        ("/old", json!({"keyword_string": "sid=7"})),
    ] {
        let seen = seen(&server.url(path), fields.clone(), &ca).await;
        Passes.compare(&seen).unwrap_or_else(|difference| panic!("{path} {fields}: {difference}"));
    }
    let head = seen(&server.url("/short"), json!({"http_method": "HEAD"}), &ca).await;
    Passes.compare(&head).unwrap();
}

#[tokio::test]
async fn what_goes_wrong_over_http3_says_where_and_why() {
    let ca = Authority::new("test CA");
    let server = Quic::start(&ca.issue(NAMES, VALID), None, b"h3", acts);
    let transfer = Some(Phase::Transfer);
    let cases: Vec<(&str, Expect)> = vec![
        ("/503", Fails(7, Kind::HttpStatus, Some(Phase::Validate))),
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
        let seen = seen(&server.url(path), json!({}), &ca).await;
        expected.compare(&seen).unwrap_or_else(|difference| panic!("{path}: {difference}"));
    }
}

#[tokio::test]
async fn certificates_are_judged_over_quic_as_over_tcp() {
    let (ca, stranger) = (Authority::new("test CA"), Authority::new("another CA"));
    let tls = Some(Phase::Tls);
    for (own, expected) in [
        (ca.issue(NAMES, VALID), Passes),
        (ca.issue(&["other.test"], VALID), Fails(3, Kind::CertificateName, tls)),
        (ca.issue(NAMES, (2019, 2020)), Fails(5, Kind::CertificateExpired, tls)),
        (stranger.issue(NAMES, VALID), Fails(3, Kind::CertificateIssuer, tls)),
    ] {
        let server = Quic::start(&own, None, b"h3", acts);
        let seen = seen(&server.url("/"), json!({}), &ca).await;
        expected.compare(&seen).unwrap_or_else(|difference| panic!("{difference}"));
        assert!(!seen.facts.tls.unwrap().certificates.is_empty());
    }
    let untrusted = Quic::start(&stranger.issue(NAMES, VALID), None, b"h3", acts);
    let seen_anyway = seen(&untrusted.url("/"), json!({"verify_certificate": false}), &ca).await;
    Passes.compare(&seen_anyway).unwrap();

    let picky = Quic::start(&ca.issue(NAMES, VALID), Some(&ca), b"h3", acts);
    for (fields, fine) in [(json!({"use_client_ssl_cert": true, "ssl_cert_id": 3}), true), (json!({}), false)]
    {
        let mut check = Check::of(&picky.url("/")).with(json!({"http_version": "3"})).with(fields);
        check.config.trust.authorities = vec![pem("test CA", ca.pem())];
        check.config.trust.client_certificates =
            [(3, pem("client", ca.issue(&["client.test"], VALID).pem()))].into();
        let seen = check.run().await;
        let expected = if fine { Passes } else { Fails(3, Kind::TlsHandshake, None) };
        expected.compare(&seen).unwrap_or_else(|difference| panic!("{difference}"));
    }
}

#[tokio::test]
async fn who_does_not_speak_http3_is_told_in_words_that_people_understand() {
    let ca = Authority::new("test CA");
    // Nobody listens; somebody listens and is silent, or talks of something else; QUIC, but not HTTP/3.
    let gone = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let other = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let babble = other.local_addr().unwrap().port();
    tokio::spawn(async move {
        let mut heard = [0; 2048];
        while let Ok((_, from)) = other.recv_from(&mut heard).await {
            let _ = other.send_to(b"\x80\x00\x00\x00\x01what do you want of me?", from).await;
        }
    });
    let doq = Quic::start(&ca.issue(NAMES, VALID), None, b"doq", acts);
    let silent_port = silent.local_addr().unwrap().port();
    for (port, expected, words) in [
        (gone, Fails(1, Kind::ConnectRefused, Some(Phase::Connect)), "(QUIC, over UDP)"),
        (silent_port, Fails(2, Kind::TimedOut, Some(Phase::Connect)), "may not speak HTTP/3"),
        (babble, Fails(2, Kind::TimedOut, None), ""),
        (doq.port, Fails(3, Kind::TlsHandshake, None), "not HTTP/3"),
    ] {
        let mut check = Check::of(&format!("https://127.0.0.1:{port}/")).with(json!({"http_version": "3"}));
        check.timeout = Duration::from_millis(1_500);
        let seen = check.run().await;
        expected.compare(&seen).unwrap_or_else(|difference| panic!("{words}: {difference}"));
        assert!(seen.failure.as_ref().unwrap().detail.contains(words), "{:?}", seen.failure);
    }
}

#[tokio::test]
async fn the_policy_holds_and_proxies_carry_no_udp() {
    let ca = Authority::new("test CA");
    let server = Quic::start(&ca.issue(NAMES, VALID), None, b"h3", acts);
    let mut denied = Check::of(&server.url("/")).with(json!({"http_version": "3"}));
    denied.config.egress = EgressPolicy::parse(&[], &["127.0.0.0/8"]).unwrap();
    Fails(95, Kind::EgressDenied, Some(Phase::Connect)).compare(&denied.run().await).unwrap();

    let mut proxied = Check::of(&server.url("/")).with(json!({"http_version": "3", "proxy_id": 4}));
    proxied.proxies = [(4, Proxy::new(ProxyKind::Socks5, Endpoint::new("127.0.0.1", 1)))].into();
    let failure = proxied.run().await.failure.unwrap();
    assert_eq!((failure.status().0, failure.kind), (95, Kind::NotConfigured));
    assert!(failure.detail.contains("does not carry"), "{failure}");

    let pinned = seen(&server.url("/"), json!({"use_ssl_version": "12"}), &ca).await;
    assert_eq!(pinned.failure.map(|failure| failure.kind), Some(Kind::TlsUnsupported));
}

#[tokio::test]
async fn a_plain_url_is_asked_with_http_1_1_and_it_is_said() {
    let target = Server::start(vec![answers(page("ok"))]).await;
    let seen = seen(&target.url("/"), json!({}), &Authority::new("test CA")).await;
    Warns(WarningKind::FellBack).compare(&seen).unwrap();
    assert_eq!(seen.facts.http.unwrap().http_version, "HTTP/1.1");
}
