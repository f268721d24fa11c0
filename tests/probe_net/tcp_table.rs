//! The table of misbehaving servers of the `tcp` type: dialogues, TLS upgrades, handshakes.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use rustls::version::{TLS12, TLS13};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use vigie::domain::{FailureKind as Kind, MonitorType, Phase};
use vigie::net::{Net, Pem};

use crate::probe_net::{TIMEOUT, attempt, net_with};
use crate::support::tls_server::{Authority, config};

/// One act of a scripted server.
#[derive(Clone, Debug)]
enum Act {
    Write(Vec<u8>),
    /// Reads one line.
    Line,
    /// Reads one byte.
    Byte,
    /// Reads one TLS record (RFC 8446, 5.1), such as a `ClientHello`.
    Record,
    /// Continues under TLS.
    Tls,
    Reset,
    Stall,
}
use Act::{Byte, Line, Record, Reset, Stall, Tls};

fn write(text: &str) -> Act {
    Act::Write(text.as_bytes().to_vec())
}

struct Case {
    name: &'static str,
    acts: Vec<Act>,
    fields: Value,
    expected: (Kind, Phase, &'static str),
}

async fn start_server(acts: Vec<Act>, acceptor: TlsAcceptor) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let (before, after) = match acts.iter().position(|act| matches!(act, Tls)) {
            Some(index) => (acts[..index].to_vec(), Some(acts[index + 1..].to_vec())),
            None => (acts, None),
        };
        if before.iter().any(|act| matches!(act, Reset)) {
            let _ = play(&mut stream, before).await;
            stream.set_zero_linger().unwrap();
            return;
        }
        if play(&mut stream, before).await.is_err() {
            return;
        }
        if let Some(after) = after
            && let Ok(mut stream) = acceptor.accept(stream).await
        {
            let _ = play(&mut stream, after).await;
            let _ = stream.shutdown().await;
        }
    });
    address
}

async fn play<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut S, acts: Vec<Act>) -> std::io::Result<()> {
    for act in acts {
        match act {
            Act::Write(bytes) => stream.write_all(&bytes).await?,
            Line => while stream.read_u8().await? != b'\n' {},
            Byte => {
                stream.read_u8().await?;
            }
            Record => {
                let mut header = [0; 5];
                stream.read_exact(&mut header).await?;
                let length = u16::from_be_bytes([header[3], header[4]]);
                stream.read_exact(&mut vec![0; usize::from(length)]).await?;
            }
            Stall => std::future::pending().await,
            Reset | Tls => return Ok(()),
        }
        stream.flush().await?;
    }
    Ok(())
}

fn cases() -> Vec<Case> {
    use Kind::{NoResponse, ResponseReset, ResponseTooLarge, ResponseTruncated, TimedOut, UnexpectedReply};
    let first = |kind, text| (kind, Phase::FirstByte, text);
    let mut cases = Vec::new();
    let mut dialogue = |name, acts: Vec<Act>, expected| {
        let steps = json!([{"expect": "^220 "}, {"send": "HELO\r\n", "expect": "^250 "}]);
        cases.push(Case { name, acts, fields: json!({"dialogue": steps}), expected });
    };
    dialogue("closes", vec![], first(NoResponse, ""));
    dialogue("stalls", vec![Stall], first(TimedOut, ""));
    dialogue("stalls inside of a line", vec![write("22"), Stall], first(TimedOut, "sent `22`"));
    dialogue(
        "another greeting",
        vec![write("554 no\r\n"), Stall],
        first(UnexpectedReply, "step 1 expects `^220 `"),
    );
    dialogue("HTTP", vec![write("HTTP/1.1 400 Bad Request\r\n\r\n")], first(UnexpectedReply, "HTTP/1.1 400"));
    dialogue("binary", vec![Act::Write((0..=255).collect())], first(UnexpectedReply, "\\x00\\x01"));
    dialogue(
        "1 MiB without an end",
        vec![Act::Write(vec![b'x'; 1 << 20]), Stall],
        first(ResponseTooLarge, "16384"),
    );
    dialogue(
        "lines without end",
        vec![write(&"211 more\r\n".repeat(100_000)), Stall],
        first(ResponseTooLarge, "16384"),
    );
    let second = |kind, text| (kind, Phase::Transfer, text);
    dialogue("closes at the second step", vec![write("220 a\r\n"), Line], second(NoResponse, ""));
    dialogue("resets at the second step", vec![write("220 a\r\n"), Line, Reset], second(ResponseReset, ""));
    dialogue("stalls at the second step", vec![write("220 a\r\n"), Line, Stall], second(TimedOut, ""));
    dialogue(
        "half of the second step",
        vec![write("220 a\r\n"), Line, write("25")],
        second(UnexpectedReply, "step 2"),
    );
    dialogue(
        "refuses the second step",
        vec![write("220 a\r\n"), Line, write("502 no\r\n")],
        second(UnexpectedReply, "502 no"),
    );

    for (protocol, greeting, names) in [
        ("smtp", "220 a\r\n", ["smtp: closes", "smtp: stalls", "smtp: 1 MiB", "smtp: garbage"]),
        ("imap", "* OK a\r\n", ["imap: closes", "imap: stalls", "imap: 1 MiB", "imap: garbage"]),
        ("pop3", "+OK a\r\n", ["pop3: closes", "pop3: stalls", "pop3: 1 MiB", "pop3: garbage"]),
        ("ftp", "220 a\r\n", ["ftp: closes", "ftp: stalls", "ftp: 1 MiB", "ftp: garbage"]),
    ] {
        let fields = || json!({"tls": format!("starttls-{protocol}")});
        let endings = [
            (vec![write(greeting), Line], first(NoResponse, "")),
            (vec![write(greeting), Line, Stall], first(TimedOut, "")),
            (vec![Act::Write(vec![b'2'; 1 << 20]), Stall], first(ResponseTooLarge, "4096")),
            (
                vec![write(greeting), Line, Act::Write(vec![0, 1, 2, b'\n']), Stall],
                // An IMAP server may send any lines before the one with our tag.
                if protocol == "imap" { first(TimedOut, "") } else { first(UnexpectedReply, "got `") },
            ),
        ];
        for (name, (acts, expected)) in names.into_iter().zip(endings) {
            cases.push(Case { name, acts, fields: fields(), expected });
        }
    }
    let tls = |kind, text| (kind, Phase::Tls, text);
    let mut starttls = |name, protocol: &str, acts: Vec<Act>, expected| {
        cases.push(Case { name, acts, fields: json!({"tls": format!("starttls-{protocol}")}), expected });
    };
    let go = |more: &str| write(&format!("+OK go\r\n{more}"));
    let hello = || write("+OK a\r\n");
    starttls("half a greeting", "pop3", vec![write("+O")], first(ResponseTruncated, "closed after 2 bytes"));
    starttls(
        "refused",
        "pop3",
        vec![hello(), Line, write("-ERR not now\r\n")],
        first(UnexpectedReply, "-ERR not now"),
    );
    starttls(
        "injected data",
        "pop3",
        vec![hello(), Line, go("+OK evil\r\n"), Tls],
        first(UnexpectedReply, "more before the TLS handshake"),
    );
    starttls(
        "closes at the handshake",
        "pop3",
        // A close with an unread ClientHello would be a reset.
        vec![hello(), Line, go(""), Record],
        tls(Kind::TlsHandshakeFailed, "closed the connection"),
    );
    starttls(
        "resets at the handshake",
        "pop3",
        vec![hello(), Line, go(""), Record, Reset],
        tls(Kind::TlsHandshakeFailed, "reset"),
    );
    starttls("stalls at the handshake", "pop3", vec![hello(), Line, go(""), Stall], tls(TimedOut, ""));
    starttls(
        "goes on in plain text",
        "smtp",
        vec![
            write("220 a\r\n"),
            Line,
            write("250-a\r\n250 STARTTLS\r\n"),
            Line,
            write("220 go\r\n"),
            Byte,
            write("500 what\r\n"),
            Stall,
        ],
        tls(Kind::TlsHandshakeFailed, ""),
    );
    starttls(
        "an answer without end",
        "smtp",
        vec![write(&"220-a\r\n".repeat(200)), Stall],
        first(UnexpectedReply, "does not end"),
    );
    starttls(
        "does not offer it",
        "smtp",
        vec![write("220 a\r\n"), Line, write("250 SIZE\r\n"), Stall],
        first(UnexpectedReply, "offers no STARTTLS"),
    );
    starttls(
        "postgres: refuses",
        "postgres",
        vec![write("N"), Stall],
        first(UnexpectedReply, "refused SSLRequest"),
    );
    // A close with unread bytes would be a reset.
    let reads = (0..8).map(|_| Byte).collect();
    starttls("postgres: closes", "postgres", reads, first(NoResponse, ""));
    starttls(
        "postgres: more than a byte",
        "postgres",
        vec![write("SS"), Stall],
        tls(Kind::TlsHandshakeFailed, ""),
    );
    for (name, acts, expected) in [
        (
            "implicit: plain text",
            vec![write("220 hello, this is no TLS\r\n"), Stall],
            tls(Kind::TlsHandshakeFailed, ""),
        ),
        ("implicit: closes", vec![], tls(Kind::TlsHandshakeFailed, "")),
        ("implicit: stalls", vec![Stall], tls(TimedOut, "")),
        ("inside: closes", vec![Tls], first(NoResponse, "")),
        ("inside: stalls", vec![Tls, Stall], first(TimedOut, "")),
        ("inside: something else", vec![Tls, write("bye\r\n")], first(UnexpectedReply, "sent `bye")),
    ] {
        let fields = json!({"tls": "implicit", "dialogue": [{"expect": "hello"}]});
        cases.push(Case { name, acts, fields, expected });
    }
    cases
}

async fn run(case: Case, net: &Net, acceptor: TlsAcceptor) -> Result<(), String> {
    let (kind, phase, expected_text) = case.expected;
    let at = start_server(case.acts, acceptor).await;
    let mut fields = json!({"hostname": "127.0.0.1", "port": at.port()});
    fields.as_object_mut().unwrap().extend(case.fields.as_object().unwrap().clone());
    // Cases that end by the timeout get a short one, the others a long one.
    let waits = kind == Kind::TimedOut || kind == Kind::UnexpectedReply;
    let timeout = if waits { Duration::from_secs(4) } else { 3 * TIMEOUT };
    let observation = attempt(net, MonitorType::Tcp, fields, timeout).await;
    let Some(failure) = observation.failure else { return Err(format!("{}: it passed", case.name)) };
    let text = failure.to_string();
    if (failure.kind, failure.phase) != (kind, phase) || !text.contains(expected_text) {
        return Err(format!("{}: expected {:?}, seen {failure:?}: {text}", case.name, case.expected));
    }
    if text.chars().any(char::is_control) || text.len() > 700 || observation.phases.micros(phase).is_none() {
        return Err(format!("{}: {text:?}, {:?}", case.name, observation.phases));
    }
    Ok(())
}

#[tokio::test]
async fn every_misbehaviour_has_its_failure_kind() {
    let authority = Authority::new("test authority");
    let valid = authority.issue(&["127.0.0.1"], (2020, 2090));
    let acceptor = TlsAcceptor::from(Arc::new(config(&valid, &[&TLS13, &TLS12], None)));
    let net = net_with(|config| {
        config.trust_config.additional_authorities =
            vec![Pem { label: "ca".to_owned(), text: authority.pem().into_bytes() }];
    });
    let cases = cases();
    assert!(cases.len() >= 40, "{}", cases.len());
    let running: FuturesUnordered<_> =
        cases.into_iter().map(|case| run(case, &net, acceptor.clone())).collect();
    let differences: Vec<String> = running.filter_map(|outcome| async move { outcome.err() }).collect().await;
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
