//! `hostname`, `ipv4`, `port` and `resolve_dns` of the types with a name server, a mailbox or an FTP server: where the
//! connection goes.

use serde_json::{Value, json};
use tokio::net::{TcpListener, UdpSocket};
use vigie::domain::{FailureKind, MonitorType};

use crate::probe_net::{TIMEOUT, attempt, failure_kind, net};

/// Returns whether a check of `kind` connects to a server at 127.0.0.5 at the port of the monitor.
async fn connects(kind: MonitorType, hostname: &str, more: Value) -> bool {
    let listener = TcpListener::bind("127.0.0.5:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut fields = json!({"hostname": hostname, "port": port});
    fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let accepted = tokio::spawn(async move { listener.accept().await.map(drop) });
    let observation = attempt(&net(), kind, fields, TIMEOUT).await;
    let has_connected = accepted.is_finished();
    accepted.abort();
    assert!(observation.failure.is_some(), "the server closes at once");
    has_connected
}

// row: 2.2 mail.ipv4; 2.2 mail.port; 2.2 mail.resolve_dns; 2.2 ftp.ipv4; 2.2 ftp.port; 2.2 ftp.resolve_dns
// row: 2.2 email-imap.hostname; 2.2 email-pop.hostname; 2.2 email-smtp.hostname; 2.2 ftp.hostname
#[tokio::test]
async fn mail_and_ftp_connect_to_the_name_or_to_the_pinned_address() {
    let types = [
        MonitorType::EmailImap,
        MonitorType::EmailPop,
        MonitorType::EmailSmtp,
        MonitorType::Ftp,
        MonitorType::FtpSsl,
    ];
    for kind in types {
        let pinned = |resolve: bool| json!({"ipv4": "127.0.0.5", "resolve_dns": resolve});
        assert!(connects(kind, "127.0.0.5", json!({})).await, "{kind}: by hostname");
        assert!(connects(kind, "127.0.0.6", pinned(false)).await, "{kind}: pinned");
        assert!(!connects(kind, "127.0.0.6", pinned(true)).await, "{kind}: resolved for each check");
    }
}

// row: 2.2 name-server.hostname; 2.2 name-server.ipv4; 2.2 name-server.port; 2.2 name-server.resolve_dns
#[tokio::test]
async fn a_query_goes_to_the_name_server_or_to_the_pinned_address() {
    let server = UdpSocket::bind("127.0.0.5:0").await.unwrap();
    let port = server.local_addr().unwrap().port();
    let answering = tokio::spawn(async move {
        let mut datagram = [0; 1500];
        loop {
            let (length, from) = server.recv_from(&mut datagram).await.unwrap();
            // The question comes back as a reply that refuses it.
            datagram[2] |= 0x80;
            datagram[3] = (datagram[3] & 0xf0) | 5;
            server.send_to(&datagram[..length], from).await.unwrap();
        }
    });
    for (hostname, more, kind) in [
        ("127.0.0.5", json!({}), FailureKind::DnsErrorRcode),
        ("127.0.0.6", json!({"ipv4": "127.0.0.5", "resolve_dns": false}), FailureKind::DnsErrorRcode),
        ("127.0.0.6", json!({"ipv4": "127.0.0.5", "resolve_dns": true}), FailureKind::ConnectRefused),
    ] {
        let mut fields = json!({"hostname": hostname, "port": port, "name_to_resolve": "a.test"});
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let observation = attempt(&net(), MonitorType::NameServer, fields, TIMEOUT).await;
        assert_eq!(failure_kind(&observation), Some(kind), "{hostname} {more}: {:?}", observation.failure);
    }
    answering.abort();
}
