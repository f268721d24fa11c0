//! Tests that the built-in targets respond as documented, over real sockets.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hickory_proto::op::{Message, Query, ResponseCode};
use hickory_proto::rr::{Name, RecordType};
use rustls::crypto::aws_lc_rs;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};
use vigie::targets::{BuiltInTargetConfig, BuiltInTargets, FlakySchedule, nth_target_address};

async fn responder() -> BuiltInTargets {
    BuiltInTargets::start(BuiltInTargetConfig::default()).await.unwrap()
}

/// Performs one HTTP/1.1 exchange; returns head and body of the response as text.
async fn get(mut stream: impl AsyncRead + AsyncWrite + Unpin, path: &str) -> String {
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    response
}

async fn plain(address: SocketAddr) -> TcpStream {
    TcpStream::connect(address).await.unwrap()
}

#[tokio::test]
async fn each_http_path_gives_its_response() {
    let responder = responder().await;
    for (path, status, inside) in [
        ("/", "200 OK", "All is well"),
        ("/flaky", "200 OK", "All is well"),
        ("/redirect", "302 Found", "location: /"),
        ("/status/418", "418", ""),
        ("/status/99", "404", ""),
        ("/nothing", "404", ""),
    ] {
        let response = get(plain(responder.addresses().http).await, path).await;
        assert!(response.starts_with(&format!("HTTP/1.1 {status}")), "{path}: {response}");
        assert!(response.contains(inside), "{path}: {response}");
    }
}

#[tokio::test]
async fn the_flaky_page_fails_while_it_is_down() {
    let flaky = FlakySchedule { down_after: Duration::ZERO, ..FlakySchedule::default() };
    let responder =
        BuiltInTargets::start(BuiltInTargetConfig { flaky_schedule: flaky, ..Default::default() })
            .await
            .unwrap();
    let response = get(plain(responder.addresses().http).await, "/flaky").await;
    assert!(response.starts_with("HTTP/1.1 500"), "{response}");
}

#[tokio::test]
async fn the_https_certificate_is_issued_by_the_ca() {
    let responder = responder().await;
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(responder.ca_pem().as_bytes()).unwrap()).unwrap();
    let config = rustls::ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
    for name in [ServerName::try_from("localhost").unwrap(), ServerName::from(IpAddr::from([127, 0, 0, 1]))] {
        let stream = plain(responder.addresses().https).await;
        let response = get(connector.connect(name, stream).await.unwrap(), "/").await;
        assert!(response.starts_with("HTTP/1.1 200"), "{response}");
    }
}

#[tokio::test]
async fn tcp_echoes_its_input() {
    let responder = responder().await;
    let mut stream = plain(responder.addresses().tcp).await;
    stream.write_all(b"ahoy").await.unwrap();
    let mut echoed = [0; 4];
    stream.read_exact(&mut echoed).await.unwrap();
    assert_eq!(&echoed, b"ahoy");
}

fn question(name: &str, kind: RecordType) -> Message {
    let mut message = Message::query();
    message.add_query(Query::query(Name::from_ascii(name).unwrap(), kind));
    message
}

async fn query(server: SocketAddr, message: &Message) -> Message {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    socket.send_to(&message.to_vec().unwrap(), server).await.unwrap();
    let mut buffer = [0; 1500];
    let read =
        tokio::time::timeout(Duration::from_secs(10), socket.recv(&mut buffer)).await.unwrap().unwrap();
    Message::from_vec(&buffer[..read]).unwrap()
}

#[tokio::test]
async fn dns_replies_over_udp_and_tcp() {
    let responder = responder().await;
    let server = responder.addresses().dns;
    for (name, kind, code, answers) in [
        ("www.example.test.", RecordType::A, ResponseCode::NoError, vec!["127.0.0.1"]),
        ("www.example.test.", RecordType::AAAA, ResponseCode::NoError, vec!["::1"]),
        ("www.example.test.", RecordType::MX, ResponseCode::NoError, vec![]),
        ("missing.example.test.", RecordType::A, ResponseCode::NXDomain, vec![]),
    ] {
        let message = question(name, kind);
        let reply = query(server, &message).await;
        assert_eq!(reply.metadata.id, message.metadata.id);
        assert_eq!(reply.metadata.response_code, code, "{name} {kind}");
        let texts: Vec<_> = reply.answers.iter().map(|record| record.data.to_string()).collect();
        assert_eq!(texts, answers, "{name} {kind}");
    }

    let query = question("over.tcp.test.", RecordType::A).to_vec().unwrap();
    let mut stream = plain(server).await;
    stream.write_u16(u16::try_from(query.len()).unwrap()).await.unwrap();
    stream.write_all(&query).await.unwrap();
    let mut reply = vec![0; usize::from(stream.read_u16().await.unwrap())];
    stream.read_exact(&mut reply).await.unwrap();
    assert_eq!(Message::from_vec(&reply).unwrap().answers.len(), 1);
}

#[tokio::test]
async fn a_spread_responder_listens_on_every_address_with_one_port() {
    let responder =
        BuiltInTargets::start(BuiltInTargetConfig { address_count: 4, ..Default::default() }).await.unwrap();
    for index in 0..4 {
        let address = nth_target_address(responder.addresses().http, index, 4);
        assert!(get(plain(address).await, "/").await.starts_with("HTTP/1.1 200"), "{address}");
    }
}

#[tokio::test]
async fn a_dropped_responder_closes_its_ports() {
    let responder = responder().await;
    let address = responder.addresses().tcp;
    drop(responder);
    let closed = async {
        while TcpStream::connect(address).await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), closed).await.expect("still listening");
}
