//! A `vigie serve` with a site that it checks.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::binary::program;
use crate::support::daemon::{free_port, wait_for};

/// A server at a port that it keeps.
pub struct Server {
    child: Child,
    port: u16,
    pub folder: tempfile::TempDir,
}

impl Server {
    /// Starts a server with the monitors in `yaml`.
    pub fn start(yaml: &str) -> Self {
        Self::start_with(yaml, "")
    }

    /// Starts a server with the monitors in `yaml` and these settings.
    pub fn start_with(yaml: &str, settings: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("vigie.yaml"), settings).unwrap();
        fs::create_dir(folder.path().join("monitors")).unwrap();
        let port = free_port();
        let child = Self::spawn(&folder, port);
        let server = Self { child, port, folder };
        server.write_monitors(yaml);
        server.wait_until_serving();
        server
    }

    /// Waits until it serves, and has written the token for commands on its host.
    fn wait_until_serving(&self) {
        wait_for(self.port);
        let until = Instant::now() + Duration::from_secs(30);
        while !self.folder.path().join("data/host-token").exists() {
            assert!(Instant::now() < until, "it writes no host token");
            std::thread::sleep(Duration::from_millis(10));
        }
        while !self.is_ready() {
            assert!(Instant::now() < until, "it loads no monitors");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Whether its monitors are loaded.
    fn is_ready(&self) -> bool {
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) else { return false };
        let request = "GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
        let mut response = String::new();
        stream.write_all(request.as_bytes()).is_ok()
            && stream.read_to_string(&mut response).is_ok()
            && response.starts_with("HTTP/1.1 200")
    }

    fn spawn(folder: &tempfile::TempDir, port: u16) -> Child {
        let mut command = Command::new(program());
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("VIGIE_")) {
            command.env_remove(name);
        }
        command.arg("serve").args(["--listen", &format!("127.0.0.1:{port}")]);
        command.arg("--config").arg(folder.path().join("vigie.yaml"));
        command.arg("--data").arg(folder.path().join("data"));
        command.arg("--monitors").arg(folder.path().join("monitors"));
        let log = fs::File::options().append(true).create(true).open(folder.path().join("log")).unwrap();
        command.env("VIGIE_LOG_LEVEL", "debug");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap()
    }

    /// Returns what it has logged.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    /// Replaces the monitors; the server reads the file by itself.
    pub fn write_monitors(&self, yaml: &str) {
        let folder = self.folder.path().join("monitors");
        fs::write(folder.join(".new"), yaml).unwrap();
        fs::rename(folder.join(".new"), folder.join("all.yaml")).unwrap();
    }

    /// Ends the server as a service manager does.
    pub fn stop(&mut self) {
        let id = nix::unistd::Pid::from_raw(i32::try_from(self.child.id()).unwrap());
        nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGTERM).unwrap();
        assert!(self.child.wait().unwrap().success());
    }

    /// Starts it again, over the same data and at the same port.
    pub fn start_again(&mut self) {
        self.child = Self::spawn(&self.folder, self.port);
        self.wait_until_serving();
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Runs `vigie` against the server as the user of its host; returns what it prints.
    pub fn run(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(program());
        let token = fs::read_to_string(self.folder.path().join("data/host-token")).unwrap();
        command.args(arguments).env("VIGIE_SERVER", self.url("/"));
        command.env("VIGIE_TOKEN", token.lines().next().unwrap());
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Sends a request to the version 3 API as the user of its host; returns the status and the body.
    pub fn request(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let token = fs::read_to_string(self.folder.path().join("data/host-token")).unwrap();
        let (token, body) = (token.lines().next().unwrap(), body.to_string());
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let head = format!(
            "{method} /api/v3{path} HTTP/1.0\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or_default())
    }

    /// Returns a link that signs in as the host, once.
    pub fn sign_in_link(&self) -> String {
        self.run(&["open"]).trim().to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A site that answers every request with 200, or with 500 while it is broken.
pub struct Site {
    pub port: u16,
    broken: Arc<AtomicBool>,
}

impl Site {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let broken = Arc::new(AtomicBool::new(false));
        let is_broken = Arc::clone(&broken);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let status = if is_broken.load(Ordering::Relaxed) { "500 Broken" } else { "200 OK" };
                let _ = stream.read(&mut [0; 4096]);
                let _ =
                    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
            }
        });
        Self { port, broken }
    }

    pub fn set_broken(&self, broken: bool) {
        self.broken.store(broken, Ordering::Relaxed);
    }

    /// Returns the monitor `key` of the site.
    pub fn monitor(&self, key: &str, name: &str) -> String {
        let name = serde_json::to_string(name).unwrap();
        let port = self.port;
        format!(
            "- {{key: {key}, type: website, name: {name}, billing_plancode: x, url: 'http://127.0.0.1:{port}/', interval: 1, timeout: 10}}\n"
        )
    }

    /// Like [`Site::monitor`], with a run every five seconds.
    pub fn frequent_monitor(&self, key: &str, name: &str) -> String {
        self.monitor(key, name).replace("interval: 1,", "interval_seconds: 5,")
    }
}
