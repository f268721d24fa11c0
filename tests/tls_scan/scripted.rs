//! Servers that answer a hello with whatever a script says.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What a script sees of a hello.
pub struct Hello {
    /// Number of the version: that of the extension in TLS 1.3, else that of the message.
    pub version: u16,
    pub suites: Vec<u16>,
    pub compression: Vec<u8>,
}

/// A running server.
pub struct Scripted {
    pub port: u16,
    connections: Arc<AtomicUsize>,
}

impl Scripted {
    /// Starts a server that runs `script` for each connection, after its hello was read.
    pub async fn start<F>(script: impl Fn(TcpStream, Hello) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(AtomicUsize::new(0));
        let counter = connections.clone();
        let script = Arc::new(script);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                counter.fetch_add(1, Ordering::Relaxed);
                let script = script.clone();
                tokio::spawn(async move {
                    let mut head = [0; 5];
                    if stream.read_exact(&mut head).await.is_err() {
                        return;
                    }
                    let mut message = vec![0; usize::from(u16::from_be_bytes([head[3], head[4]]))];
                    if stream.read_exact(&mut message).await.is_ok() {
                        script(stream, parse(&message)).await;
                    }
                });
            }
        });
        Self { port, connections }
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }
}

fn parse(message: &[u8]) -> Hello {
    let number = |at: usize| u16::from_be_bytes([message[at], message[at + 1]]);
    let suites_at = 39 + usize::from(message[38]);
    let suites_end = suites_at + 2 + usize::from(number(suites_at));
    let suites = (suites_at + 2..suites_end).step_by(2).map(number).collect();
    let compression_end = suites_end + 1 + usize::from(message[suites_end]);
    let is_tls13 = message[compression_end..].windows(7).any(|part| part == [0, 43, 0, 3, 2, 3, 4]);
    Hello {
        version: if is_tls13 { 0x0304 } else { number(4) },
        suites,
        compression: message[suites_end + 1..compression_end].to_vec(),
    }
}

/// Returns a record of TLS.
pub fn record(kind: u8, content: &[u8]) -> Vec<u8> {
    [&[kind, 3, 1], &u16::try_from(content.len()).unwrap().to_be_bytes()[..], content].concat()
}

/// Returns a record with one message of a handshake.
pub fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).unwrap().to_be_bytes();
    record(22, &[&[kind], &length[1..], body].concat())
}

/// Returns the record with a `ServerHello` without extensions.
pub fn server_hello(version: u16, suite: u16, compression: u8) -> Vec<u8> {
    let body = [&version.to_be_bytes()[..], &[7; 32], &[0], &suite.to_be_bytes(), &[compression]].concat();
    message(2, &body)
}

/// Sends `bytes`; it does not matter whether they arrive.
pub async fn send(stream: &mut TcpStream, bytes: &[u8]) -> bool {
    stream.write_all(bytes).await.is_ok()
}
