//! A scripted receiver of webhooks that records its requests.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A received request.
#[derive(Clone, Debug)]
pub struct Request {
    pub line: String,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(of, _)| of == name).map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// A response: a status with headers and a body, or none.
#[derive(Clone, Debug)]
pub enum Response {
    Status(u16, Vec<(&'static str, String)>, String),
    /// Waits for this long without a response, then closes the connection.
    Silence(Duration),
}

pub fn status(code: u16) -> Response {
    Response::Status(code, Vec::new(), String::new())
}

type Script = Arc<dyn Fn(usize, &Request) -> Response + Send + Sync>;

pub struct Receiver {
    pub address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Receiver {
    /// Starts a receiver whose `script` decides the response to the nth request, from 0.
    pub async fn start(script: impl Fn(usize, &Request) -> Response + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (recorded, script): (_, Script) = (Arc::clone(&requests), Arc::new(script));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(respond(stream, Arc::clone(&recorded), Arc::clone(&script)));
            }
        });
        Self { address, requests }
    }

    pub async fn always(code: u16) -> Self {
        Self::start(move |_, _| status(code)).await
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    pub fn only_request(&self) -> Request {
        let requests = self.requests();
        assert_eq!(requests.len(), 1, "{requests:?}");
        requests[0].clone()
    }
}

async fn respond(mut stream: TcpStream, requests: Arc<Mutex<Vec<Request>>>, script: Script) -> Option<()> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let text = String::from_utf8(bytes[..head].to_vec()).ok()?;
    let mut lines = text.split("\r\n").filter(|line| !line.is_empty());
    let line = lines.next()?.to_owned();
    let headers: Vec<_> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let mut request = Request { line, headers, body: bytes[head..].to_vec() };
    let length: usize = request.header("content-length").map_or(0, |text| text.parse().unwrap());
    while request.body.len() < length {
        if stream.read_buf(&mut request.body).await.ok()? == 0 {
            return None;
        }
    }
    let number = {
        let mut requests = requests.lock().unwrap();
        requests.push(request.clone());
        requests.len() - 1
    };
    match script(number, &request) {
        Response::Silence(time) => tokio::time::sleep(time).await,
        Response::Status(code, headers, body) => {
            let fields: Vec<_> = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
            let fields = fields.concat();
            let text = format!(
                "HTTP/1.1 {code} Told\r\n{fields}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
            stream.write_all(text.as_bytes()).await.ok()?;
            stream.shutdown().await.ok()?;
        }
    }
    Some(())
}
