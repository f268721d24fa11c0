//! Attempts of mail monitors, and scripted servers of line protocols.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use vigie::clock::SystemClock;
use vigie::domain::{MonitorType, Observation};
use vigie::net::{Deadline, Net, NetConfig, Pem, PublicRoots, TrustConfig};
use vigie::probe::{ProbeBuildContext, ProbeContext, build_probe};
use vigie::schema::MonitorDocument;

pub const TIMEOUT: Duration = Duration::from_secs(20);
/// Timeout for servers that stall, where it ends the attempt.
pub const SHORT: Duration = Duration::from_millis(700);

/// Creates a network that trusts `authorities` only.
pub fn net(authorities: &[String]) -> Net {
    let authorities = authorities
        .iter()
        .map(|pem| Pem { label: "test".to_owned(), text: pem.clone().into_bytes() })
        .collect();
    let trust = TrustConfig {
        public_roots: PublicRoots::None,
        additional_authorities: authorities,
        ..TrustConfig::default()
    };
    Net::new(&NetConfig { trust_config: trust, ..NetConfig::default() }).unwrap()
}

/// Runs one attempt of a monitor of type `kind` with `fields`, within `timeout`.
pub async fn attempt(net: &Net, kind: MonitorType, fields: Value, timeout: Duration) -> Observation {
    let Value::Object(fields) = fields else { panic!("{fields} is not an object") };
    let (probe, _) = build_probe(&MonitorDocument::new(kind, fields).unwrap(), &ProbeBuildContext::default());
    let cancel = CancellationToken::new();
    let cx = ProbeContext::new(net, Deadline::within(timeout), &cancel, &SystemClock);
    let observation = probe.attempt(cx).await;
    assert!(observation.duration <= timeout + Duration::from_secs(5), "{:?}", observation.duration);
    observation
}

/// Returns `more` with host and port of `at`, unless `more` sets them.
pub fn fields_for(at: SocketAddr, more: &Value) -> Value {
    let mut fields = json!({"hostname": at.ip().to_string(), "port": at.port()});
    fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    fields
}

/// Returns the transcript of the session from the captures.
pub fn transcript(observation: &Observation) -> String {
    let capture = observation.captures.iter().find(|capture| capture.name == "transcript.txt");
    capture
        .map(|capture| String::from_utf8(capture.content.as_ref().unwrap().to_vec()).unwrap())
        .unwrap_or_default()
}

/// One act of a scripted server, which plays its acts to every client and then closes.
#[derive(Clone, Debug)]
pub enum Act {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Sends these bytes repeatedly until the peer closes.
    Flood(Vec<u8>),
    /// Reads a line, which must start with this text.
    Expect(String),
    /// Performs a TLS handshake and continues over TLS.
    Tls,
    /// Resets the connection.
    Reset,
    /// Sends nothing more, and keeps the connection open.
    Stall,
}

/// Parses a script: `< text` is sent with CR LF, `> start` is awaited; `* tls`, `* reset`, `* stall`.
pub fn parse_script(script: &str) -> Vec<Act> {
    let lines = script.lines().map(str::trim_start).filter(|line| !line.is_empty());
    let act = |line: &str| match line {
        "* tls" => Act::Tls,
        "* reset" => Act::Reset,
        "* stall" => Act::Stall,
        _ => match line.split_at_checked(2) {
            Some(("< ", text)) => Act::Send(format!("{text}\r\n").into_bytes()),
            Some(("> ", start)) => Act::Expect(start.to_owned()),
            _ => panic!("`{line}` is not an act"),
        },
    };
    lines.map(act).collect()
}

trait Peer: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Peer for T {}

/// Starts a server that plays `acts` to every client.
pub async fn start_server(acts: Vec<Act>, tls: Option<TlsAcceptor>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let acts = Arc::new(acts);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acts, tls) = (Arc::clone(&acts), tls.clone());
            tokio::spawn(async move {
                if acts.iter().any(|act| matches!(act, Act::Reset)) {
                    stream.set_zero_linger().unwrap();
                }
                let _ = play(Box::new(stream), &acts, tls).await;
            });
        }
    });
    address
}

/// Plays `acts`; fails when the peer closes first.
async fn play(stream: Box<dyn Peer>, acts: &[Act], tls: Option<TlsAcceptor>) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    for act in acts {
        match act {
            Act::Send(bytes) => {
                stream.write_all(bytes).await?;
                stream.flush().await?;
            }
            Act::Flood(bytes) => loop {
                stream.write_all(bytes).await?;
            },
            Act::Expect(start) => expect_line(&mut stream, start).await?,
            Act::Tls => {
                let acceptor = tls.clone().expect("a script with `* tls` needs a certificate");
                let plain = stream.into_inner();
                stream = BufReader::new(Box::new(acceptor.accept(plain).await?));
            }
            Act::Reset => return Ok(()),
            Act::Stall => std::future::pending().await,
        }
    }
    stream.shutdown().await?;
    // Wait until the peer has closed too, since a close with unread bytes would be a reset.
    while !stream.fill_buf().await?.is_empty() {
        let all = stream.buffer().len();
        stream.consume(all);
    }
    Ok(())
}

async fn expect_line<S: AsyncBufRead + Unpin>(stream: &mut S, start: &str) -> std::io::Result<()> {
    let mut line = String::new();
    if stream.read_line(&mut line).await? == 0 {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    assert!(line.starts_with(start), "heard `{line}`, not `{start}`");
    Ok(())
}
