//! Which values a field takes in this account, and what goes together with what (fields.md 2 and 3).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use vigie::domain::MonitorType as T;
use vigie::schema::field::Field;
use vigie::syntax::text_format::TextFormat;

use crate::api_fields::good;
use crate::api_fields::world::{Property, World, location};

/// The values of every settable field that have to be walked.
pub struct Cases {
    pub fields: Vec<(&'static Field, Vec<Value>)>,
    /// Those that were sent.
    done: BTreeSet<(&'static str, usize)>,
}

impl Cases {
    pub fn of(world: &World) -> Self {
        let cases = |field: &'static Field| {
            let found = named(world, field).unwrap_or_else(|| good::of(field));
            let mut unique: Vec<Value> = Vec::new();
            for case in found {
                if !unique.contains(&case) {
                    unique.push(case);
                }
            }
            (field, unique)
        };
        Self { fields: world.settable().into_iter().map(cases).collect(), done: BTreeSet::new() }
    }

    /// What is left to be walked.
    pub fn open(&self) -> BTreeMap<&'static str, Vec<usize>> {
        let left = |(field, cases): &(&'static Field, Vec<Value>)| {
            let left: Vec<_> =
                (0..cases.len()).filter(|at| !self.done.contains(&(field.name, *at))).collect();
            (!left.is_empty()).then_some((field.name, left))
        };
        self.fields.iter().filter_map(left).collect()
    }

    /// A body with the next value of every field; of those that are through none, or the shortest.
    pub fn next(&mut self, world: &World) -> Map<String, Value> {
        let open = self.open();
        let quiet = |cases: &[Value]| cases.iter().position(Value::is_null).unwrap_or(0);
        let at = |field: &Field, cases: &[Value]| open.get(field.name).map_or(quiet(cases), |left| left[0]);
        let mut body: Map<String, Value> = self
            .fields
            .iter()
            .map(|(field, cases)| (field.name.to_owned(), cases[at(field, cases)].clone()))
            .collect();
        tie(world, &mut body, &open.keys().copied().collect());
        for (field, cases) in &self.fields {
            if let Some(at) = cases.iter().position(|case| case == &body[field.name]) {
                self.done.insert((field.name, at));
            }
        }
        body
    }
}

fn at_locations(ids: &[i64]) -> Value {
    let shown = |id: &i64| json!({"id": id, "name": location(*id), "region": id});
    ids.iter().map(shown).collect()
}

/// The values of fields that name something of the account, or that depend on the type.
fn named(world: &World, field: &Field) -> Option<Vec<Value>> {
    let (first, second) = (&world.properties[0], &world.properties[1]);
    let property = |(id, _, values): &Property, at: usize| json!({"id": id, "value_id": values[at].0});
    let scheme = |wanted: &str| -> Vec<Value> {
        let urls = good::of(field).into_iter();
        urls.map(|url| url.as_str().map_or(Value::Null, |url| json!(url.replacen("http://", wanted, 1))))
            .collect()
    };
    Some(match field.name {
        "locations" => vec![
            json!([]),
            at_locations(&[2]),
            json!([{"id": 1}, {"id": 2}]),
            at_locations(&[3, 1, 2]),
            Value::Null,
        ],
        "home_location" if world.is_mobile() => vec![json!(1), json!(i64::MAX), Value::Null],
        "home_location" => vec![json!(1), json!(2), json!(3), Value::Null],
        "custom_properties" => vec![
            json!([]),
            json!([property(first, 0)]),
            json!([property(second, 1), property(first, 1)]),
            Value::Null,
        ],
        "ssl_cert_id" => vec![json!(world.client), Value::Null],
        "ca_cert_id" => vec![json!(world.authority), Value::Null],
        // The settings have no proxies.
        "proxy_id" => vec![Value::Null],
        "monitor_location_count" => vec![json!(0), Value::Null],
        "url" if world.kind == T::WebsiteSsl => {
            let longest = good::of_length(TextFormat::HttpUrl, 65534).unwrap().replacen("http", "https", 1);
            let urls = scheme("https://").into_iter();
            urls.filter(|url| url.as_str().unwrap().chars().count() < 65535).chain([json!(longest)]).collect()
        }
        _ => return None,
    })
}

/// Makes `body` whole. A field with values that are left to be walked keeps its own where two are at odds.
fn tie(world: &World, body: &mut Map<String, Value>, open: &BTreeSet<&str>) {
    let set = |body: &mut Map<String, Value>, name: &str, value: Value| {
        body.insert(name.to_owned(), value);
    };
    let is = |body: &Map<String, Value>, name: &str| body.get(name).is_some_and(|value| !value.is_null());
    if !world.is_mobile() {
        let several = body["mode"] == "Round Robin" || body["mode"] == "SLA (MultiPOP)";
        if several && pool(body).len() < 2 {
            set(body, "locations", at_locations(&[3, 1, 2]));
        }
        if let Some(home) = body["home_location"].as_i64().filter(|home| !pool(body).contains(home)) {
            let home = if home == 1 { Value::Null } else { at_locations(&[home, 1]) };
            let name = if home.is_null() || several { "home_location" } else { "locations" };
            set(body, name, if several { Value::Null } else { home });
        }
        if body["mode"] == "Primary" && body["rotate_locations"] == true {
            set(body, "rotate_locations", json!(false));
        }
    }
    for address in ["ipv4", "ip_address"] {
        if body.get("resolve_dns") == Some(&json!(false)) && body.get(address) == Some(&Value::Null) {
            set(body, address, json!("192.0.2.1"));
        }
    }
    if body.get("use_client_ssl_cert") == Some(&json!(true)) {
        set(body, "ssl_cert_id", json!(world.client));
    }
    if body.get("name_to_resolve_id").and_then(Value::as_i64).is_some_and(|id| id > 0) && !named_host(body) {
        set(body, "name_to_resolve", json!("a"));
    }
    if body.get("post_body").is_some_and(|post| !post.is_null() && post != "")
        && body["http_method"] != "POST"
    {
        if open.contains("post_body") {
            set(body, "http_method", json!("POST"));
        } else {
            set(body, "post_body", Value::Null);
        }
    }
    match world.kind {
        T::WebsiteApi | T::WebsiteSslApi => {
            // Either of the two forms.
            if open.contains("api_steps") && is(body, "api_steps")
                || !is(body, "url") && !open.contains("url")
            {
                if !is(body, "api_steps") {
                    set(body, "api_steps", json!([{"url": "http://a", "step_name": "s"}]));
                }
                for name in ["url", "http_method", "assertions"] {
                    set(body, name, Value::Null);
                }
            } else {
                set(body, "api_steps", Value::Null);
                if !is(body, "url") {
                    set(body, "url", json!("http://a"));
                }
            }
        }
        T::BrowserScript if !is(body, "url") && !is(body, "script") => {
            let url = !open.contains("url");
            set(body, if url { "url" } else { "script" }, json!(if url { "http://a" } else { "<a/>" }));
        }
        T::SecurityScan if !is(body, "url") && !is(body, "hostname") => {
            let url = !open.contains("url");
            set(body, if url { "url" } else { "hostname" }, json!(if url { "http://a" } else { "a" }));
        }
        _ => {}
    }
}

fn named_host(body: &Map<String, Value>) -> bool {
    body["name_to_resolve"].as_str().is_some_and(|name| !name.is_empty())
}

/// Ids of where a monitor of `body` runs; without its own, at the account's default, which is the first.
pub fn pool(body: &Map<String, Value>) -> Vec<i64> {
    let own: Vec<i64> = body
        .get("locations")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(|at| at["id"].as_i64().unwrap())
        .collect();
    if own.is_empty() { vec![1] } else { own }
}
