//! What a running server shows of its agents: over the API, on the terminal, in the metrics.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};
use tempfile::TempDir;
use vigie::bus::contract::{AgentLoad, AgentNetwork, AssignmentRevision, Presence, SpoolLoad};
use vigie::bus::messages::{BusMessage, PresenceMessage};
use vigie::bus::nats::subjects::AgentSubject;
use vigie::clock::{Clock, SystemClock};
use vigie::domain::Timestamp;

use super::kit::{Agent, Connection, Kit, SOON};
use crate::support::binary::{err, out, program, vigie_at};

/// `vigie serve` over the data of a kit.
pub(super) struct Server {
    child: Child,
    address: String,
    token: String,
    _data: TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    pub(super) async fn start(data: TempDir) -> Self {
        let monitors = data.path().join("monitors");
        fs::create_dir(&monitors).unwrap();
        let log = data.path().join("log");
        let mut command = Command::new(program());
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("VIGIE_")) {
            command.env_remove(name);
        }
        command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(data.path());
        command.arg("--monitors").arg(&monitors).current_dir(data.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(fs::File::create(&log).unwrap());
        let mut server = Self {
            child: command.spawn().unwrap(),
            address: String::new(),
            token: String::new(),
            _data: data,
        };
        let end = Instant::now() + SOON;
        let text = || fs::read_to_string(&log).unwrap();
        while !text().contains("serving at") {
            assert!(server.child.try_wait().unwrap().is_none(), "it ended: {}", text());
            assert!(Instant::now() < end, "it does not serve: {}", text());
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        server.read_host_token(&log.with_file_name("host-token"));
        server
    }

    fn read_host_token(&mut self, file: &Path) {
        let text = fs::read_to_string(file).unwrap();
        let mut lines = text.lines().map(str::to_owned);
        self.token = lines.next().unwrap();
        self.address = lines.next().unwrap();
    }

    /// Runs a command of the terminal, which must succeed; returns its output.
    async fn vigie(&self, args: &[&str]) -> (String, String) {
        let output = vigie_at(&format!("http://{}", self.address), &self.token, args).await;
        assert!(output.status.success(), "{args:?}: {}", err(&output));
        (out(&output), err(&output))
    }

    async fn json(&self, args: &[&str]) -> Vec<Value> {
        serde_json::from_str(&self.vigie(&[args, &["--json"]].concat()).await.0).unwrap()
    }

    pub(super) fn metrics(&self) -> String {
        self.get("/metrics")
    }

    /// Returns the objects of a list of the API.
    pub(super) fn list(&self, path: &str) -> Vec<Value> {
        let response = self.get(&format!("/api/v3{path}"));
        let body = response.split_once("\r\n\r\n").unwrap().1;
        let list: Value = serde_json::from_str(body).unwrap_or_else(|_| panic!("{response}"));
        list["results"].as_array().unwrap_or_else(|| panic!("{response}")).clone()
    }

    /// Returns the whole response.
    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let token = &self.token;
        let request =
            format!("GET {path} HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        response
    }
}

/// Returns a heartbeat of `agent`.
fn heartbeat(agent: &Agent) -> Presence {
    Presence {
        location_id: agent.credential.location_id(),
        agent_id: Some(agent.credential.agent_id()),
        version: "1.3.0".into(),
        sent_at: SystemClock.now(),
        clock_offset_us: Some(-12_345),
        load: AgentLoad { planned_monitors: 800, running_checks: 4, waiting_checks: 2 },
        browser_capacity: 1,
        is_isolated: false,
        assignment_revision: AssignmentRevision(0),
        is_draining: false,
        weight: 2,
        lateness: std::time::Duration::from_micros(3900),
        spool: SpoolLoad {
            results: 40,
            bytes: 4096,
            dropped_results: 7,
            dropped_captures: 1,
            waiting_results: 3,
        },
        network: std::sync::Arc::new(AgentNetwork {
            egress_deny: vec!["10.1.0.0/16".to_owned()],
            proxy_ids: vec![3],
            ..AgentNetwork::default()
        }),
    }
}

async fn send(connection: &Connection, presence: &Presence) {
    let subject = AgentSubject::Presence.of(presence.location_id, presence.agent_id.unwrap());
    let bytes = PresenceMessage::from_presence(presence).to_bytes().unwrap();
    connection.client.publish(subject, bytes.into()).await.unwrap();
    connection.client.flush().await.unwrap();
}

/// Returns the object with this id.
fn by_id(objects: &[Value], id: i64) -> &Value {
    objects.iter().find(|object| object["id"] == id).unwrap()
}

#[tokio::test]
async fn agents_and_their_locations_are_listed_with_what_heartbeats_show() {
    let kit = Kit::start().await;
    let (location, secret) = kit.location("north").await;
    let (away, _) = kit.location("south").await;
    let online = kit.enrol(&secret).await;
    let draining = kit.enrol(&kit.secret(location).await).await;
    let silent = kit.enrol(&kit.secret(location).await).await;
    let revoked = kit.enrol(&kit.secret(location).await).await;
    kit.admin.delete(&format!("/agents/{}", revoked.id())).await.expect(200);
    let Kit { app, nats, .. } = kit;
    let server = Server::start(app.stop().await).await;

    let before = server.json(&["agents"]).await;
    let states: Vec<_> = before.iter().map(|agent| &agent["state"]).collect();
    assert_eq!(states, ["offline"; 3], "{before:?}");
    assert_eq!(by_id(&before, online.id())["last_seen_at"], Value::Null);
    assert_eq!(by_id(&before, online.id())["version"], "1.2.3", "as it enrolled");
    let health = by_id(&server.json(&["locations"]).await, location)["health"].clone();
    assert_eq!(health, json!({"agents": 3, "alive": 0, "state": "away"}));
    assert!(!server.metrics().contains("vigie_agent_online"));

    let (first, second) = (online.connect().await, draining.connect().await);
    let isolated = Presence { is_draining: true, is_isolated: true, ..heartbeat(&draining) };
    let end = Instant::now() + SOON;
    let sent_at = SystemClock.now();
    let agents = loop {
        // The server may not have subscribed yet.
        send(&first, &heartbeat(&online)).await;
        send(&second, &isolated).await;
        let agents = server.json(&["agents"]).await;
        let is_seen = |agent: &Agent| by_id(&agents, agent.id())["last_seen_at"].is_string();
        if is_seen(&online) && is_seen(&draining) {
            break agents;
        }
        assert!(Instant::now() < end, "{agents:?}");
    };
    let mut shown = by_id(&agents, online.id()).clone();
    let last_seen = Timestamp::parse(shown["last_seen_at"].as_str().unwrap()).unwrap();
    assert!(last_seen.as_micros() >= sent_at.as_micros() - 1_000_000, "{shown}");
    let fields = [
        ("state", json!("online")),
        ("version", json!("1.3.0")),
        ("clock_offset_ms", json!(-12)),
        ("lateness_ms", json!(3)),
        ("planned_monitors", json!(800)),
        ("running_checks", json!(4)),
        ("waiting_checks", json!(2)),
        ("spooled_results", json!(40)),
        ("waiting_results", json!(3)),
        ("spool_bytes", json!(4096)),
        ("dropped_results", json!(7)),
        ("dropped_captures", json!(1)),
        ("browser_capacity", json!(1)),
        ("weight", json!(2)),
        ("is_isolated", json!(false)),
        ("egress_deny", json!(["10.1.0.0/16"])),
        ("proxy_ids", json!([3])),
        ("name_servers", json!([])),
    ];
    for (name, value) in fields {
        assert_eq!(shown[name].take(), value, "{name}");
    }
    let shown = by_id(&agents, draining.id());
    assert_eq!((&shown["state"], &shown["is_isolated"]), (&json!("draining"), &json!(true)));
    assert_eq!(by_id(&agents, silent.id())["state"], "offline");
    let all = server.json(&["agents", "--all"]).await;
    assert_eq!((all.len(), &by_id(&all, revoked.id())["state"]), (4, &json!("revoked")));

    // One that is cut off from its network is not alive.
    let locations = server.json(&["locations"]).await;
    assert_eq!(by_id(&locations, location)["health"], json!({"agents": 3, "alive": 1, "state": "alive"}));
    assert_eq!(by_id(&locations, away)["health"], json!({"agents": 0, "alive": 0, "state": "away"}));
    let (table, _) = server.vigie(&["locations"]).await;
    let line = table.lines().find(|line| line.contains("north")).unwrap();
    assert!(line.ends_with("1 of 3") && line.contains("alive"), "{table}");
    let (table, _) = server.vigie(&["agents", "--location", &location.to_string()]).await;
    let line = table.lines().find(|line| line.starts_with(&online.id().to_string())).unwrap();
    for text in ["rack 7", "north", "online", "1.3.0", "-12 ms", "3 ms", "800", "3"] {
        assert!(line.contains(text), "{text}: {table}");
    }
    let (table, note) = server.vigie(&["agents", "--location", &away.to_string()]).await;
    assert!(table.is_empty() && note.contains("hint: `vigie help many-hosts`"), "{table}{note}");

    let metrics = server.metrics();
    let (id, draining_id) = (online.id(), draining.id());
    for line in [
        format!(r#"vigie_agent_online{{location_id="{location}",agent_id="{id}"}} 1.0"#),
        format!(r#"vigie_agent_clock_offset_seconds{{location_id="{location}",agent_id="{id}"}} -0.012345"#),
        format!(r#"vigie_agent_spool_results{{location_id="{location}",agent_id="{draining_id}"}} 40.0"#),
        format!(r#"vigie_agent_results_waiting{{location_id="{location}",agent_id="{draining_id}"}} 3.0"#),
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line} is missing in {metrics}");
    }
    assert_eq!(metrics.matches("vigie_agent_online{").count(), 2, "{metrics}");
    drop(nats);
}
