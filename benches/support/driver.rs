//! Calls to a WebDriver: recorded by a proxy, and replayed with the least work.

use std::convert::Infallible;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Method, Request, Response, header};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::SendRequest;
use hyper_util::rt::TokioIo;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};

/// Placeholder for the session in paths, and the argument with the folder of the profile.
const SESSION: &str = "{session}";
const PROFILE: &str = "--user-data-dir=";
/// Arguments of a browser behind the forward proxy only.
const PROXIED: [&str; 3] = ["--proxy-server=", "--proxy-bypass-list=", "--host-resolver-rules="];
const READY: &str = "started successfully on port ";

/// One recorded call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Call {
    method: String,
    pub path: String,
    body: String,
}

/// A driver with its browser, in its own process group and a new folder.
struct Driver {
    child: Child,
    port: u16,
    folder: tempfile::TempDir,
}

impl Driver {
    fn start(program: &Path, arguments: &[String]) -> Self {
        use std::os::unix::process::CommandExt;
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.env("HOME", folder.path()).process_group(0);
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port = lines.by_ref().find_map(|line| port(&line.unwrap())).expect("a driver that starts");
        // The driver continues to print and must not block on a full pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, port, folder }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = killpg(Pid::from_raw(self.child.id().cast_signed()), Signal::SIGKILL);
        let _ = self.child.wait();
    }
}

fn port(line: &str) -> Option<u16> {
    line.split_once(READY)?.1.trim_end_matches('.').parse().ok()
}

/// Writes a program that runs `driver` behind a recorder of calls to `record`; `own` is this program.
pub fn recorder(own: &Path, driver: &Path, folder: &Path) -> (PathBuf, PathBuf) {
    use std::os::unix::fs::PermissionsExt;
    let (program, record) = (folder.join("recorder"), folder.join("calls"));
    let [own, record_path, driver] = [own, &record, driver].map(|path| format!("'{}'", path.display()));
    let line = format!("#!/bin/sh\nexec {own} --between {record_path} {driver} \"$@\"\n");
    std::fs::write(&program, line).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    (program, record)
}

/// Runs as a proxy in front of the driver: `arguments` are the file for the calls, the driver, and its arguments.
pub async fn between(arguments: &[String]) {
    let driver = Driver::start(Path::new(&arguments[1]), &arguments[2..]);
    let record = std::fs::File::options().create(true).append(true).open(&arguments[0]).unwrap();
    let record = Arc::new(Mutex::new(record));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("ChromeDriver was {READY}{}.", listener.local_addr().unwrap().port());
    std::io::stdout().flush().unwrap();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let record = Arc::clone(&record);
        let port = driver.port;
        let service = hyper::service::service_fn(move |request: Request<hyper::body::Incoming>| {
            let record = Arc::clone(&record);
            async move {
                let (head, body) = request.into_parts();
                let body = body.collect().await.unwrap().to_bytes();
                let call = Call {
                    method: head.method.to_string(),
                    path: head.uri.path().to_owned(),
                    body: String::from_utf8(body.to_vec()).unwrap(),
                };
                writeln!(record.lock().unwrap(), "{}", serde_json::to_string(&call).unwrap()).unwrap();
                let (status, response) = send(&mut connect(port).await, &call).await;
                let response = Response::builder()
                    .status(status)
                    .header(header::CONTENT_TYPE, "application/json; charset=utf-8")
                    .body(Full::new(response))
                    .unwrap();
                Ok::<_, Infallible>(response)
            }
        });
        let serving =
            hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        tokio::spawn(async move { drop(serving.await) });
    }
}

/// Returns the recorded calls, with placeholders for what differs between sessions.
pub fn calls(record: &Path) -> Vec<Call> {
    let text = std::fs::read_to_string(record).unwrap();
    let calls: Vec<Call> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let session = calls[1].path.split('/').nth(2).unwrap().to_owned();
    let mut calls: Vec<Call> =
        calls.into_iter().map(|call| Call { path: call.path.replace(&session, SESSION), ..call }).collect();
    let mut first: Value = serde_json::from_str(&calls[0].body).unwrap();
    let arguments = &mut first["capabilities"]["alwaysMatch"]["goog:chromeOptions"]["args"];
    let arguments = arguments.as_array_mut().expect("arguments of the browser");
    arguments.retain(|argument| !PROXIED.iter().any(|start| argument.as_str().unwrap().starts_with(start)));
    for argument in arguments {
        if argument.as_str().unwrap().starts_with(PROFILE) {
            *argument = format!("{PROFILE}{{profile}}").into();
        }
    }
    calls[0].body = first.to_string();
    calls
}

/// Starts the driver, makes the calls, and kills it.
pub async fn replay(driver: &Path, calls: &[Call]) {
    let driver = Driver::start(driver, &["--port=0".to_owned(), "--log-level=WARNING".to_owned()]);
    let mut connection = connect(driver.port).await;
    let mut session = String::new();
    for call in calls {
        let profile = driver.folder.path().display().to_string();
        let call = Call {
            method: call.method.clone(),
            path: call.path.replace(SESSION, &session),
            body: call.body.replace("{profile}", &profile),
        };
        let (status, response) = send(&mut connection, &call).await;
        assert_eq!(status, 200, "{} {}: {}", call.method, call.path, String::from_utf8_lossy(&response));
        if session.is_empty() {
            let response: Value = serde_json::from_slice(&response).unwrap();
            response["value"]["sessionId"].as_str().unwrap().clone_into(&mut session);
        }
    }
}

async fn connect(port: u16) -> SendRequest<Full<Bytes>> {
    let stream = TcpStream::connect(SocketAddr::from(([127, 0, 0, 1], port))).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    // An error at the end does not matter: all calls were answered by then.
    tokio::spawn(async move { drop(connection.await) });
    sender
}

async fn send(connection: &mut SendRequest<Full<Bytes>>, call: &Call) -> (u16, Bytes) {
    connection.ready().await.unwrap();
    let request = Request::builder()
        .method(Method::from_bytes(call.method.as_bytes()).unwrap())
        .uri(&call.path)
        .header(header::HOST, "127.0.0.1")
        .header(header::CONTENT_TYPE, "application/json; charset=utf-8")
        .body(Full::new(Bytes::from(call.body.clone())))
        .unwrap();
    let response = connection.send_request(request).await.unwrap();
    let status = response.status().as_u16();
    (status, response.into_body().collect().await.unwrap().to_bytes())
}
