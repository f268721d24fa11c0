//! Handshakes with servers that have certificates of every kind, and with servers that do not speak TLS.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use rustls::version::{TLS12, TLS13};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use vigie::domain::{Failure, FailureKind, Phase, Status};
use vigie::net::{
    ConnectionTrace, Deadline, Net, NetConfig, NetConfigError, Pem, PublicRoots, TlsOptions, TlsStream,
    TlsVersions, TrustConfig, read_more, warm_up_crypto,
};

use crate::net::{long_deadline, net_with, within};
use crate::support::tls_server::{Authority, Identity, config, self_signed, serve};

fn pem(label: &str, text: String) -> Pem {
    Pem { label: label.to_owned(), text: text.into_bytes() }
}

fn trusting(authority: &Authority) -> Net {
    net_with(|config| config.trust_config.additional_authorities = vec![pem("ca", authority.pem())])
}

async fn handshake(
    net: &Net,
    at: SocketAddr,
    name: &str,
    options: &TlsOptions,
    deadline: Deadline,
) -> (Result<TlsStream<TcpStream>, Failure>, ConnectionTrace) {
    let mut trace = ConnectionTrace::default();
    let stream = TcpStream::connect(at).await.unwrap();
    let outcome = net.tls_handshake(stream, name, options, deadline, &mut trace).await;
    assert!(trace.phases.micros(Phase::Tls).is_some());
    (outcome, trace)
}

async fn serve_both_versions(identity: &Identity) -> SocketAddr {
    serve("127.0.0.1", config(identity, &[&TLS13, &TLS12], None)).await
}

const VALID: (i32, i32) = (2020, 2090);

#[tokio::test]
async fn a_good_certificate_is_accepted_and_its_facts_are_recorded() {
    warm_up_crypto();
    let authority = Authority::new("test authority");
    let identity = authority.issue(&["good.test", "127.0.0.1", "::1"], VALID);
    let at = serve_both_versions(&identity).await;
    let net = trusting(&authority);
    for name in ["good.test", "GOOD.test", "good.test.", "127.0.0.1", "::1"] {
        let (outcome, trace) = handshake(&net, at, name, &TlsOptions::default(), long_deadline()).await;
        let mut hello = String::new();
        outcome.unwrap().read_to_string(&mut hello).await.unwrap();
        assert_eq!(hello, "hello\r\n");
        let facts = trace.tls_facts.unwrap();
        assert_eq!(facts.tls_version.as_deref(), Some("TLSv1.3"));
        assert!(facts.tls_cipher.unwrap().starts_with("TLS_AES_"));
        let [certificate] = facts.certificates.as_slice() else { panic!("one certificate was shown") };
        assert_eq!(certificate.subject, "CN=leaf");
        assert_eq!(certificate.issuer, "CN=test authority");
        assert_eq!(certificate.subject_alt_names, ["good.test", "127.0.0.1", "::1"]);
        assert_eq!(certificate.not_before.to_string(), "2020-01-01T00:00:00Z");
        assert_eq!(certificate.not_after.to_string(), "2090-01-01T00:00:00Z");
        assert_eq!(certificate.sha256.len(), 64);
    }
}

#[tokio::test]
async fn each_bad_certificate_has_its_kind_and_its_facts_are_recorded() {
    let (authority, stranger) = (Authority::new("test authority"), Authority::new("stranger"));
    let name = &["good.test"];
    let cases = [
        (
            authority.issue(name, (2010, 2020)),
            "good.test",
            FailureKind::CertificateExpired,
            "2020-01-01T00:00:00Z",
        ),
        (authority.issue(name, (2080, 2090)), "good.test", FailureKind::CertificateNotYetValid, "2080-01-01"),
        (authority.issue(name, VALID), "other.test", FailureKind::CertificateNameMismatch, "good.test"),
        (authority.issue(name, VALID), "127.0.0.1", FailureKind::CertificateNameMismatch, "good.test"),
        (stranger.issue(name, VALID), "good.test", FailureKind::CertificateIssuerUnknown, "CN=stranger"),
        (self_signed(name, false), "good.test", FailureKind::CertificateIssuerUnknown, "self-signed"),
        (self_signed(name, true), "good.test", FailureKind::CertificateIssuerUnknown, "self-signed"),
    ];
    let net = trusting(&authority);
    for (identity, name_to_verify, kind, text) in cases {
        for version in [&TLS12, &TLS13] {
            let at = serve("127.0.0.1", config(&identity, &[version], None)).await;
            let (outcome, trace) =
                handshake(&net, at, name_to_verify, &TlsOptions::default(), long_deadline()).await;
            let failure = outcome.unwrap_err();
            assert_eq!((failure.phase, failure.kind), (Phase::Tls, kind), "{failure}");
            assert!(failure.detail.contains(text), "{failure}");
            let expired = kind == FailureKind::CertificateExpired;
            let status = if expired { Status::VALIDATION_FAILED } else { Status::INVALID_RESPONSE };
            assert_eq!(failure.status(), status);
            assert_eq!(trace.tls_facts.unwrap().certificates.len(), 1, "{kind:?}");
            let unverified = TlsOptions { verify_certificate: false, ..TlsOptions::default() };
            let (outcome, trace) = handshake(&net, at, name_to_verify, &unverified, long_deadline()).await;
            assert!(outcome.is_ok(), "not verified: {kind:?}");
            assert_eq!(trace.tls_facts.unwrap().certificates.len(), 1);
        }
    }
}

#[tokio::test]
async fn a_configured_self_signed_certificate_is_trusted_for_its_name() {
    for authority in [false, true] {
        let identity = self_signed(&["own.test"], authority);
        let at = serve_both_versions(&identity).await;
        let net = net_with(|config| {
            config.trust_config.additional_authorities = vec![pem("own", identity.certificate.clone())];
        });
        let (outcome, _) = handshake(&net, at, "own.test", &TlsOptions::default(), long_deadline()).await;
        assert!(outcome.is_ok(), "{:?}", outcome.err());
        let (outcome, _) = handshake(&net, at, "other.test", &TlsOptions::default(), long_deadline()).await;
        assert_eq!(outcome.unwrap_err().kind, FailureKind::CertificateNameMismatch);
    }
}

#[tokio::test]
async fn authorities_and_client_certificates_are_chosen_by_id() {
    let (private, clients) = (Authority::new("private"), Authority::new("clients"));
    let server = private.issue(&["good.test"], VALID);
    let client = clients.issue(&["client.test"], VALID);
    let at = serve("::1", config(&server, &[&TLS12], Some(&clients))).await;
    let net = net_with(|config| {
        config.trust_config.named_authorities = BTreeMap::from([(7, pem("private", private.pem()))]);
        config.trust_config.client_certificates = BTreeMap::from([(3, pem("client", client.pem()))]);
    });
    let options = |ca, client_certificate| TlsOptions {
        ca_id: ca,
        client_certificate_id: client_certificate,
        ..TlsOptions::default()
    };
    let cases = [
        (options(Some(7), Some(3)), None),
        (options(None, Some(3)), Some(FailureKind::CertificateIssuerUnknown)),
        (options(Some(8), Some(3)), Some(FailureKind::NotConfigured)),
        (options(Some(7), Some(4)), Some(FailureKind::NotConfigured)),
        (options(Some(7), None), Some(FailureKind::TlsHandshakeFailed)),
    ];
    for (options, kind) in cases {
        let stream = TcpStream::connect(at).await.unwrap();
        let outcome = net
            .tls_handshake(stream, "good.test", &options, long_deadline(), &mut ConnectionTrace::default())
            .await;
        assert_eq!(outcome.err().map(|failure| failure.kind), kind, "{options:?}");
    }
}

#[tokio::test]
async fn certificates_can_change_at_runtime() {
    let (private, clients) = (Authority::new("private"), Authority::new("clients"));
    let server = private.issue(&["good.test"], VALID);
    let client = clients.issue(&["client.test"], VALID);
    let at = serve("127.0.0.1", config(&server, &[&TLS12], Some(&clients))).await;
    let net = net_with(|_| {});
    let options =
        TlsOptions { ca_id: Some(100_007), client_certificate_id: Some(100_003), ..TlsOptions::default() };
    let outcome = async || {
        let stream = TcpStream::connect(at).await.unwrap();
        let result = net
            .tls_handshake(stream, "good.test", &options, long_deadline(), &mut ConnectionTrace::default())
            .await;
        result.err().map(|failure| failure.kind)
    };
    assert_eq!(outcome().await, Some(FailureKind::NotConfigured));
    let authorities = || BTreeMap::from([(100_007, pem("private", private.pem()))]);
    let client_certificates = || BTreeMap::from([(100_003, pem("client", client.pem()))]);
    assert!(net.set_certificates(authorities(), client_certificates()).is_empty());
    assert_eq!(outcome().await, None);
    // An unusable certificate is reported and left out; the others stay.
    let mut more = client_certificates();
    more.insert(100_009, pem("garbled", "garbled".to_owned()));
    let errors = net.set_certificates(authorities(), more);
    assert_eq!(errors.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [100_009]);
    assert_eq!(outcome().await, None);
    assert!(net.set_certificates(authorities(), BTreeMap::new()).is_empty());
    assert_eq!(outcome().await, Some(FailureKind::NotConfigured));
}

#[tokio::test]
async fn a_client_certificate_missed_after_the_handshake_is_a_tls_failure() {
    let (private, clients) = (Authority::new("private"), Authority::new("clients"));
    let server = private.issue(&["good.test"], VALID);
    let at = serve("127.0.0.1", config(&server, &[&TLS13], Some(&clients))).await;
    let net = trusting(&private);
    let (outcome, trace) = handshake(&net, at, "good.test", &TlsOptions::default(), long_deadline()).await;
    let mut stream = outcome.unwrap();
    assert!(trace.tls_facts.is_some());
    let result = read_more(&mut stream, &mut Vec::new(), 100, long_deadline(), Phase::FirstByte).await;
    assert_eq!(result.unwrap_err().kind, FailureKind::TlsHandshakeFailed);
}

#[tokio::test]
async fn the_version_field_decides_the_offered_versions() {
    let authority = Authority::new("test authority");
    let identity = authority.issue(&["good.test"], VALID);
    let (only_12, only_13) = (
        serve("127.0.0.1", config(&identity, &[&TLS12], None)).await,
        serve("127.0.0.1", config(&identity, &[&TLS13], None)).await,
    );
    let net = trusting(&authority);
    let handshake = FailureKind::TlsHandshakeFailed;
    let unsupported = FailureKind::TlsVersionUnsupported;
    let old = if cfg!(feature = "legacy-tls") { handshake } else { unsupported };
    let cases = [
        ("", only_12, Ok("TLSv1.2")),
        ("", only_13, Ok("TLSv1.3")),
        ("12", only_12, Ok("TLSv1.2")),
        ("12", only_13, Err(handshake)),
        ("13", only_13, Ok("TLSv1.3")),
        ("13", only_12, Err(handshake)),
        ("2", only_12, Err(unsupported)),
        ("3", only_12, Err(old)),
        ("10", only_13, Err(old)),
        ("11", only_13, Err(old)),
    ];
    for (field, at, expected) in cases {
        let options = TlsOptions { versions: TlsVersions::from_field(field), ..TlsOptions::default() };
        let mut trace = ConnectionTrace::default();
        let stream = TcpStream::connect(at).await.unwrap();
        let outcome = net.tls_handshake(stream, "good.test", &options, long_deadline(), &mut trace).await;
        match expected {
            Ok(version) => {
                outcome.unwrap();
                assert_eq!(trace.tls_facts.unwrap().tls_version.as_deref(), Some(version), "`{field}`");
            }
            Err(kind) => {
                let failure = outcome.unwrap_err();
                assert_eq!((failure.phase, failure.kind), (Phase::Tls, kind), "`{field}`: {failure}");
            }
        }
    }
}

#[tokio::test]
async fn application_protocols_are_negotiated() {
    let authority = Authority::new("test authority");
    let identity = authority.issue(&["good.test"], VALID);
    let mut server = config(&identity, &[&TLS13], None);
    server.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let at = serve("127.0.0.1", server).await;
    let net = trusting(&authority);
    let options =
        |alpn: &'static [&'static [u8]]| TlsOptions { alpn_protocols: alpn, ..TlsOptions::default() };
    let (outcome, _) =
        handshake(&net, at, "good.test", &options(&[b"h2", b"http/1.1"]), long_deadline()).await;
    assert_eq!(outcome.unwrap().alpn_protocol(), Some(&b"h2"[..]));
    let (outcome, _) = handshake(&net, at, "good.test", &options(&[]), long_deadline()).await;
    assert_eq!(outcome.unwrap().alpn_protocol(), None);
    let (outcome, _) = handshake(&net, at, "good.test", &options(&[b"smtp"]), long_deadline()).await;
    assert_eq!(outcome.unwrap_err().kind, FailureKind::TlsHandshakeFailed);
}

#[tokio::test]
async fn sessions_are_never_resumed() {
    let authority = Authority::new("test authority");
    let at = serve_both_versions(&authority.issue(&["good.test"], VALID)).await;
    let net = trusting(&authority);
    for _ in 0..3 {
        let (outcome, _) = handshake(&net, at, "good.test", &TlsOptions::default(), long_deadline()).await;
        let mut stream = outcome.unwrap();
        // Tickets arrive after the handshake.
        stream.read_to_end(&mut Vec::new()).await.unwrap();
        assert_eq!(stream.rustls_connection().unwrap().handshake_kind(), Some(rustls::HandshakeKind::Full));
    }
}

#[tokio::test]
async fn servers_that_do_not_speak_tls_fail_the_handshake_in_time() {
    let net = net_with(|_| {});
    for (name, bytes) in
        [("closes", &b""[..]), ("talks HTTP", b"HTTP/1.1 400 Bad Request\r\n\r\n"), ("rubbish", &[0xff; 40])]
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut hello = [0; 8192];
            let _ = stream.read(&mut hello).await;
            stream.write_all(bytes).await.unwrap();
        });
        let (outcome, trace) =
            handshake(&net, at, "good.test", &TlsOptions::default(), long_deadline()).await;
        assert_eq!(outcome.unwrap_err().kind, FailureKind::TlsHandshakeFailed, "{name}");
        assert_eq!(trace.tls_facts, None);
    }
    let stalled = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let started = Instant::now();
    let at = stalled.local_addr().unwrap();
    let (outcome, _) = handshake(&net, at, "good.test", &TlsOptions::default(), within(300)).await;
    let failure = outcome.unwrap_err();
    assert_eq!((failure.phase, failure.kind), (Phase::Tls, FailureKind::TimedOut));
    assert!(started.elapsed() < Duration::from_secs(2));
}

#[test]
fn unusable_pem_is_refused_by_name() {
    let identity = self_signed(&["a.test"], false);
    let refused = |change: &dyn Fn(&mut TrustConfig)| {
        let mut trust = TrustConfig { public_roots: PublicRoots::None, ..TrustConfig::default() };
        change(&mut trust);
        let error = Net::new(&NetConfig { trust_config: trust, ..NetConfig::default() }).unwrap_err();
        assert!(
            matches!(error, NetConfigError::Pem { .. }) && error.to_string().contains("`the-file`"),
            "{error}"
        );
        error.to_string()
    };
    let empty = refused(&|trust| trust.additional_authorities = vec![pem("the-file", String::new())]);
    assert!(empty.contains("BEGIN CERTIFICATE"), "{empty}");
    let garbled = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".to_owned();
    refused(&|trust| trust.named_authorities = BTreeMap::from([(1, pem("the-file", garbled.clone()))]));
    let keyless = BTreeMap::from([(1, pem("the-file", identity.certificate.clone()))]);
    let text = refused(&|trust| trust.client_certificates.clone_from(&keyless));
    assert!(text.contains("private key"), "{text}");
    let other = self_signed(&["b.test"], false);
    let mixed = BTreeMap::from([(1, pem("the-file", format!("{}{}", identity.certificate, other.key)))]);
    refused(&|trust| trust.client_certificates.clone_from(&mixed));
}
