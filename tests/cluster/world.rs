//! The installation: PostgreSQL, NATS, two controllers, and four agents at three locations.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tokio::runtime::Runtime;

use super::agent_host::AgentHost;
use super::database_door::DatabaseDoor;
use super::site::Site;
use crate::agents::network::NATS;
use crate::controllers::kit::{Cluster, NatsKeys};
use crate::daemon::process::Daemon;
use crate::endurance::alerts::serve;
use crate::support::binary::program;
use crate::support::daemon::free_port;
use crate::support::postgres::PostgresServer;
use crate::support::small_disk::SmallDisk;

pub const CONTROLLERS: [&str; 2] = ["first", "second"];
/// The first two agents share the monitors of the first location.
pub const LOCATION_OF_AGENT: [usize; 4] = [0, 0, 1, 2];
/// The agent whose clock can be wrong.
pub const AGENT_WITH_CLOCK: usize = 3;
/// The location of one agent that can check so much that its small spool fills.
pub const LOCATION_THAT_FILLS_ITS_SPOOL: usize = 1;
pub const INTERVAL: Duration = Duration::from_secs(5);
/// Monitors of ports at each location, and at the one whose spool shall be full soon: in two minutes.
const PORTS: usize = 12;
const PORTS_THAT_FILL_A_SPOOL: usize = 180;
/// How long results have until their runs are missed.
const MISSED_AFTER: &str = "10";
/// PostgreSQL: settings that keep its data small.
pub const SMALL_DATABASE: [&str; 4] = ["-c", "max_wal_size=48MB", "-c", "min_wal_size=32MB"];
const DATABASE_DISK: &str = "400m";
const NATS_DISK: &str = "64m";
/// How long a call of the API may find no controller that serves.
const SERVED_WITHIN: Duration = Duration::from_mins(1);

/// What a monitor is to the ledger.
pub struct Monitor {
    pub id: i64,
    pub name: String,
    /// Indexes of its locations.
    pub locations: Vec<usize>,
    /// Whether it asks for a page of the site that can be down.
    pub is_page: bool,
    /// Whether only planned runs ask for its page.
    pub is_never_verified: bool,
}

pub struct Controller {
    pub daemon: Daemon,
    pub door: DatabaseDoor,
    port: u16,
}

pub struct World {
    pub runtime: Runtime,
    pub cluster: Cluster,
    pub controllers: [Controller; 2],
    pub agents: Vec<AgentHost>,
    pub site: Site,
    /// The ids of the locations.
    pub locations: Vec<i64>,
    pub monitors: Vec<Monitor>,
    /// How often each message came, by its idempotency key.
    pub received: Arc<Mutex<BTreeMap<String, usize>>>,
    pub nats_folder: PathBuf,
    _disks: Vec<SmallDisk>,
    /// The disks of the database, and of the replica that takes its place.
    pub database_disks: [PathBuf; 2],
}

impl World {
    /// Starts everything; `fills_spool` gives one location so many checks that they fill a spool in minutes.
    pub fn start(fills_spool: bool) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let disk_at = |path: &PathBuf, size: &str| {
            fs::create_dir_all(path).unwrap();
            SmallDisk::mount(path, size).expect("a test in a mount namespace may mount")
        };
        let keys = NatsKeys::create(folder.path(), &["--host", NATS]);
        let nats_folder = keys.folder.join("jetstream");
        let database_disks = ["postgres", "replica"].map(|name| folder.path().join(name));
        let mut disks = vec![disk_at(&nats_folder, NATS_DISK)];
        disks.extend(database_disks.iter().map(|disk| disk_at(disk, DATABASE_DISK)));
        let postgres = PostgresServer::start_in(database_disks[0].clone(), &SMALL_DATABASE, &[]);
        let cluster = runtime.block_on(Cluster::over(postgres, keys.start(), folder));
        let controllers = CONTROLLERS.map(|name| Controller::start(&cluster, name));
        let received = Arc::<Mutex<BTreeMap<String, usize>>>::default();
        let mut world = Self {
            runtime,
            cluster,
            controllers,
            agents: Vec::new(),
            site: Site::start(),
            locations: Vec::new(),
            monitors: Vec::new(),
            received,
            nats_folder,
            _disks: disks,
            database_disks,
        };
        world.enrol_agents();
        world.create_recipients_and_monitors(fills_spool);
        world
    }

    fn enrol_agents(&mut self) {
        let mut secrets = Vec::new();
        for (name, region) in [("north", 1), ("south", 2), ("west", 3)] {
            let created =
                self.call("POST", "/locations", &json!({"name": name, "region": region, "verifies": true}));
            self.locations.push(created["id"].as_str().unwrap().parse().unwrap());
            secrets.push(created["enrolment_secret"].as_str().unwrap().to_owned());
        }
        let path = format!("/locations/{}/enrolment-secrets", self.locations[0]);
        let second = self.call("POST", &path, &json!({}));
        secrets.insert(1, second["enrolment_secret"].as_str().unwrap().to_owned());
        let url = format!("http://{}", self.controllers[0].daemon.address);
        for (index, secret) in secrets.iter().enumerate() {
            let number = u8::try_from(index + 1).unwrap();
            let has_small_spool = LOCATION_OF_AGENT[index] == LOCATION_THAT_FILLS_ITS_SPOOL;
            let agent = AgentHost::start(number, &url, secret, index == AGENT_WITH_CLOCK, has_small_spool);
            self.agents.push(agent);
        }
    }

    fn create_recipients_and_monitors(&mut self, fills_spool: bool) {
        let received = Arc::clone(&self.received);
        let receiver = serve(move |_, key| {
            if let Some(key) = key {
                *received.lock().unwrap().entry(key.to_owned()).or_default() += 1;
            }
            200
        });
        let recipient = json!({"name": "hook", "recipient": format!("http://{receiver}/"), "method_id": 16,
            "notify_on_clear": true, "stop_threshold": 1});
        self.call("POST", "/recipients", &recipient);
        for at in 0..self.locations.len() {
            for number in 0..4 {
                self.create_page_monitor(&format!("page {at}.{number}"), "Global Notify", &[at]);
            }
            let ports = if fills_spool && at == LOCATION_THAT_FILLS_ITS_SPOOL {
                PORTS_THAT_FILL_A_SPOOL
            } else {
                PORTS
            };
            for number in 0..ports {
                self.create_port_monitor(&format!("port {at}.{number}"), at);
            }
        }
        for number in 0..3 {
            self.create_page_monitor(&format!("multipop {number}"), "SLA (MultiPOP)", &[0, 1, 2]);
        }
        for at in 0..2 {
            self.create_page_monitor(&format!("primary {at}"), "Primary", &[at, (at + 1) % 3, (at + 2) % 3]);
        }
    }

    fn create_page_monitor(&mut self, name: &str, mode: &str, locations: &[usize]) {
        let url = format!("http://{}/{}", self.site.address, self.monitors.len());
        self.create_monitor("website", name, mode, locations, &json!({"url": url}));
    }

    fn create_port_monitor(&mut self, name: &str, location: usize) {
        let (host, port) = (self.site.address.ip().to_string(), self.site.address.port());
        let fields = json!({"hostname": host, "port": port});
        self.create_monitor("tcp", name, "Global Notify", &[location], &fields);
    }

    fn create_monitor(&mut self, kind: &str, name: &str, mode: &str, locations: &[usize], own: &Value) {
        let ids: Vec<_> = locations.iter().map(|at| json!({"id": self.locations[*at]})).collect();
        let mut fields = json!({"name": name, "mode": mode, "locations": ids, "home_location": self.locations[locations[0]],
            "billing_plancode": "x", "interval_seconds": INTERVAL.as_secs(), "timeout": 2,
            "retry_on_failure": false, "traceroute_on_error": false});
        fields.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
        let created = self.call("POST", &format!("/monitors/{kind}"), &fields);
        self.monitors.push(Monitor {
            id: created["id"].as_str().unwrap().parse().unwrap(),
            name: name.to_owned(),
            locations: locations.to_vec(),
            is_page: kind == "website",
            is_never_verified: kind == "website" && mode != "Primary",
        });
    }

    /// Calls the API at whichever controller serves.
    pub fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let end = Instant::now() + SERVED_WITHIN;
        loop {
            for (name, controller) in CONTROLLERS.iter().zip(&self.controllers) {
                if let Some((200 | 204, response)) =
                    controller.try_call(&self.cluster, name, method, path, body)
                {
                    return response;
                }
            }
            assert!(Instant::now() < end, "no controller serves {method} {path}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Returns the rows of a query, from the database itself; waits until it serves.
    pub fn rows(&self, sql: &str) -> Vec<PgRow> {
        let end = Instant::now() + SERVED_WITHIN;
        loop {
            match self.try_rows(sql) {
                Ok(rows) => return rows,
                Err(error) => assert!(Instant::now() < end, "the database does not serve: {error}"),
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    pub fn try_rows(&self, sql: &str) -> Result<Vec<PgRow>, sqlx::Error> {
        let url = self.cluster.postgres.url(&self.cluster.database);
        self.runtime.block_on(async {
            let mut conn = PgConnection::connect(&url).await?;
            sqlx::query(AssertSqlSafe(sql.to_owned())).fetch_all(&mut conn).await
        })
    }

    /// Returns the kB in the spool of each agent, as of its last heartbeat.
    pub fn spools(&self) -> Vec<i64> {
        let agents = self.call("GET", "/agents", &Value::Null);
        let kilobytes = |agent: &Value| agent["spool_bytes"].as_i64().unwrap_or_default() / 1000;
        agents["results"].as_array().unwrap().iter().map(kilobytes).collect()
    }

    /// Returns the index of the controller that leads, which has the lease.
    pub fn leader(&self) -> usize {
        use sqlx::Row;
        let rows = self.rows("SELECT holder FROM controller_lease ORDER BY epoch DESC LIMIT 1");
        let holder: String = rows[0].get(0);
        CONTROLLERS.iter().position(|name| *name == holder).unwrap_or(0)
    }
}

impl Controller {
    fn start(cluster: &Cluster, name: &str) -> Self {
        let door = DatabaseDoor::open(cluster.postgres.port);
        let port = free_port();
        let mut controller = Self { daemon: spawn(&program(), cluster, name, port, &door), door, port };
        controller.wait_until_serving();
        controller
    }

    fn wait_until_serving(&mut self) {
        let serving = self.daemon.wait_for_log("waiting for the lead");
        self.daemon.address = serving["address"].as_str().unwrap().parse().unwrap();
    }

    /// Ends the process with `signal`.
    pub fn end(&mut self, signal: Signal) {
        self.daemon.signal(signal);
        self.daemon.wait_for_exit();
    }

    /// Starts the process again, at its port and over its data.
    pub fn start_again(&mut self, cluster: &Cluster, name: &str) {
        self.start_again_as(&program(), cluster, name);
    }

    /// Starts `program` at its port and over its data.
    pub fn start_again_as(&mut self, program: &OsStr, cluster: &Cluster, name: &str) {
        self.daemon = spawn(program, cluster, name, self.port, &self.door);
        self.wait_until_serving();
    }

    fn try_call(
        &self,
        cluster: &Cluster,
        name: &str,
        method: &str,
        path: &str,
        body: &Value,
    ) -> Option<(u16, Value)> {
        let token = cluster.try_token(name)?;
        std::net::TcpStream::connect(self.daemon.address).ok()?;
        Some(self.daemon.call_with_token(&token, method, path, body))
    }
}

fn spawn(program: &OsStr, cluster: &Cluster, name: &str, port: u16, door: &DatabaseDoor) -> Daemon {
    let mut command: Command = cluster.command_of(program, name, &format!("127.0.0.1:{port}"));
    let url = format!("postgres://vigie@127.0.0.1:{}/{}?sslmode=disable", door.port, cluster.database);
    command.env("VIGIE_STORE_URL", url).env("VIGIE_BUS_MISSED_AFTER_SECONDS", MISSED_AFTER);
    command.env("VIGIE_ALERTS_NO_DATA_RUNS", "0");
    Daemon::starting(command.spawn().unwrap(), tempfile::tempdir().unwrap())
}
