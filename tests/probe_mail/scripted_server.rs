//! Attempts, and servers of lines that do what a script says.

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
use vigie::net::{Deadline, Net, NetConfig, Pem, Roots, TrustConfig};
use vigie::probe::{ProbeContext, ProbeSettings, build};
use vigie::schema::MonitorDocument;

pub const SOON: Duration = Duration::from_secs(20);
/// For servers that stall: the timeout is what ends the attempt.
pub const SHORT: Duration = Duration::from_millis(700);

/// A network that trusts `authorities` alone.
pub fn net(authorities: &[String]) -> Net {
    let authorities = authorities
        .iter()
        .map(|pem| Pem { label: "test".to_owned(), text: pem.clone().into_bytes() })
        .collect();
    let trust = TrustConfig { roots: Roots::None, authorities, ..TrustConfig::default() };
    Net::new(&NetConfig { trust, ..NetConfig::default() }).unwrap()
}

/// One attempt of a monitor of `kind` with `fields`, within `timeout`.
pub async fn attempt(net: &Net, kind: MonitorType, fields: Value, timeout: Duration) -> Observation {
    let Value::Object(fields) = fields else { panic!("{fields} is no object") };
    let (probe, _) = build(&MonitorDocument::new(kind, fields).unwrap(), &ProbeSettings::default());
    let cancel = CancellationToken::new();
    let cx = ProbeContext::new(net, Deadline::within(timeout), &cancel, &SystemClock);
    let observation = probe.attempt(cx).await;
    assert!(observation.total <= timeout + Duration::from_secs(5), "{:?}", observation.total);
    observation
}

/// `fields` with the host and port of `at`, which stays when it is there.
pub fn toward(at: SocketAddr, more: &Value) -> Value {
    let mut fields = json!({"hostname": at.ip().to_string(), "port": at.port()});
    fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    fields
}

/// What was said, as the result keeps it.
pub fn transcript(observation: &Observation) -> String {
    let capture = observation.captures.iter().find(|capture| capture.name == "transcript.txt");
    capture
        .map(|capture| String::from_utf8(capture.content.as_ref().unwrap().to_vec()).unwrap())
        .unwrap_or_default()
}

/// What a server does with everyone who connects, act by act; then it closes.
#[derive(Clone, Debug)]
pub enum Act {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Sends these bytes again and again, until the peer is gone.
    Flood(Vec<u8>),
    /// Reads a line, which has to begin so.
    Hear(String),
    /// Speaks TLS from now on.
    Tls,
    /// Resets the connection.
    Reset,
    /// Says nothing more, and stays.
    Stall,
}

/// The acts of a script: `< text` is sent with CR LF, `> start` is awaited; `* tls`, `* reset`, `* stall`.
pub fn acts(script: &str) -> Vec<Act> {
    let lines = script.lines().map(str::trim_start).filter(|line| !line.is_empty());
    let act = |line: &str| match line {
        "* tls" => Act::Tls,
        "* reset" => Act::Reset,
        "* stall" => Act::Stall,
        _ => match line.split_at_checked(2) {
            Some(("< ", text)) => Act::Send(format!("{text}\r\n").into_bytes()),
            Some(("> ", start)) => Act::Hear(start.to_owned()),
            _ => panic!("`{line}` is no act"),
        },
    };
    lines.map(act).collect()
}

trait Peer: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Peer for T {}

/// Plays `acts` to everyone who connects.
pub async fn stage(acts: Vec<Act>, tls: Option<TlsAcceptor>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
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
    at
}

/// Ends with an error when the peer goes first.
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
            Act::Hear(start) => hear(&mut stream, start).await?,
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
    // Until the peer has left too: a close with unread bytes would be a reset.
    while !stream.fill_buf().await?.is_empty() {
        let all = stream.buffer().len();
        stream.consume(all);
    }
    Ok(())
}

async fn hear<S: AsyncBufRead + Unpin>(stream: &mut S, start: &str) -> std::io::Result<()> {
    let mut line = String::new();
    if stream.read_line(&mut line).await? == 0 {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    assert!(line.starts_with(start), "heard `{line}`, not `{start}`");
    Ok(())
}
