//! Scripted proxies that misbehave or are unusual: the kind and fault of each failed connection.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use vigie::domain::{FailureKind, Fault};
use vigie::net::{ConnectionTrace, Endpoint, ProxyProtocol, UpstreamProxy};

use crate::net::proxy::remote_target;
use crate::net::{long_deadline, net, within};

/// One act of a scripted proxy.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// Reads this many bytes.
    Read(usize),
    /// Reads up to the end of a request head.
    ReadHead,
    /// Writes these bytes.
    Write(&'static [u8]),
    /// Writes these bytes one by one.
    WriteBytewise(&'static [u8]),
    /// Closes with a reset.
    Reset,
    /// Sends nothing more and keeps the connection open.
    Stall,
}

use Act::{Read, ReadHead, Reset, Stall, Write, WriteBytewise};

async fn start_proxy(acts: &'static [Act]) -> Endpoint {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = Endpoint::new("127.0.0.1", listener.local_addr().unwrap().port());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(play(stream, acts));
        }
    });
    at
}

/// Plays `acts`. Errors are ignored here, since they show in the failure of the client.
async fn play(mut stream: tokio::net::TcpStream, acts: &'static [Act]) {
    stream.set_nodelay(true).unwrap();
    for act in acts {
        match act {
            Read(bytes) => drop(stream.read_exact(&mut vec![0; *bytes]).await),
            ReadHead => {
                let (mut head, mut byte) = (Vec::new(), [0]);
                while !head.ends_with(b"\r\n\r\n") && stream.read_exact(&mut byte).await.is_ok() {
                    head.push(byte[0]);
                }
            }
            Write(bytes) => drop(stream.write_all(bytes).await),
            WriteBytewise(bytes) => {
                for byte in *bytes {
                    let _ = stream.write_all(&[*byte]).await;
                    tokio::task::yield_now().await;
                }
            }
            Reset => drop(stream.set_zero_linger()),
            Stall => std::future::pending().await,
        }
    }
}

/// Reads the greeting of a client without a login.
const READ_GREETING: Act = Read(3);
/// Reads the greeting of a client with a login.
const READ_LOGIN_GREETING: Act = Read(4);
/// Reads a request for an IPv4 address.
const READ_REQUEST: Act = Read(10);
/// Reads the login `watch` and `s3cret` (RFC 1929).
const READ_LOGIN: Act = Read(14);

#[tokio::test]
async fn misbehaving_proxies_and_unreachable_targets_have_their_failures() {
    use FailureKind::{ConnectRefused, ConnectReset, NotConfigured, TimedOut, Unreachable};
    use ProxyProtocol::{Http, Socks5};
    const TOO_LONG: &[u8] = &[b'x'; 9000];
    type Case = (ProxyProtocol, bool, &'static [Act], FailureKind, Fault, &'static str);
    let cases: &[Case] = &[
        (
            Http,
            false,
            &[ReadHead, Write(b"HTTP/1.1 502 x\r\n\r\n")],
            Unreachable,
            Fault::Network,
            "cannot reach it (status 502)",
        ),
        (
            Http,
            false,
            &[ReadHead, Write(b"HTTP/1.0 503 x\r\n\r\nsorry")],
            Unreachable,
            Fault::Network,
            "cannot reach it",
        ),
        (
            Http,
            false,
            &[ReadHead, Write(b"HTTP/1.1 504 x\r\n\r\n")],
            TimedOut,
            Fault::Target,
            "got no response from it in time",
        ),
        (
            Http,
            false,
            &[ReadHead, Write(b"HTTP/1.1 503 x\r\nX-Squid-Error: ERR_CONNECT_FAIL 111\r\n\r\n")],
            ConnectRefused,
            Fault::Target,
            "was refused by it",
        ),
        (
            Http,
            false,
            &[ReadHead, Write(b"HTTP/1.1 503 x\r\nX-Squid-Error: ERR_CONNECT_FAIL 104\r\n\r\n")],
            ConnectReset,
            Fault::Target,
            "was reset by it",
        ),
        (
            Http,
            false,
            &[ReadHead, Write(b"HTTP/1.1 502 x\r\nProxy-Status: p; error=connection_timeout\r\n\r\n")],
            TimedOut,
            Fault::Target,
            "got no response",
        ),
        (
            Http,
            false,
            &[ReadHead, Write(b"HTTP/1.1 403 x\r\n\r\n")],
            NotConfigured,
            Fault::Vigie,
            "it refused 192.0.2.7:25 with status 403",
        ),
        (
            Http,
            false,
            &[ReadHead, Write(b"HTTP/1.1 500 x\r\n\r\n")],
            NotConfigured,
            Fault::Vigie,
            "with status 500",
        ),
        (
            Http,
            false,
            &[ReadHead, Write(b"HTTP/1.1 302 x\r\nLocation: http://login.test/\r\n\r\n")],
            NotConfigured,
            Fault::Vigie,
            "with status 302",
        ),
        (
            Http,
            false,
            &[ReadHead, Write(b"HTTP/1.1 407 x\r\n\r\n")],
            NotConfigured,
            Fault::Vigie,
            "it asks for a login",
        ),
        (
            Http,
            true,
            &[ReadHead, Write(b"HTTP/1.1 407 x\r\n\r\n")],
            NotConfigured,
            Fault::Vigie,
            "it refused the login",
        ),
        (
            Http,
            false,
            &[ReadHead, Write(b"220 mail.test ESMTP\r\n\r\n")],
            NotConfigured,
            Fault::Vigie,
            "it does not speak HTTP",
        ),
        (
            Http,
            false,
            &[ReadHead, Write(b"HTTP/2 200\r\n\r\n")],
            NotConfigured,
            Fault::Vigie,
            "it does not speak HTTP",
        ),
        (
            Http,
            false,
            &[ReadHead, Write(b"HTTP/1.1 20\r\n\r\n")],
            NotConfigured,
            Fault::Vigie,
            "it does not speak HTTP",
        ),
        (
            Http,
            false,
            &[ReadHead, Write(b"\xff\xfe\r\n\r\n")],
            NotConfigured,
            Fault::Vigie,
            "it does not speak HTTP",
        ),
        (
            Http,
            false,
            &[ReadHead, Write(b"HTTP/1.1 200 OK\r\n")],
            NotConfigured,
            Fault::Vigie,
            "closed the connection",
        ),
        (Http, false, &[ReadHead], NotConfigured, Fault::Vigie, "closed the connection"),
        (Http, false, &[ReadHead, Reset], NotConfigured, Fault::Vigie, "reset"),
        (
            Http,
            false,
            &[ReadHead, Write(b"HTTP/1.1 200 OK\r\nX: "), Write(TOO_LONG), Stall],
            NotConfigured,
            Fault::Vigie,
            "the head of its response is too long",
        ),
        (
            Http,
            false,
            &[ReadHead, Write(ENDLESS), Stall],
            NotConfigured,
            Fault::Vigie,
            "sends no final response",
        ),
        (Http, false, &[ReadHead, Stall], TimedOut, Fault::Target, "through the proxy 127.0.0.1:"),
        (Socks5, false, &[Stall], NotConfigured, Fault::Vigie, "does not reply to the SOCKS 5 greeting"),
        (
            Socks5,
            false,
            &[READ_GREETING, Write(b"\x05"), Stall],
            NotConfigured,
            Fault::Vigie,
            "does not reply to the SOCKS 5 greeting",
        ),
        (Socks5, false, &[READ_GREETING], NotConfigured, Fault::Vigie, "closed the connection"),
        (Socks5, false, &[READ_GREETING, Reset], NotConfigured, Fault::Vigie, "reset"),
        (
            Socks5,
            false,
            &[READ_GREETING, Write(b"\x04\x00")],
            NotConfigured,
            Fault::Vigie,
            "does not speak SOCKS 5",
        ),
        (
            Socks5,
            false,
            &[READ_GREETING, Write(b"HTTP/1.1 400 Bad Request\r\n\r\n")],
            NotConfigured,
            Fault::Vigie,
            "does not speak SOCKS 5",
        ),
        (
            Socks5,
            false,
            &[READ_GREETING, Write(b"\x05\xff")],
            NotConfigured,
            Fault::Vigie,
            "does not accept the login method",
        ),
        (
            Socks5,
            false,
            &[READ_GREETING, Write(b"\x05\x01")],
            NotConfigured,
            Fault::Vigie,
            "not valid SOCKS 5",
        ),
        (
            Socks5,
            false,
            &[READ_GREETING, Write(b"\x05\x02")],
            NotConfigured,
            Fault::Vigie,
            "asks for a login",
        ),
        (
            Socks5,
            true,
            &[READ_LOGIN_GREETING, Write(b"\x05\x02"), READ_LOGIN, Write(b"\x01\x01")],
            NotConfigured,
            Fault::Vigie,
            "refused the login",
        ),
        (
            Socks5,
            true,
            &[READ_LOGIN_GREETING, Write(b"\x05\x02"), READ_LOGIN, Write(b"\x05\x00")],
            NotConfigured,
            Fault::Vigie,
            "does not speak SOCKS 5",
        ),
        (
            Socks5,
            true,
            &[READ_LOGIN_GREETING, Write(b"\x05\x02"), READ_LOGIN],
            NotConfigured,
            Fault::Vigie,
            "closed the connection",
        ),
        (
            Socks5,
            false,
            &[READ_GREETING, Write(b"\x05\x00"), READ_REQUEST, Write(b"\x05\x01\x00\x01")],
            NotConfigured,
            Fault::Vigie,
            "without a reason",
        ),
        (
            Socks5,
            false,
            &[READ_GREETING, Write(b"\x05\x00"), READ_REQUEST, Write(b"\x05\x02\x00\x01")],
            NotConfigured,
            Fault::Vigie,
            "its rules do not allow 192.0.2.7:25",
        ),
        (
            Socks5,
            false,
            &[READ_GREETING, Write(b"\x05\x00"), READ_REQUEST, Write(b"\x05\x03\x00\x01")],
            Unreachable,
            Fault::Network,
            "cannot reach it",
        ),
        (
            Socks5,
            false,
            &[READ_GREETING, Write(b"\x05\x00"), READ_REQUEST, Write(b"\x05\x04\x00\x01")],
            Unreachable,
            Fault::Network,
            "cannot reach it",
        ),
        (
            Socks5,
            false,
            &[READ_GREETING, Write(b"\x05\x00"), READ_REQUEST, Write(b"\x05\x05\x00\x01")],
            ConnectRefused,
            Fault::Target,
            "was refused by it",
        ),
        (
            Socks5,
            false,
            &[READ_GREETING, Write(b"\x05\x00"), READ_REQUEST, Write(b"\x05\x06\x00\x01")],
            TimedOut,
            Fault::Target,
            "got no response from it",
        ),
        (
            Socks5,
            false,
            &[READ_GREETING, Write(b"\x05\x00"), READ_REQUEST, Write(b"\x05\x07\x00\x01")],
            NotConfigured,
            Fault::Vigie,
            "does not connect",
        ),
        (
            Socks5,
            false,
            &[READ_GREETING, Write(b"\x05\x00"), READ_REQUEST, Write(b"\x05\x08\x00\x01")],
            NotConfigured,
            Fault::Vigie,
            "does not take an address",
        ),
        (
            Socks5,
            false,
            &[READ_GREETING, Write(b"\x05\x00"), READ_REQUEST, Write(b"\x05\x63\x00\x01")],
            NotConfigured,
            Fault::Vigie,
            "not valid SOCKS 5",
        ),
        (
            Socks5,
            false,
            &[READ_GREETING, Write(b"\x05\x00"), READ_REQUEST, Write(b"\x05\x00\x07\x01")],
            NotConfigured,
            Fault::Vigie,
            "not valid SOCKS 5",
        ),
        (
            Socks5,
            false,
            &[READ_GREETING, Write(b"\x05\x00"), READ_REQUEST, Write(b"\x05\x00\x00\x09")],
            NotConfigured,
            Fault::Vigie,
            "not valid SOCKS 5",
        ),
        (
            Socks5,
            false,
            &[READ_GREETING, Write(b"\x05\x00"), READ_REQUEST, Write(b"\x05\x00\x00\x01\x7f")],
            NotConfigured,
            Fault::Vigie,
            "closed the connection",
        ),
        (
            Socks5,
            false,
            &[READ_GREETING, Write(b"\x05\x00"), READ_REQUEST, Stall],
            TimedOut,
            Fault::Target,
            "through the proxy 127.0.0.1:",
        ),
    ];
    assert!(cases.len() >= 25);
    let run = |(kind, login, acts, expected, fault, text): Case| async move {
        let upstream = UpstreamProxy::new(kind, start_proxy(acts).await);
        let upstream = if login { upstream.with_credentials("watch", "s3cret") } else { upstream };
        let net = net().with_default_proxy(Some(upstream));
        let failure =
            net.connect(&remote_target(), within(1_500), &mut ConnectionTrace::default()).await.unwrap_err();
        assert_eq!((failure.kind, failure.fault), (expected, fault), "{kind:?} {acts:?}: {failure}");
        assert!(failure.detail.contains(text), "{kind:?} {acts:?}: {failure}");
        assert!(failure.detail.contains("the proxy 127.0.0.1:"), "it is not told which: {failure}");
        assert!(!format!("{failure:?}").contains("s3cret"), "{failure:?}");
    };
    futures::future::join_all(cases.iter().copied().map(run)).await;
}

/// Informational responses only, as from a proxy that never completes.
const ENDLESS: &[u8] =
    b"HTTP/1.1 100 x\r\n\r\nHTTP/1.1 103 x\r\n\r\nHTTP/1.1 100 x\r\n\r\nHTTP/1.1 100 x\r\n\r\n\
    HTTP/1.1 100 x\r\n\r\nHTTP/1.1 100 x\r\n\r\nHTTP/1.1 100 x\r\n\r\nHTTP/1.1 100 x\r\n\r\n";

#[tokio::test]
async fn unusual_but_valid_proxies_work() {
    use ProxyProtocol::{Http, Socks5};
    let cases: &[(ProxyProtocol, bool, &'static [Act])] = &[
        (Http, false, &[ReadHead, Write(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n220 ready")]),
        (Http, false, &[ReadHead, WriteBytewise(b"HTTP/1.1 200\r\nContent-Length: 5\r\n\r\n220 ready")]),
        (Http, true, &[ReadHead, Write(b"HTTP/1.0 299 Fine\r\n\r\n220 ready")]),
        (
            Socks5,
            false,
            &[
                READ_GREETING,
                Write(b"\x05\x00"),
                READ_REQUEST,
                Write(b"\x05\x00\x00\x01\x7f\0\0\x01\0\x50220 ready"),
            ],
        ),
        (
            Socks5,
            false,
            &[
                READ_GREETING,
                WriteBytewise(b"\x05\x00"),
                READ_REQUEST,
                WriteBytewise(b"\x05\x00\x00\x03\x04name\0\x50220 ready"),
            ],
        ),
        (
            Socks5,
            false,
            &[
                READ_GREETING,
                Write(b"\x05\x00"),
                READ_REQUEST,
                Write(b"\x05\0\0\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\x50220 ready"),
            ],
        ),
        (
            Socks5,
            true,
            &[
                READ_LOGIN_GREETING,
                Write(b"\x05\x02"),
                READ_LOGIN,
                Write(b"\x01\x00"),
                READ_REQUEST,
                Write(b"\x05\0\0\x01\0\0\0\0\0\x00220 ready"),
            ],
        ),
        // It requires no login, though the client offered one.
        (
            Socks5,
            true,
            &[
                READ_LOGIN_GREETING,
                Write(b"\x05\x00"),
                READ_REQUEST,
                Write(b"\x05\0\0\x01\0\0\0\0\0\x00220 ready"),
            ],
        ),
    ];
    for &(kind, login, acts) in cases {
        let upstream = UpstreamProxy::new(kind, start_proxy(acts).await);
        let upstream = if login { upstream.with_credentials("watch", "s3cret") } else { upstream };
        let mut trace = ConnectionTrace::default();
        let mut stream = net()
            .with_default_proxy(Some(upstream))
            .connect(&remote_target(), long_deadline(), &mut trace)
            .await
            .unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).await.unwrap();
        assert_eq!(reply, "220 ready", "{kind:?} {acts:?}");
        assert_eq!(trace.peer_address, Some("192.0.2.7:25".parse().unwrap()), "the target, not the proxy");
    }
}
