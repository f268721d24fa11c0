//! NATS servers of Debian's package on loopback, each with its own data and port.
#![allow(dead_code, reason = "every test binary takes what it needs")]

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::daemon::free_port;

/// Kills the server when the test process ends, however that happens.
const GUARD: &str = r#"
"$@" >"$FOLDER/log" 2>&1 &
server=$!
while read -r line; do
    case "$line" in
        kill) kill -KILL "$server"; wait "$server"; echo killed ;;
        # As a service manager: version 2.9 may hold its own lock when its disk is full, and not end by itself.
        stop) kill -TERM "$server"; (sleep 15; kill -KILL "$server") >/dev/null 2>&1 & late=$!
            wait "$server"; kill "$late"; echo stopped ;;
        pause) kill -STOP "$server"; echo paused ;;
        resume) kill -CONT "$server"; echo resumed ;;
        start) "$@" >>"$FOLDER/log" 2>&1 & server=$!; echo started ;;
    esac
done
kill -KILL "$server"
wait "$server"
rm -rf "$FOLDER"
"#;

/// A server, which ends when it is dropped.
pub struct NatsServer {
    pub port: u16,
    /// Whether clients have to use TLS.
    has_tls: bool,
    folder: TempDir,
    guard: Child,
}

impl NatsServer {
    /// Starts a server with JetStream and without authentication, as no installation has it.
    pub fn start() -> Self {
        Self::start_with("")
    }

    /// Like [`NatsServer::start`], with these further lines of its settings, such as `max_payload: 65536`.
    pub fn start_with(more: &str) -> Self {
        let port = free_port();
        let folder = tempfile::Builder::new().prefix("vigie-nats").tempdir().unwrap();
        let store = folder.path().join("jetstream");
        let store = store.display();
        let text = format!(
            "listen: \"127.0.0.1:{port}\"\njetstream {{ store_dir: \"{store}\", max_mem: 256M, max_file: 4G }}\n{more}\n"
        );
        let settings = folder.path().join("nats.conf");
        fs::write(&settings, text).unwrap();
        Self::run(port, false, folder, &settings)
    }

    /// Starts a server with the file that `vigie nats init` wrote for this port.
    pub fn start_from(settings: &Path, port: u16) -> Self {
        let has_tls =
            fs::read_to_string(settings).unwrap().lines().any(|line| line.trim().starts_with("tls"));
        let folder = tempfile::Builder::new().prefix("vigie-nats").tempdir().unwrap();
        Self::run(port, has_tls, folder, settings)
    }

    fn run(port: u16, has_tls: bool, folder: TempDir, settings: &Path) -> Self {
        let guard = Command::new("sh")
            .args(["-c", GUARD, "sh", "/usr/sbin/nats-server", "-c"])
            .arg(settings)
            .env("FOLDER", folder.path())
            // The settings of `vigie nats init` name paths relative to their folder.
            .current_dir(settings.parent().unwrap())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let server = Self { port, has_tls, folder, guard };
        server.wait_until_ready();
        server
    }

    /// Waits until it accepts clients, and JetStream has read its data.
    pub fn wait_until_ready(&self) {
        let end = Instant::now() + Duration::from_secs(30);
        while !self.is_ready() {
            assert!(Instant::now() < end, "nats-server does not start: {}", self.log());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Whether it greets a client: it does so after JetStream has read its data.
    fn is_ready(&self) -> bool {
        let Ok(mut stream) = std::net::TcpStream::connect(("127.0.0.1", self.port)) else { return false };
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let mut greeting = [0; 5];
        stream.read_exact(&mut greeting).is_ok() && greeting == *b"INFO "
    }

    /// Returns the URL for clients.
    pub fn url(&self) -> String {
        let scheme = if self.has_tls { "tls" } else { "nats" };
        format!("{scheme}://127.0.0.1:{}", self.port)
    }

    /// Returns what it logged.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Returns the folder of the streams of a server that [`NatsServer::start`] started. Without it, a server that
    /// starts again has lost its streams.
    pub fn stream_folder(&self) -> PathBuf {
        self.folder.path().join("jetstream")
    }

    /// Ends it at once, as a power cut would.
    pub fn kill(&mut self) {
        self.order("kill");
    }

    /// Ends it in an orderly way.
    pub fn stop(&mut self) {
        self.order("stop");
    }

    /// Halts it: its connections stay open, and nothing answers.
    pub fn pause(&mut self) {
        self.order("pause");
    }

    /// Continues after [`NatsServer::pause`].
    pub fn resume(&mut self) {
        self.order("resume");
    }

    /// Starts it again, at the same port and with its data.
    pub fn restart(&mut self) {
        self.order("start");
        self.wait_until_ready();
    }

    fn order(&mut self, word: &str) {
        writeln!(self.guard.stdin.as_mut().unwrap(), "{word}").unwrap();
        let out = self.guard.stdout.as_mut().unwrap();
        let mut byte = [0; 1];
        while byte != *b"\n" {
            out.read_exact(&mut byte).unwrap();
        }
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}
