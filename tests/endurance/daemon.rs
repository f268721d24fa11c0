//! A running `vigie serve` and its responses.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Time limit of any operation.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Returns the command of the binary, in an environment without settings.
pub fn vigie() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vigie"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("VIGIE_")) {
        command.env_remove(name);
    }
    command.stdin(Stdio::null());
    command
}

/// A running server, which is killed on drop.
pub struct Daemon {
    pub child: Child,
    pub address: SocketAddr,
    /// API token; set when the server has a data folder.
    pub token: Option<String>,
    /// Time from the start of the process until it was ready.
    pub ready_after: Duration,
}

impl Daemon {
    /// Starts `vigie serve` with `args` on a free port and waits until it is ready.
    pub fn start(args: &[&str]) -> Self {
        Self::start_with(args, &[])
    }

    /// Like [`Self::start`], with environment variables.
    pub fn start_with(args: &[&str], environment: &[(&str, &str)]) -> Self {
        let started = Instant::now();
        let mut command = vigie();
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(args).env("VIGIE_LOG_FORMAT", "json");
        command.envs(environment.iter().copied());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, serving) = channel();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        std::thread::spawn(move || {
            let mut log_lines = Vec::new();
            let address = lines.by_ref().find_map(|line| {
                let value: Value = serde_json::from_str(&line).unwrap_or_default();
                log_lines.push(line);
                value["message"].as_str().filter(|message| message.starts_with("serving at"))?;
                value["address"].as_str()?.parse().ok()
            });
            let _ = sender.send(address.ok_or(log_lines));
            // Continue to read, so that a full pipe never blocks the process.
            lines.for_each(drop);
        });
        let serving = serving.recv_timeout(TIME_LIMIT).unwrap();
        let address =
            serving.unwrap_or_else(|log_lines: Vec<String>| panic!("it does not serve: {log_lines:#?}"));
        let data = args.iter().skip_while(|arg| **arg != "--data").nth(1);
        let mut daemon = Self { child, address, token: None, ready_after: Duration::ZERO };
        while daemon.get("/readyz").is_none_or(|(status, _)| status != 200) {
            assert!(started.elapsed() < TIME_LIMIT, "it does not get ready");
            std::thread::sleep(Duration::from_millis(20));
        }
        daemon.ready_after = started.elapsed();
        daemon.token = data.map(|data| {
            let text = std::fs::read_to_string(format!("{data}/host-token")).unwrap();
            text.lines().next().unwrap().to_owned()
        });
        daemon
    }

    /// Returns status and body of `GET path`; `None` when the connection ended early.
    pub fn get(&self, path: &str) -> Option<(u16, String)> {
        get(self.address, path, self.token.as_deref())
    }

    /// Sends a request with `headers`, each with its line break. Returns head and body; `None` when the connection
    /// ended early.
    pub fn request(&self, method: &str, path: &str, headers: &str, body: &str) -> Option<(String, String)> {
        request(self.address, method, path, headers, body)
    }

    /// Returns the records of the list at `path`.
    pub fn list(&self, path: &str) -> Vec<Value> {
        list(self.address, path, self.token.as_deref()).unwrap_or_else(|| panic!("no answer to {path}"))
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a GET request.
fn get(address: SocketAddr, path: &str, token: Option<&str>) -> Option<(u16, String)> {
    let token = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
    let (head, body) = request(address, "GET", path, &token, "")?;
    Some((head.get(9..12)?.parse().ok()?, body))
}

fn request(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &str,
    body: &str,
) -> Option<(String, String)> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(TIME_LIMIT)).unwrap();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut response = String::new();
    stream.read_to_string(&mut response).ok()?;
    let (head, body) = response.split_once("\r\n\r\n")?;
    let chunked = head.to_lowercase().contains("transfer-encoding: chunked");
    let body = if chunked { unchunked(body)? } else { body.to_owned() };
    Some((head.to_owned(), body))
}

/// Joins the chunks of `body` (RFC 9112, section 7.1); `None` when the last one is missing.
fn unchunked(mut body: &str) -> Option<String> {
    let mut whole = String::new();
    loop {
        let (size, rest) = body.split_once("\r\n")?;
        let size = usize::from_str_radix(size, 16).ok()?;
        if size == 0 {
            return Some(whole);
        }
        whole.push_str(rest.get(..size)?);
        body = rest.get(size..)?.strip_prefix("\r\n")?;
    }
}

/// Returns the records of the list at `path`; `None` when the connection ended early.
pub fn list(address: SocketAddr, path: &str, token: Option<&str>) -> Option<Vec<Value>> {
    let (status, body) = get(address, path, token)?;
    // A truncated response is not valid JSON.
    let mut whole: Value = serde_json::from_str(&body).ok()?;
    assert_eq!(status, 200, "{path}: {whole}");
    serde_json::from_value(whole["results"].take()).ok()
}
