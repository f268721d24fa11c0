//! The values that a field accepts in this account, and the dependencies between fields (fields.md 2 and 3).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use vigie::domain::MonitorType as T;
use vigie::schema::field::Field;
use vigie::syntax::text_format::TextFormat;

use crate::api_fields::valid_values;
use crate::api_fields::world::{Property, World, location};

/// The values of every settable field that must be sent.
pub struct Cases {
    pub fields: Vec<(&'static Field, Vec<Value>)>,
    /// Names and indexes of the values that were sent.
    sent: BTreeSet<(&'static str, usize)>,
}

impl Cases {
    pub fn new(world: &World) -> Self {
        let cases = |field: &'static Field| {
            let values = account_values(world, field).unwrap_or_else(|| valid_values::for_field(field));
            let mut unique: Vec<Value> = Vec::new();
            for case in values {
                if !unique.contains(&case) {
                    unique.push(case);
                }
            }
            (field, unique)
        };
        Self { fields: world.settable().into_iter().map(cases).collect(), sent: BTreeSet::new() }
    }

    /// Returns the indexes of the values that were not sent yet, by field.
    pub fn remaining(&self) -> BTreeMap<&'static str, Vec<usize>> {
        let left = |(field, cases): &(&'static Field, Vec<Value>)| {
            let left: Vec<_> =
                (0..cases.len()).filter(|at| !self.sent.contains(&(field.name, *at))).collect();
            (!left.is_empty()).then_some((field.name, left))
        };
        self.fields.iter().filter_map(left).collect()
    }

    /// Returns a body with the next value of every field, and null or the shortest value for fields without a next one.
    pub fn next(&mut self, world: &World) -> Map<String, Value> {
        let remaining = self.remaining();
        let fallback = |cases: &[Value]| cases.iter().position(Value::is_null).unwrap_or(0);
        let at = |field: &Field, cases: &[Value]| {
            remaining.get(field.name).map_or(fallback(cases), |left| left[0])
        };
        let mut body: Map<String, Value> = self
            .fields
            .iter()
            .map(|(field, cases)| (field.name.to_owned(), cases[at(field, cases)].clone()))
            .collect();
        resolve_dependencies(world, &mut body, &remaining.keys().copied().collect());
        for (field, cases) in &self.fields {
            if let Some(at) = cases.iter().position(|case| case == &body[field.name]) {
                self.sent.insert((field.name, at));
            }
        }
        body
    }
}

fn at_locations(ids: &[i64]) -> Value {
    let shown = |id: &i64| json!({"id": id, "name": location(*id), "region": id});
    ids.iter().map(shown).collect()
}

/// Returns the values of fields that reference objects of the account, or that depend on the type.
fn account_values(world: &World, field: &Field) -> Option<Vec<Value>> {
    let (first, second) = (&world.properties[0], &world.properties[1]);
    let property = |(id, _, values): &Property, at: usize| json!({"id": id, "value_id": values[at].0});
    let scheme = |prefix: &str| -> Vec<Value> {
        let urls = valid_values::for_field(field).into_iter();
        urls.map(|url| url.as_str().map_or(Value::Null, |url| json!(url.replacen("http://", prefix, 1))))
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
        "depends_on" => {
            vec![json!([]), json!([world.parents[0]]), json!(world.parents), Value::Null]
        }
        // The settings define no proxies.
        "proxy_id" => vec![Value::Null],
        "monitor_location_count" => vec![json!(0), Value::Null],
        "url" if world.kind == T::WebsiteSsl => {
            let longest =
                valid_values::of_length(TextFormat::HttpUrl, 65534).unwrap().replacen("http", "https", 1);
            let urls = scheme("https://").into_iter();
            urls.filter(|url| url.as_str().unwrap().chars().count() < 65535).chain([json!(longest)]).collect()
        }
        _ => return None,
    })
}

/// Makes `body` valid. Of two fields in conflict, one with values still to send keeps its value.
fn resolve_dependencies(world: &World, body: &mut Map<String, Value>, remaining: &BTreeSet<&str>) {
    let set = |body: &mut Map<String, Value>, name: &str, value: Value| {
        body.insert(name.to_owned(), value);
    };
    let is = |body: &Map<String, Value>, name: &str| body.get(name).is_some_and(|value| !value.is_null());
    if !world.is_mobile() {
        let several = body["mode"] == "Round Robin" || body["mode"] == "SLA (MultiPOP)";
        if several && location_ids(body).len() < 2 {
            set(body, "locations", at_locations(&[3, 1, 2]));
        }
        if let Some(home) = body["home_location"].as_i64().filter(|home| !location_ids(body).contains(home)) {
            let home = if home == 1 { Value::Null } else { at_locations(&[home, 1]) };
            let name = if home.is_null() || several { "home_location" } else { "locations" };
            set(body, name, if several { Value::Null } else { home });
        }
        if body["mode"] == "Primary" && body["rotate_locations"] == true {
            set(body, "rotate_locations", json!(false));
        }
    }
    if body.get("interval_seconds").is_some_and(|seconds| !seconds.is_null()) {
        if remaining.contains("interval_seconds") {
            set(body, "interval", json!(1));
        } else {
            set(body, "interval_seconds", Value::Null);
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
        && !["POST", "PUT", "PATCH", "DELETE"].map(Value::from).contains(&body["http_method"])
    {
        if remaining.contains("post_body") {
            set(body, "http_method", json!("POST"));
        } else {
            set(body, "post_body", Value::Null);
        }
    }
    match world.kind {
        T::WebsiteApi | T::WebsiteSslApi => {
            // Either form is allowed, not both.
            if remaining.contains("api_steps") && is(body, "api_steps")
                || !is(body, "url") && !remaining.contains("url")
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
            let url = !remaining.contains("url");
            set(body, if url { "url" } else { "script" }, json!(if url { "http://a" } else { "<a/>" }));
        }
        // Only a push needs no host.
        T::HostAgent if body["report"] != "push" && body["host_id"].as_str().is_none_or(str::is_empty) => {
            let host = !remaining.contains("host_id");
            set(body, if host { "host_id" } else { "report" }, json!(if host { "db1" } else { "push" }));
        }
        T::SecurityScan if !is(body, "url") && !is(body, "hostname") => {
            let url = !remaining.contains("url");
            set(body, if url { "url" } else { "hostname" }, json!(if url { "http://a" } else { "a" }));
        }
        _ => {}
    }
}

fn named_host(body: &Map<String, Value>) -> bool {
    body["name_to_resolve"].as_str().is_some_and(|name| !name.is_empty())
}

/// Returns the ids of the locations of a monitor with `body`: its own, or the account's default, which is the first.
pub fn location_ids(body: &Map<String, Value>) -> Vec<i64> {
    let own: Vec<i64> = body
        .get("locations")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(|at| at["id"].as_i64().unwrap())
        .collect();
    if own.is_empty() { vec![1] } else { own }
}
