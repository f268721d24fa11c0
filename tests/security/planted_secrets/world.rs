//! A server with a secret in each place that has one, and everything that can be read from it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use nix::sys::signal::Signal;
use rustls::ServerConfig;
use serde_json::{Value, json};
use vigie::domain::{MonitorId, MonitorType, NotificationMethod, Role, Timestamp};
use vigie::schedule::SlotGrid;

use super::crawl::{Caller, Pages, id_text};
use super::echoes::{self, Received, Repeated};
use super::monitors::{behind_proxies, template};
use super::plants::{PLACEHOLDER, Plants, secret_places};
use super::settings::settings;
use crate::daemon::process::{Daemon, command, folder};
use crate::support::tls_server::{Authority, config};

/// The name of callers without a login.
pub const EVERYBODY: &str = "everybody";

/// When the scheduled checks of the test have to start, from its begin.
const SLOTS: std::ops::Range<u64> = 3..9;

/// A user of one role.
struct User {
    login: String,
    password: String,
    token: String,
}

pub struct World {
    pub plants: Plants,
    pub server: Daemon,
    /// Ids of the monitors.
    pub monitors: BTreeMap<MonitorType, String>,
    /// Ids of the monitors that are checked by the minute.
    scheduled: Vec<String>,
    users: Vec<User>,
    /// Bodies of webhooks and mails.
    pub messages: Received,
    /// Responses to calls that change something, by what was called.
    pub responses: Vec<(String, String)>,
    tls: Arc<ServerConfig>,
    webhook_port: u16,
}

impl World {
    /// Starts a server whose settings hold secrets.
    pub fn start(log_filter: &str) -> Self {
        let mut plants = Plants::default();
        let folder = folder("");
        let authority = Authority::new("test authority");
        let identity = authority.issue(&["127.0.0.1"], (2020, 2090));
        let tls = Arc::new(config(&identity, &[&rustls::version::TLS13, &rustls::version::TLS12], None));
        let (messages, repeated) = (Received::default(), Repeated::default());
        let settings = settings(&mut plants, folder.path(), &authority, &messages, &repeated);
        std::fs::write(folder.path().join("vigie.yaml"), settings).unwrap();
        let mut command = command(folder.path());
        command.arg("--config").arg(folder.path().join("vigie.yaml")).env("VIGIE_LOG_LEVEL", log_filter);
        let server = Daemon::from_child(command.spawn().unwrap(), folder);
        let webhook_port = echoes::serve(echoes::webhook, &repeated, &messages, None);
        Self {
            plants,
            server,
            monitors: BTreeMap::new(),
            scheduled: Vec::new(),
            users: Vec::new(),
            messages,
            responses: Vec::new(),
            tls,
            webhook_port,
        }
    }

    /// Calls the API and keeps the response.
    pub fn call(&mut self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let (status, response) = self.server.call(method, path, body);
        self.responses.push((format!("{method} {path}"), response.to_string()));
        (status, response)
    }

    fn create(&mut self, path: &str, body: &Value) -> String {
        let (status, response) = self.call("POST", path, body);
        assert_eq!(status, 200, "{path}: {response} for {body}");
        response["id"].as_str().unwrap().to_owned()
    }

    /// Adds a user of each role, who logs in.
    pub fn add_users(&mut self) {
        for role in Role::NAMES {
            let (login, password) = (format!("user-{role}"), self.plants.plant("User.password"));
            let body = json!({"login": login, "role": role, "password": password});
            self.create("/users", &body);
            self.plants.add("Login.password", &password);
            let (status, response) =
                self.call("POST", "/access-tokens", &json!({"username": login, "password": password}));
            assert_eq!(status, 200, "{response}");
            // A token is shown to its owner, once.
            self.responses.pop();
            let token = response["access_token"].as_str().unwrap().to_owned();
            self.plants.add("token", &token);
            self.users.push(User { login, password, token });
        }
        let wrong = self.plants.plant("User.current_password");
        let body = json!({"password": self.plants.plant("User.password"), "current_password": wrong});
        let (_, users) = self.call("GET", "/users", &Value::Null);
        let id = users["results"].as_array().unwrap().last().unwrap()["id"].clone();
        let token = self.users.last().unwrap().token.clone();
        let path = format!("/users/{}", id_text(&id).unwrap());
        let (_, response) = self.server.call_with_token(&token, "PATCH", &path, &body);
        self.responses.push(("PATCH /users".to_owned(), response.to_string()));
    }

    /// Tries to enrol agents, which a server without NATS refuses, and so are their fields.
    pub fn try_to_enrol(&mut self) {
        let mut body = json!({"name": "rack 7", "public_key": "U", "exchange_key": "X", "version": "1"});
        body["secret"] = json!(self.plants.plant("AgentEnrolment.secret"));
        let (status, response) = self.call("POST", "/agents/enrol", &body);
        assert_eq!(status, 409, "{response}");
        body["name"] = json!(1);
        let (status, response) = self.call("POST", "/agents/enrol", &body);
        assert_eq!(status, 400, "{response}");
    }

    /// Adds a recipient for each method. Its receiver repeats what it gets.
    pub fn add_recipients(&mut self) {
        for (method, id, _) in NotificationMethod::ALL {
            let webhook =
                format!("http://127.0.0.1:{}/hooks/{PLACEHOLDER}?key={PLACEHOLDER}", self.webhook_port);
            let (address, username) = match method {
                NotificationMethod::MailText => ("refused@vigie.test".to_owned(), ""),
                NotificationMethod::MailHtml => ("anna@vigie.test".to_owned(), ""),
                NotificationMethod::Sms => ("+49 30 123".to_owned(), ""),
                NotificationMethod::SnmpV1 | NotificationMethod::SnmpV2c => {
                    (format!("127.0.0.1:{}", echoes::sink()), PLACEHOLDER)
                }
                _ => (webhook, "monitor"),
            };
            let mut body = json!({
                "name": format!("recipient {id}"), "method_id": id, "recipient": address, "password": PLACEHOLDER,
                "notify_on_clear": true, "attach_server_response": true,
            });
            if !username.is_empty() {
                body["username"] = username.into();
            }
            self.plants.plant_in("Recipient", &mut body);
            self.create("/recipients", &body);
        }
    }

    /// Uploads a certificate with its key, and one that does not open.
    pub fn add_certificates(&mut self) {
        let identity = Authority::new("client authority").issue(&["client.test"], (2020, 2090));
        let key_line = identity.key.lines().nth(2).unwrap();
        self.plants.add("Certificate.pem", key_line);
        self.create("/certificates", &json!({"name": "c", "kind": "client", "pem": identity.pem()}));
        let mut body = json!({
            "name": "d", "kind": "client", "pkcs12": self.plants.plant("Certificate.pkcs12"),
            "password": PLACEHOLDER,
        });
        self.plants.plant_in("Certificate", &mut body);
        assert_eq!(self.call("POST", "/certificates", &body).0, 400);
    }

    /// Adds a monitor of each type, and some behind proxies, whose next scheduled check starts soon.
    pub fn add_monitors(&mut self) {
        let begin = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        for kind in MonitorType::ALL {
            let repeated = Repeated::default();
            let mut fields = template(*kind, &repeated, &self.tls);
            repeated.add(self.plants.plant_in(kind.name(), &mut fields));
            let id = self.add_monitor(*kind, fields, begin);
            self.monitors.insert(*kind, id);
        }
        for (kind, fields) in behind_proxies() {
            self.add_monitor(kind, fields, begin);
        }
    }

    fn add_monitor(&mut self, kind: MonitorType, mut fields: Value, begin: Duration) -> String {
        let at = |seconds| {
            let time = begin + Duration::from_secs(seconds);
            Timestamp::from_micros(i64::try_from(time.as_micros()).unwrap())
        };
        let is_scheduled = fields.get("interval").is_none() && fields.get("enabled").is_none();
        let fields_of_all = [
            ("billing_plancode", json!("basic")),
            ("name", json!(format!("planted {kind}"))),
            ("retry_on_failure", json!(false)),
            ("interval", json!(1)),
        ];
        for (name, value) in fields_of_all {
            fields.as_object_mut().unwrap().entry(name).or_insert(value);
        }
        loop {
            let id = self.create(&format!("/monitors/{kind}"), &fields);
            let grid = SlotGrid::new(MonitorId(id.parse().unwrap()), Duration::from_mins(1), None);
            if !is_scheduled || grid.first_slot_at_or_after(at(SLOTS.start)) < at(SLOTS.end) {
                if is_scheduled {
                    self.scheduled.push(id.clone());
                }
                return id;
            }
            self.call("DELETE", &format!("/monitors/{id}"), &Value::Null);
        }
    }

    /// Sends secrets where they are refused, and where they replace others.
    pub fn edit_monitors(&mut self) {
        let places: Vec<String> = MonitorType::ALL.iter().flat_map(|kind| secret_places(*kind)).collect();
        for place in places {
            let (kind, field) = place.split_once('.').unwrap();
            let id = self.monitors[&MonitorType::from_name(kind).unwrap()].clone();
            let secret = self.plants.plant(&place);
            let mut values = vec![json!([secret]), json!(format!("{secret}{}", "x".repeat(100_000)))];
            if field.ends_with("url") {
                values.push(json!(format!("http://monitor:{secret}@127.0.0.1/")));
            }
            for value in values {
                let value = field.rsplit('.').fold(value, |value, name| json!({name: value}));
                let (status, _) = self.call("PATCH", &format!("/monitors/{kind}/{id}"), &value);
                assert_eq!(status, 400, "{place}");
            }
        }
        let mut body = json!({
            "monitors": [{"id": self.monitors[&MonitorType::Website]}],
            "current_value": PLACEHOLDER, "new_value": PLACEHOLDER,
        });
        self.plants.plant_in("PasswordBulkEdit", &mut body);
        self.call("POST", "/monitors/bulk-edit-passwords", &body);
        let id = self.monitors[&MonitorType::MobileLab].clone();
        let rename = json!({"api_key": self.plants.plant("mobilelab.api_key"), "name": "renamed"});
        let (status, response) = self.call("PATCH", &format!("/monitors/mobilelab/{id}"), &rename);
        assert_eq!(status, 200, "{response}");
    }

    /// Orders a test of each monitor, as many as are taken.
    pub fn order_tests(&mut self) {
        for id in self.scheduled.clone() {
            let (status, response) = self.call("POST", &format!("/tests?monitor_id={id}"), &json!({}));
            assert!([200, 429].contains(&status), "{response}");
        }
    }

    /// Waits until each monitor has a scheduled result, and each recipient a message or an error.
    pub fn wait_for_results(&mut self) {
        let until = Instant::now() + Duration::from_mins(2);
        let mut missing = String::new();
        while Instant::now() < until {
            let (_, results) = self.server.call("GET", "/results?limit=200", &Value::Null);
            let of = |name: &str, list: &Value| -> BTreeSet<String> {
                let list = list["results"].as_array().cloned().unwrap_or_default();
                list.iter().filter_map(|object| id_text(&object[name])).collect()
            };
            let checked = of("monitor_id", &results);
            let (_, notifications) = self.server.call("GET", "/notifications?limit=500", &Value::Null);
            let list = notifications["results"].as_array().cloned().unwrap_or_default();
            let attempted: BTreeSet<_> = list
                .iter()
                .filter(|entry| entry["attempts"].as_i64().is_some_and(|attempts| attempts > 0))
                .filter_map(|entry| id_text(&entry["recipient_id"]))
                .collect();
            let unchecked: Vec<_> = self.scheduled.iter().filter(|id| !checked.contains(*id)).collect();
            if unchecked.is_empty() && attempted.len() == NotificationMethod::ALL.len() {
                return;
            }
            missing = format!("monitors {unchecked:?} of {:?}, or not tried: {attempted:?}", self.monitors);
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("without a result: {missing}");
    }

    /// Returns everything that callers are shown: each role, and everybody.
    pub fn shown(&self) -> Pages {
        let mut pages = Pages::new();
        let everybody = Caller { name: EVERYBODY.to_owned(), server: &self.server, headers: String::new() };
        everybody.crawl_api(&mut pages);
        everybody.crawl_pages(&mut pages);
        for link in self.share_results() {
            everybody.open_link(&link, &mut pages);
        }
        for User { login, password, token } in &self.users {
            let headers = format!("Authorization: Bearer {token}\r\n");
            let caller = Caller { name: login.clone(), server: &self.server, headers };
            caller.crawl_api(&mut pages);
            caller.crawl_captures(&mut pages);
            caller.crawl_pages(&mut pages);
            caller.crawl_legacy_api(login, password, &mut pages);
        }
        pages.extend(self.responses.iter().cloned());
        pages
    }

    /// Shares the newest results; returns the paths of the links.
    fn share_results(&self) -> Vec<String> {
        let (_, results) = self.server.call("GET", "/results?limit=60", &Value::Null);
        let share = |result: &Value| {
            let path = format!("/results/{}/share", result["check_id"].as_str().unwrap());
            let (status, share) = self.server.call("POST", &path, &json!({}));
            assert_eq!(status, 201, "{share}");
            share["url"].as_str().unwrap().to_owned()
        };
        results["results"].as_array().unwrap().iter().map(share).collect()
    }

    /// Ends the server.
    pub fn stop(&mut self) {
        self.server.signal(Signal::SIGTERM);
        self.server.wait_for_exit();
    }
}
