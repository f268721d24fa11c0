//! A server of NATS as `vigie nats init` sets it up, the application beside it, and agents.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_nats::{Client as Nats, Event};
use serde_json::{Value, json};
use tempfile::TempDir;
use vigie::bus::nats::{AgentCredential, NewCredential, subjects};
use vigie::clock::{Clock, SystemClock};
use vigie::domain::Role;

use crate::support::app::{App, Client};
use crate::support::binary::{err, vigie};
use crate::support::daemon::free_port;
use crate::support::nats::NatsServer;

/// How long something may take that happens at once.
pub const SOON: Duration = Duration::from_secs(20);

/// NATS, the application and its admin.
pub struct Kit {
    pub app: App,
    pub admin: Client,
    pub nats: NatsServer,
    _server_folder: TempDir,
}

/// Runs `vigie nats init` for a new data folder; returns the port.
pub fn init(server_folder: &Path, data: &Path, more: &[&str]) -> u16 {
    let port = free_port();
    let text = port.to_string();
    let (folder, data) = (server_folder.to_str().unwrap(), data.to_str().unwrap());
    let output = vigie(&[&["nats", "init", folder, "--port", &text, "--data", data], more].concat());
    assert!(output.status.success(), "{}", err(&output));
    port
}

impl Kit {
    pub async fn start() -> Self {
        let (server_folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let port = init(server_folder.path(), data.path(), &[]);
        let nats = NatsServer::start_from(&server_folder.path().join("nats.conf"), port);
        // The server of NATS compares the times in tokens with its own clock.
        let app = App::over(data, SystemClock.now().as_micros() / 1_000_000).await;
        let admin = app.login(Role::Admin).await;
        Self { app, admin, nats, _server_folder: server_folder }
    }

    /// Creates a location; returns its id and the first enrolment secret.
    pub async fn location(&self, name: &str) -> (i64, String) {
        let created = self.admin.post("/locations", json!({"name": name})).await.expect(200);
        let id = created["id"].as_str().unwrap().parse().unwrap();
        (id, created["enrolment_secret"].as_str().unwrap().to_owned())
    }

    /// Makes another enrolment secret.
    pub async fn secret(&self, location: i64) -> String {
        let path = format!("/locations/{location}/enrolment-secrets");
        let made = self.admin.post(&path, json!({})).await.expect(200);
        made["enrolment_secret"].as_str().unwrap().to_owned()
    }

    /// Enrols an agent.
    pub async fn enrol(&self, secret: &str) -> Agent {
        let folder = tempfile::tempdir().unwrap();
        let keys = NewCredential::create(folder.path()).unwrap();
        let grant = self.app.anonymous().post("/agents/enrol", enrolment(&keys, secret)).await.expect(200);
        let server = ("http://127.0.0.1:1".to_owned(), String::new());
        let credential = keys.save(folder.path(), server, serde_json::from_value(grant).unwrap()).unwrap();
        Agent { credential, folder }
    }

    /// Connects as the control plane.
    pub async fn control(&self) -> Nats {
        let trust = self.app.state.agent_service.trust().unwrap();
        let login = trust.control_login(Arc::new(SystemClock)).unwrap();
        login.connect_options().unwrap().connect(&trust.urls).await.unwrap()
    }
}

/// Waits until the server has handled all that the control plane sent, and sent all that it has for it. `flush` of the client
/// waits for the socket only.
pub async fn settle_control(control: &Nats) {
    control.request("$JS.API.INFO", "".into()).await.unwrap();
}

/// Returns the body of an enrolment.
pub fn enrolment(keys: &NewCredential, secret: &str) -> Value {
    json!({
        "secret": secret,
        "name": "rack 7",
        "public_key": keys.public_key(),
        "exchange_key": keys.exchange_public_key(),
        "version": "1.2.3",
    })
}

/// An enrolled agent.
pub struct Agent {
    pub credential: AgentCredential,
    pub folder: TempDir,
}

/// A connection of an agent, and what happens to it.
pub struct Connection {
    pub client: Nats,
    events: Arc<Mutex<Vec<String>>>,
}

impl Agent {
    pub fn id(&self) -> i64 {
        self.credential.agent_id().0
    }

    pub fn data_keys(&self) -> BTreeMap<u32, Vec<u8>> {
        let keys = self.credential.data_keys().unwrap();
        keys.into_iter().map(|(number, key)| (number, key.to_vec())).collect()
    }

    pub async fn connect(&self) -> Connection {
        self.try_connect().await.unwrap()
    }

    pub async fn try_connect(&self) -> Result<Connection, async_nats::ConnectError> {
        let events = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&events);
        let options = self.credential.connect_options().unwrap().event_callback(move |event: Event| {
            seen.lock().unwrap().push(event.to_string().to_lowercase());
            std::future::ready(())
        });
        let client = options.connect(self.credential.nats_urls()).await?;
        Ok(Connection { client, events })
    }
}

impl Connection {
    /// Waits until the server has handled all that the agent sent.
    pub async fn settle(&self, agent: &Agent) {
        let consumer = subjects::assignments_consumer(agent.credential.agent_id());
        let (prefix, stream) = (subjects::AGENT_API_PREFIX, subjects::ASSIGNMENTS_STREAM);
        let subject = format!("{prefix}.CONSUMER.INFO.{stream}.{consumer}");
        self.client.request(subject, "".into()).await.unwrap();
    }

    /// Waits for an event whose text, in lower case, contains all of `texts`.
    pub async fn event(&self, texts: &[&str]) {
        let is_there = || {
            let events = self.events.lock().unwrap();
            events.iter().any(|event| texts.iter().all(|text| event.contains(text)))
        };
        let end = tokio::time::Instant::now() + SOON;
        while !is_there() {
            let events = || self.events.lock().unwrap().clone();
            assert!(tokio::time::Instant::now() < end, "no event {texts:?} in {:?}", events());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Publishes to `subject`, which must be refused.
    pub async fn cannot_publish(&self, subject: &str) {
        self.client.publish(subject.to_owned(), "x".into()).await.unwrap();
        self.client.flush().await.unwrap();
        self.event(&["publish", &format!("\"{}\"", subject.to_lowercase())]).await;
    }

    /// Subscribes to `subject`, which must be refused.
    pub async fn cannot_subscribe(&self, subject: &str) {
        let _subscriber = self.client.subscribe(subject.to_owned()).await.unwrap();
        self.client.flush().await.unwrap();
        self.event(&["subscription", &format!("\"{}\"", subject.to_lowercase())]).await;
    }
}
