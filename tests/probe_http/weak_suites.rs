//! Servers of TLS 1.2 that know only cipher suites that this build lacks.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use vigie::clock::SystemClock;
use vigie::domain::{FailureKind as Kind, MonitorType, Observation, Phase};
use vigie::net::{Deadline, Net, NetConfig, PublicRoots, TrustConfig};
use vigie::probe::{ProbeBuildContext, ProbeContext, build_probe};
use vigie::schema::MonitorDocument;

use crate::probe_http::check::Check;
use crate::probe_http::check::Expect::Fails;

/// `TLS_RSA_WITH_AES_128_CBC_SHA`.
const SUITE: [u8; 2] = [0x00, 0x2f];
const HANDSHAKE_FAILURE: [u8; 7] = [21, 3, 3, 0, 2, 2, 40];

/// Starts a server that chooses [`SUITE`] where it is offered and `accepts` says so, and refuses the handshake
/// otherwise.
async fn start_server(accepts: bool) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let count = connections.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(async move {
                let mut header = [0; 5];
                stream.read_exact(&mut header).await.unwrap();
                let mut hello = vec![0; usize::from(u16::from_be_bytes([header[3], header[4]]))];
                stream.read_exact(&mut hello).await.unwrap();
                let session = 4 + 2 + 32;
                let suites = &hello[session + 1 + usize::from(hello[session])..];
                let length = usize::from(u16::from_be_bytes([suites[0], suites[1]]));
                let offered = suites[2..2 + length].chunks(2).any(|suite| suite == SUITE);
                let answer = if offered && accepts {
                    let body = [&[3, 3][..], &[7; 32], &[0], &SUITE, &[0]].concat();
                    let message = [&[2, 0, 0, u8::try_from(body.len()).unwrap()][..], &body].concat();
                    [&[22, 3, 3, 0, u8::try_from(message.len()).unwrap()][..], &message].concat()
                } else {
                    HANDSHAKE_FAILURE.to_vec()
                };
                let _ = stream.write_all(&answer).await;
                let _ = stream.read(&mut [0; 100]).await;
            });
        }
    });
    (at, connections)
}

async fn attempt(kind: MonitorType, fields: Value) -> Observation {
    let Value::Object(fields) = fields else { panic!("{fields} is not an object") };
    let (probe, _) = build_probe(&MonitorDocument::new(kind, fields).unwrap(), &ProbeBuildContext::default());
    let trust_config = TrustConfig { public_roots: PublicRoots::None, ..TrustConfig::default() };
    let net = Net::new(&NetConfig { trust_config, ..NetConfig::default() }).unwrap();
    let cancel = CancellationToken::new();
    let deadline = Deadline::within(Duration::from_secs(10));
    probe.attempt(ProbeContext::new(&net, deadline, &cancel, &SystemClock)).await
}

fn check_unsupported(observation: &Observation) {
    let failure = observation.failure.as_ref().unwrap();
    assert_eq!((failure.status().0, failure.kind, failure.phase), (95, Kind::TargetUnsupported, Phase::Tls));
    for text in ["`TLS_RSA_WITH_AES_128_CBC_SHA`", "without forward secrecy", "CBC", "--features legacy-tls"]
    {
        assert!(failure.detail.contains(text), "{failure}");
    }
}

#[tokio::test]
async fn a_server_with_weak_suites_alone_is_unknown() {
    let (at, connections) = start_server(true).await;
    check_unsupported(&Check::new(&format!("https://{at}/")).run().await);
    assert_eq!(connections.load(Ordering::SeqCst), 2);
    let fields = json!({"hostname": "127.0.0.1", "port": at.port(), "tls": "implicit"});
    check_unsupported(&attempt(MonitorType::Tcp, fields).await);
    let fields = json!({"hostname": format!("smtps://{at}")});
    check_unsupported(&attempt(MonitorType::EmailSmtp, fields).await);
}

#[tokio::test]
async fn a_server_that_refuses_weak_suites_too_is_an_error() {
    let (at, _) = start_server(false).await;
    let observation = Check::new(&format!("https://{at}/")).run().await;
    Fails(3, Kind::TlsHandshakeFailed, Some(Phase::Tls)).compare(&observation).unwrap();
    let text = observation.failure.unwrap().detail;
    assert!(text.contains("alert: handshake failure") && text.contains("allow ECDHE"), "{text}");
    let fields = json!({"hostname": "127.0.0.1", "port": at.port(), "tls": "implicit"});
    let observation = attempt(MonitorType::Tcp, fields).await;
    assert_eq!(observation.failure.unwrap().kind, Kind::TlsHandshakeFailed);
}
