//! A group of controllers with its own PostgreSQL and NATS.

use std::ffi::OsStr;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::daemon::process::Daemon;
use crate::support::binary::{err, program, vigie};
use crate::support::daemon::free_port;
use crate::support::nats::NatsServer;
use crate::support::postgres::PostgresServer;

/// Longest time until another controller leads, as promised.
pub const FAIL_OVER: Duration = Duration::from_secs(10);
/// The same while other tests keep the machine busy.
pub const SLOW_FAIL_OVER: Duration = Duration::from_secs(40);

/// PostgreSQL, NATS, and the folder of their controllers.
pub struct Cluster {
    pub postgres: PostgresServer,
    pub nats: NatsServer,
    pub database: String,
    folder: tempfile::TempDir,
}

impl Cluster {
    pub async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let keys = NatsKeys::create(folder.path(), &["--no-tls"]);
        Self::over(PostgresServer::start(), keys.start(), folder).await
    }

    /// Returns a cluster of these servers; `folder` has the keys.
    pub async fn over(postgres: PostgresServer, nats: NatsServer, folder: tempfile::TempDir) -> Self {
        let database = postgres.create_database().await;
        Self { postgres, nats, database, folder }
    }

    /// Returns the data folder of a controller, with the keys that all of them have.
    pub fn data_of(&self, name: &str) -> PathBuf {
        let data = self.folder.path().join(name).join("data");
        fs::create_dir_all(&data).unwrap();
        for file in ["vigie.key", "nats-trust.sealed"].into_iter().filter(|file| !data.join(file).exists()) {
            fs::copy(self.folder.path().join("keys").join(file), data.join(file)).unwrap();
        }
        data
    }

    /// Returns the command of a controller.
    pub fn command(&self, name: &str) -> Command {
        self.command_at(name, "127.0.0.1:0")
    }

    /// Returns the command of a controller that listens on `address`.
    pub fn command_at(&self, name: &str, address: &str) -> Command {
        self.command_of(&program(), name, address)
    }

    /// Returns the command of a controller that is this program.
    pub fn command_of(&self, program: &OsStr, name: &str, address: &str) -> Command {
        let data = self.data_of(name);
        let url =
            format!("postgres://vigie@127.0.0.1:{}/{}?sslmode=disable", self.postgres.port, self.database);
        let mut command = Command::new(program);
        command
            .args(["controller", "--listen", address, "--name", name, "--data"])
            .arg(data)
            .env("VIGIE_STORE_URL", url)
            .env("VIGIE_SERVER_TRUSTED_PROXIES", "127.0.0.0/8")
            .env("VIGIE_LOG_FORMAT", "json")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        command
    }

    /// Starts a controller, and waits until it takes requests.
    pub fn controller(&self, name: &str) -> Daemon {
        let folder = tempfile::tempdir_in(self.folder.path()).unwrap();
        let mut controller = Daemon::starting(self.command(name).spawn().unwrap(), folder);
        let serving = controller.wait_for_log("waiting for the lead");
        controller.address = serving["address"].as_str().unwrap().parse::<SocketAddr>().unwrap();
        controller
    }

    /// Returns the host token of a controller.
    pub fn token(&self, name: &str) -> String {
        self.try_token(name).unwrap()
    }

    /// Like [`Cluster::token`], if the controller has written it.
    pub fn try_token(&self, name: &str) -> Option<String> {
        let path = self.folder.path().join(name).join("data/host-token");
        Some(fs::read_to_string(path).ok()?.lines().next()?.to_owned())
    }

    /// Returns the folder with the keys of NATS and the keyring.
    pub fn keys(&self) -> PathBuf {
        self.folder.path().join("keys")
    }

    /// Calls the API at a controller with its host token.
    pub fn call(&self, at: (&Daemon, &str), method: &str, path: &str, body: &Value) -> (u16, Value) {
        at.0.call_with_token(&self.token(at.1), method, path, body)
    }
}

/// The folder of a NATS server.
pub struct NatsKeys {
    port: u16,
    pub folder: PathBuf,
}

impl NatsKeys {
    /// Runs `vigie nats init` with these further arguments.
    pub fn create(folder: &Path, more: &[&str]) -> Self {
        let (port, nats, data) = (free_port(), folder.join("nats"), folder.join("keys"));
        let text = port.to_string();
        let init =
            ["nats", "init", nats.to_str().unwrap(), "--port", &text, "--data", data.to_str().unwrap()];
        let output = vigie(&[&init[..], more].concat());
        assert!(output.status.success(), "{}", err(&output));
        Self { port, folder: nats }
    }

    pub fn start(&self) -> NatsServer {
        NatsServer::start_from(&self.folder.join("nats.conf"), self.port)
    }
}

/// Returns the fields of a monitor of a port where nobody listens, with a long interval.
pub fn monitor(name: &str) -> Value {
    json!({"type": "tcp", "name": name, "hostname": "127.0.0.1", "port": 9, "interval": 60, "timeout": 5,
        "billing_plancode": "x"})
}

/// Tries until `attempt` returns something, at most for `limit`; returns it and how long that took.
pub fn within<T>(limit: Duration, mut attempt: impl FnMut() -> Option<T>) -> (T, Duration) {
    let started = Instant::now();
    loop {
        if let Some(found) = attempt() {
            return (found, started.elapsed());
        }
        assert!(started.elapsed() < limit, "not within {limit:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
