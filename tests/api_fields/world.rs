//! One monitor type in its own account, with the objects that its fields may reference.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use serde_json::{Map, Value, json};
use vigie::domain::{CustomerId, MonitorId, MonitorType, Role};
use vigie::schema::field::{Access, Field};
use vigie::schema::{MonitorDocument, table};

use crate::legacy::support::{Someone, outcome, someone};
use crate::support::app::{App, Client, example};
use crate::support::tls_server::Authority;

/// Returns the name of a location of [`App`]; its region is its id.
pub fn location(id: i64) -> &'static str {
    match id {
        1 => "Home",
        2 => "Away",
        _ => "Far",
    }
}

/// A property: its id, its name, and its values with their ids.
pub type Property = (i64, &'static str, Vec<(i64, &'static str)>);

pub struct World {
    pub kind: MonitorType,
    pub app: App,
    pub v3: Client,
    pub legacy: Someone,
    /// The properties with their names and values.
    pub properties: Vec<Property>,
    pub client: i64,
    pub authority: i64,
    /// Ids of monitors that others may depend on.
    pub parents: Vec<i64>,
    /// Fields that were sent.
    pub covered: BTreeSet<&'static str>,
    /// Descriptions of failed checks.
    pub problems: Vec<String>,
}

fn certificates() -> &'static (String, String) {
    static PEM: OnceLock<(String, String)> = OnceLock::new();
    PEM.get_or_init(|| {
        let authority = Authority::new("walk");
        (authority.issue(&["walk.test"], (2020, 2090)).pem(), authority.pem())
    })
}

impl World {
    pub async fn new(kind: MonitorType) -> Self {
        let app = App::start_quick().await;
        let v3 = app.login(Role::Admin).await;
        let legacy = someone(&app, CustomerId(1), Role::Admin, json!({})).await;
        let (client, authority) = certificates();
        let certificate = async |kind: &str, pem: &str| {
            v3.post("/certificates", json!({"name": "walk", "kind": kind, "pem": pem})).await.id()
        };
        let (client, authority) =
            (certificate("client", client).await, certificate("authority", authority).await);
        let mut properties = Vec::new();
        for (name, values) in [("colour", ["red", "blue"]), ("größe", ["klein", "groß"])] {
            let values_json: Vec<_> = values.iter().map(|value| json!({"value": value})).collect();
            let id = v3.post("/properties", json!({"name": name, "values": values_json})).await.id();
            let shown = v3.get(&format!("/properties/{id}")).await.expect(200);
            let ids = shown["values"].as_array().unwrap().iter().map(|value| value["id"].as_i64().unwrap());
            properties.push((id, name, ids.zip(values).collect()));
        }
        let (covered, problems) = (BTreeSet::new(), Vec::new());
        let mut parents = Vec::new();
        for number in 0..vigie::schema::table::shared::MAX_PARENTS {
            let body = crate::support::app::website(&format!("parent {number}"), json!({}));
            parents.push(v3.post("/monitors/website", body).await.id());
        }
        Self { kind, app, v3, legacy, properties, client, authority, parents, covered, problems }
    }

    pub fn fields(&self) -> Vec<&'static Field> {
        table::for_type(self.kind).fields().to_vec()
    }

    /// Returns the fields that can be set through at least one of the APIs.
    pub fn settable(&self) -> Vec<&'static Field> {
        self.fields().into_iter().filter(|field| field.is_settable()).collect()
    }

    pub fn read_only(&self) -> Vec<&'static Field> {
        self.fields().into_iter().filter(|field| field.access == Access::ReadOnly).collect()
    }

    /// Returns a body of version 3 that creates a monitor.
    pub fn base(&self) -> Map<String, Value> {
        let mut body = example(self.kind);
        let fields = body.as_object_mut().unwrap();
        fields.shift_remove("type");
        if fields.contains_key("assertions") {
            // Turns the form of one request into the form of steps.
            fields.retain(|name, _| !matches!(name.as_str(), "url" | "http_method" | "assertions"));
            fields.insert("api_steps".to_owned(), json!([{"url": "http://a", "step_name": "s"}]));
        }
        fields.clone()
    }

    pub fn is_mobile(&self) -> bool {
        matches!(self.kind, MonitorType::MobileCloud | MonitorType::MobileLab)
    }

    /// Whether the legacy API knows the type.
    pub fn in_legacy_api(&self) -> bool {
        self.kind != MonitorType::CollectionApi
    }

    pub fn legacy_creates(&self) -> bool {
        self.in_legacy_api() && !matches!(self.kind, MonitorType::MobileLab | MonitorType::Selenium)
    }

    pub fn site_type(&self) -> &'static str {
        if self.kind == MonitorType::ApiProject { "apiproject" } else { self.kind.name() }
    }

    pub fn path(&self) -> String {
        format!("/monitors/{}", self.kind)
    }

    pub fn document(&self, id: i64) -> MonitorDocument {
        (*self.app.state.monitor_service.monitor_cache().get(MonitorId(id)).unwrap().document).clone()
    }

    pub fn problem(&mut self, description: &str) {
        if self.problems.len() < 40 {
            self.problems.push(format!("{}: {}", self.kind, truncate(description)));
        }
    }

    /// Compares field by field.
    pub fn compare(&mut self, context: &str, actual: &Map<String, Value>, expected: &Map<String, Value>) {
        let names: BTreeSet<&String> = actual.keys().chain(expected.keys()).collect();
        for name in names {
            if actual.get(name) != expected.get(name) {
                let describe = |value: Option<&Value>| {
                    value.map_or_else(|| "nothing".to_owned(), |value| truncate(&value.to_string()))
                };
                self.problem(&format!(
                    "{context}: `{name}` is {}, not {}",
                    describe(actual.get(name)),
                    describe(expected.get(name))
                ));
            }
        }
    }

    /// Reads the object of version 3.
    pub async fn read_v3(&mut self, id: i64) -> Map<String, Value> {
        let shown = self.v3.get(&format!("/monitors/{id}")).await.expect(200);
        shown.as_object().unwrap().clone()
    }

    /// Reads the legacy record.
    pub async fn read_legacy(&mut self, id: i64, scripts: bool) -> Map<String, Value> {
        let scripts = if scripts { "&show_scripts=1" } else { "" };
        let response = self.legacy.get(&format!("/devices?id={id}{scripts}")).await;
        assert_eq!(outcome(&response), ("0", "No errors."), "{}", self.kind);
        response["results"][0].as_object().unwrap().clone()
    }
}

fn truncate(text: &str) -> String {
    if text.chars().count() <= 400 {
        return text.to_owned();
    }
    let head: String = text.chars().take(250).collect();
    let tail: Vec<char> = text.chars().rev().take(100).collect();
    format!("{head} … {}", tail.into_iter().rev().collect::<String>())
}
