//! A server and NATS in the network namespace of the test, and agents on hosts of their own: in namespaces that a bridge
//! joins to it.

use std::ffi::OsStr;
use std::fmt::Debug;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use vigie::clock::{Clock, SystemClock};
use vigie::domain::Timestamp;

use super::kit::init;
use crate::daemon::process::{Daemon, command, folder};
use crate::support::binary::{err, program, vigie};
use crate::support::nats::NatsServer;

/// Where the targets of checks are, and what else leads there: agents may be denied some of them.
pub const TARGET: &str = "10.77.0.1";
/// Where NATS is.
pub const NATS: &str = "10.77.0.2";

/// The shell commands that build the network of the server.
pub const SETUP: &str = "
    ip link set lo up
    ip link add br0 type bridge
    for last in 1 2 101 102 103 104 105; do ip addr add 10.77.0.$last/24 dev br0; done
    ip link set br0 up
";

/// How long something may take that happens within an interval or two.
const PATIENCE: Duration = Duration::from_mins(1);

/// Waits until `is_true`.
pub fn until(what: &str, mut is_true: impl FnMut() -> bool) {
    until_lacks_nothing(what, || if is_true() { Ok(()) } else { Err(()) });
}

/// Waits until `look` finds that nothing is lacking.
pub fn until_lacks_nothing<T: Debug>(what: &str, mut look: impl FnMut() -> Result<(), T>) {
    let end = Instant::now() + PATIENCE;
    while let Err(lacking) = look() {
        assert!(Instant::now() < end, "it never came to it that {what}: {lacking:?}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Runs shell commands, which must succeed.
pub fn shell(script: &str) {
    let output = Command::new("sh").args(["-ec", script]).output().unwrap();
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A host of an agent.
pub struct Host {
    /// Holds its namespace.
    place: Child,
    pub address: String,
}

impl Host {
    /// Joins a host with this number to the network.
    pub fn new(number: u8) -> Self {
        let mut holder = Command::new("setpriv");
        holder.args(["--pdeathsig", "KILL", "unshare", "--net", "sleep", "3600"]);
        let place = holder.stdin(Stdio::null()).spawn().unwrap();
        let id = place.id();
        until("the host has a namespace", || {
            fs::read_to_string(format!("/proc/{id}/comm")).is_ok_and(|name| name.trim() == "sleep")
        });
        let host = Self { place, address: format!("10.77.0.{}", 10 + number) };
        shell(&format!(
            "ip link add to{number} type veth peer name eth0 netns {id}
             ip link set to{number} master br0 up"
        ));
        host.run(&format!(
            "ip link set lo up
             ip addr add {}/24 dev eth0
             ip link set eth0 up",
            host.address
        ));
        host
    }

    /// Runs shell commands on the host.
    pub fn run(&self, script: &str) {
        shell(&format!("nsenter -t {} --net sh -ec '{script}'", self.place.id()));
    }

    /// Has everything that is sent to `address` get lost on its way.
    pub fn cannot_reach(&self, address: &str) {
        self.run(&format!("ip neigh replace {address} lladdr 02:00:00:00:00:01 dev eth0 nud permanent"));
    }

    /// Has everything that is sent to NATS vanish, as on a link that is cut; checks go on.
    pub fn cut_off_from_nats(&self) {
        self.run(&format!("ip route add blackhole {NATS}"));
    }

    /// Ends [`Host::cut_off_from_nats`].
    pub fn join_nats_again(&self) {
        self.run(&format!("ip route del blackhole {NATS}"));
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.place.kill();
        let _ = self.place.wait();
    }
}

/// A location, and the secret of its first agent.
pub struct NewLocation {
    pub id: i64,
    secret: String,
}

/// A server with NATS.
pub struct Installation {
    pub server: Daemon,
    _nats: NatsServer,
    _nats_folder: TempDir,
}

impl Installation {
    pub fn start() -> Self {
        let (server_folder, nats_folder) = (folder("[]"), tempfile::tempdir().unwrap());
        let port = init(nats_folder.path(), &server_folder.path().join("data"), &["--host", NATS]);
        let nats = NatsServer::start_from(&nats_folder.path().join("nats.conf"), port);
        let server = Daemon::from_child(command(server_folder.path()).spawn().unwrap(), server_folder);
        Self { server, _nats: nats, _nats_folder: nats_folder }
    }

    /// Calls the API, which must succeed.
    pub fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let (status, response) = self.server.call(method, path, body);
        assert!(status == 200 || status == 204, "{method} {path}: {status} {response}");
        response
    }

    pub fn get(&self, path: &str) -> Value {
        self.call("GET", path, &Value::Null)
    }

    /// Returns the objects of a list.
    pub fn list(&self, path: &str) -> Vec<Value> {
        self.get(path)["results"].as_array().unwrap().clone()
    }

    pub fn location(&self, name: &str, region: i64) -> NewLocation {
        let created = self.call("POST", "/locations", &json!({"name": name, "region": region}));
        let id = created["id"].as_str().unwrap().parse().unwrap();
        NewLocation { id, secret: created["enrolment_secret"].as_str().unwrap().to_owned() }
    }

    /// Makes another secret of a location.
    pub fn another_secret(&self, location: &NewLocation) -> NewLocation {
        let made = self.call("POST", &format!("/locations/{}/enrolment-secrets", location.id), &json!({}));
        NewLocation { id: location.id, secret: made["enrolment_secret"].as_str().unwrap().to_owned() }
    }

    /// Enrols an agent and starts it on `host`, with these settings as variables.
    pub fn agent(&self, location: &NewLocation, host: &Host, settings: &[(&str, &str)]) -> AgentProcess {
        let folder = tempfile::tempdir().unwrap();
        enrol(&format!("http://{}", self.server.address), &location.secret, folder.path());
        let mut agent = AgentProcess::spawn(folder, host, settings);
        agent.daemon.wait_for_log("the agent runs");
        agent
    }

    /// Creates a monitor every 5 seconds; `fields` replace the usual ones.
    pub fn monitor(&self, monitor_type: &str, fields: &Value) -> i64 {
        let mut all = json!({"billing_plancode": "x", "interval_seconds": 5, "timeout": 1,
            "retry_on_failure": false, "traceroute_on_error": false});
        all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let created = self.call("POST", &format!("/monitors/{monitor_type}"), &all);
        created["id"].as_str().unwrap().parse().unwrap()
    }

    /// Has every alert be notified; where to does not matter.
    pub fn notify_somebody(&self) {
        let recipient = json!({"name": "Hook", "method_id": 16, "recipient": "http://127.0.0.1:9/"});
        self.call("POST", "/recipients", &recipient);
    }

    /// Returns the monitors of all notifications so far.
    pub fn notified(&self) -> Vec<i64> {
        let notifications = self.list("/notifications");
        notifications.iter().map(|notification| notification["monitor_id"].as_i64().unwrap()).collect()
    }

    /// Returns the results of a monitor, the newest first.
    pub fn results(&self, monitor: i64) -> Vec<Value> {
        self.list(&format!("/results?monitor_id={monitor}&limit=500"))
    }

    /// Waits until the agents that share the monitors of a location are so many; returns when they begin.
    pub fn wait_for_members(&mut self, location: i64, count: usize) -> Timestamp {
        loop {
            let line = self.server.wait_for_log("the agents of a location changed");
            if line["location_id"] == location && line["agents"] == count {
                return SystemClock.now() + Duration::from_secs(3);
            }
        }
    }
}

/// Enrols an agent at a server; its data folder is `data` in `folder`.
pub fn enrol(url: &str, secret: &str, folder: &Path) {
    let (secret_file, data) = (folder.join("secret"), folder.join("data"));
    fs::write(&secret_file, secret).unwrap();
    let (secret_file, data) = (secret_file.to_str().unwrap(), data.to_str().unwrap());
    let output = vigie(&["agent", "enrol", url, "--secret-file", secret_file, "--data", data]);
    assert!(output.status.success(), "{}", err(&output));
}

/// `vigie agent run` on a host.
pub struct AgentProcess {
    pub daemon: Daemon,
}

impl AgentProcess {
    /// Starts an enrolled agent, with these settings as variables.
    pub fn spawn(folder: TempDir, host: &Host, settings: &[(&str, &str)]) -> Self {
        Self::spawn_program(&program(), folder, host, settings)
    }

    fn spawn_program(program: &OsStr, folder: TempDir, host: &Host, settings: &[(&str, &str)]) -> Self {
        let mut command = Command::new("nsenter");
        command
            .args(["-t", &host.place.id().to_string(), "--net"])
            .arg(program)
            .args(["agent", "run", "--data"])
            .arg(folder.path().join("data"))
            .env("VIGIE_LOG_FORMAT", "json")
            .envs(settings.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        Self { daemon: Daemon::starting(command.spawn().unwrap(), folder) }
    }

    /// Starts an agent that has ended again, over its folder.
    pub fn start_again(&mut self, host: &Host) {
        self.start_again_with(host, &[]);
    }

    /// Like [`AgentProcess::start_again`], with these settings as variables.
    pub fn start_again_with(&mut self, host: &Host, settings: &[(&str, &str)]) {
        self.start_again_as(&program(), host, settings);
    }

    /// Like [`AgentProcess::start_again_with`], as this program.
    pub fn start_again_as(&mut self, program: &OsStr, host: &Host, settings: &[(&str, &str)]) {
        let folder = std::mem::replace(&mut self.daemon.folder, tempfile::tempdir().unwrap());
        *self = Self::spawn_program(program, folder, host, settings);
        self.daemon.wait_for_log("the agent runs");
    }
}

/// A target of checks that records who connects when.
pub struct Target {
    pub port: u16,
    connections: Arc<Mutex<Vec<(Timestamp, String)>>>,
}

impl Target {
    /// Opens one that only accepts connections.
    pub fn open() -> Self {
        Self::answering(|_| ())
    }

    /// Opens one that handles each connection in a thread of its own.
    pub fn answering(answer: fn(TcpStream)) -> Self {
        let listener = TcpListener::bind("0.0.0.0:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&connections);
        std::thread::spawn(move || {
            // A check may have reset its connection by now; its address is that of the accepted one.
            while let Ok((stream, peer)) = listener.accept() {
                seen.lock().unwrap().push((SystemClock.now(), peer.ip().to_string()));
                std::thread::spawn(move || answer(stream));
            }
        });
        Self { port, connections }
    }

    /// Returns when which address connected.
    pub fn connections(&self) -> Vec<(Timestamp, String)> {
        self.connections.lock().unwrap().clone()
    }
}

/// Answers a request with this status line and body after `delay`.
pub fn answer_http(mut stream: TcpStream, status: &str, body: &str, delay: Duration) {
    let mut request = [0; 4096];
    if stream.read(&mut request).is_ok_and(|count| count > 0) {
        std::thread::sleep(delay);
        let length = body.len();
        let head = format!("HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n");
        let _ = stream.write_all(format!("{head}Connection: close\r\n\r\n{body}").as_bytes());
    }
}
