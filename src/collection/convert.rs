//! A collection as steps of a `website-api` monitor, and what that would lose.

use serde_json::{Map, Value, json};

use super::convert_script::{ConvertedScript, convert_script};
use super::item::{Collection, ProtocolBehavior, RequestItem};
use super::scopes::{ScopeKind, VariableScopes};
use super::unsupported::UnsupportedItem;
use super::{body, request_url};

/// Most steps of a monitor (fields.md 2).
const MAX_STEPS: usize = 50;

/// A collection as a monitor with steps.
pub struct Conversion {
    /// The steps.
    pub steps: Vec<Value>,
    /// What the steps do not do, in the order of the file.
    pub losses: Vec<UnsupportedItem>,
}

/// Converts `collection`. The values of `environment` and of the collection take the place of their placeholders; names
/// that scripts set stay.
#[must_use]
pub fn convert_to_steps(collection: &Collection, environment: &[(String, Value)]) -> Conversion {
    let mut scopes = VariableScopes::default();
    scopes.set_entries(ScopeKind::Collection, collection.variables.clone());
    scopes.set_entries(ScopeKind::Environment, environment.to_vec());
    let mut converter = Converter { scopes, losses: collection.unsupported.clone() };
    let steps = collection.requests.iter().take(MAX_STEPS).map(|item| converter.step(item)).collect();
    if collection.requests.len() > MAX_STEPS {
        let more = collection.requests.len() - MAX_STEPS;
        converter
            .lose("", format!("{more} requests after the first {MAX_STEPS}: a monitor has no more steps"));
    }
    Conversion { steps, losses: converter.losses }
}

struct Converter {
    scopes: VariableScopes,
    losses: Vec<UnsupportedItem>,
}

impl Converter {
    fn lose(&mut self, place: &str, reason: impl Into<String>) {
        let (place, position) = (place.to_owned(), crate::syntax::node::Position::default());
        self.losses.push(UnsupportedItem { position, place, reason: reason.into() });
    }

    fn text(&self, text: &str) -> String {
        let dynamic = |name: &str| match name {
            "$guid" | "$randomUUID" => Some("{{$uuid}}".to_owned()),
            _ => None,
        };
        self.scopes.replace_in(text, &dynamic).into_owned()
    }

    fn value(&self, value: &Value) -> Value {
        self.scopes.replace_in_json(value, &|_| None)
    }

    fn step(&mut self, item: &RequestItem) -> Value {
        let names: Vec<&str> = item.folders.iter().chain([&item.name]).map(String::as_str).collect();
        let place = names.join(" / ");
        let url = self.text(&request_url::build(&item.request["url"]));
        let url = if url.contains("://") || url.starts_with("{{") { url } else { format!("http://{url}") };
        let mut step = Map::new();
        step.insert("step_name".to_owned(), Value::from(place.as_str()));
        step.insert("url".to_owned(), Value::from(url));
        match item.request["method"].as_str().unwrap_or("GET").to_uppercase().as_str() {
            method @ ("GET" | "POST" | "HEAD") => step.insert("http_method".to_owned(), Value::from(method)),
            method => {
                step.insert("custom_method".to_owned(), Value::from(method));
                step.insert("http_method".to_owned(), Value::from("CUSTOM"))
            }
        };
        let head = self.head(item, &place, &mut step);
        step.insert("head".to_owned(), head);
        self.body(item, &place, &mut step);
        self.behavior(item, &place, &mut step);
        self.scripts(item, &place, &mut step);
        Value::Object(step)
    }

    fn head(&mut self, item: &RequestItem, place: &str, step: &mut Map<String, Value>) -> Value {
        let header = self.value(&item.request["header"]);
        let mut headers: Vec<Value> = header
            .as_array()
            .into_iter()
            .flatten()
            .filter(|entry| entry["disabled"].as_bool() != Some(true))
            .map(|entry| json!({"name": entry["key"], "value": entry["value"].as_str().unwrap_or_default()}))
            .collect();
        let mut head = Map::new();
        let auth = item.auth.as_ref().map(|auth| self.value(auth)).unwrap_or(Value::Null);
        match super::auth::AuthMethod::from_json(&auth) {
            super::auth::AuthMethod::None => {}
            super::auth::AuthMethod::Basic { user, password } => {
                head.insert("http_basic_auth_username".to_owned(), Value::from(user));
                head.insert("http_basic_auth_password".to_owned(), Value::from(password));
                head.insert("preemptive_authentication".to_owned(), Value::from(true));
            }
            super::auth::AuthMethod::Digest { user, password } => {
                head.insert("http_basic_auth_username".to_owned(), Value::from(user));
                head.insert("http_basic_auth_password".to_owned(), Value::from(password));
            }
            super::auth::AuthMethod::Header { name, value } => match value.strip_prefix("Bearer ") {
                Some(token) if name == "Authorization" => {
                    head.insert("bearer_token".to_owned(), Value::from(token));
                }
                _ => headers.push(json!({"name": name, "value": value})),
            },
            super::auth::AuthMethod::Query { name, value } => {
                let url = step.get("url").and_then(Value::as_str).unwrap_or_default().to_owned();
                let sign = if url.contains('?') { '&' } else { '?' };
                step.insert("url".to_owned(), Value::from(format!("{url}{sign}{name}={value}")));
            }
            super::auth::AuthMethod::Aws(_) => {
                self.lose(place, "the login `awsv4`: steps do not sign requests")
            }
        }
        if !headers.is_empty() {
            head.insert("headers".to_owned(), Value::Array(headers));
        }
        Value::Object(head)
    }

    fn body(&mut self, item: &RequestItem, place: &str, step: &mut Map<String, Value>) {
        let body = self.value(&item.request["body"]);
        match body::render(&body, &[], "vigie-part") {
            Ok(Some(rendered)) => {
                let own_type = step["head"]["headers"].as_array().into_iter().flatten().find_map(|header| {
                    let is_type = header["name"].as_str()?.eq_ignore_ascii_case("content-type");
                    is_type.then(|| header["value"].as_str().map(str::to_owned)).flatten()
                });
                let content_type =
                    own_type.or(rendered.content_type).unwrap_or_else(|| "text/plain".to_owned());
                let text = String::from_utf8_lossy(&rendered.content).into_owned();
                step.insert("post".to_owned(), json!({"content_type": content_type, "body": text}));
            }
            Ok(None) => {}
            Err(_) => self.lose(place, "files in its body: steps send text alone"),
        }
    }

    fn behavior(&mut self, item: &RequestItem, place: &str, step: &mut Map<String, Value>) {
        let defaults = ProtocolBehavior::default();
        let behavior = &item.behavior;
        if !behavior.follow_redirects {
            step.insert("follow_redirects".to_owned(), Value::from(false));
        }
        for (name, differs) in [
            ("followOriginalHttpMethod", behavior.follow_original_method != defaults.follow_original_method),
            ("maxRedirects", behavior.max_redirects != defaults.max_redirects),
            ("strictSSL", behavior.verify_certificates != defaults.verify_certificates),
            ("disableCookies", behavior.disable_cookies != defaults.disable_cookies),
            ("disabledSystemHeaders", behavior.disabled_headers != defaults.disabled_headers),
        ] {
            if differs {
                self.lose(place, format!("`{name}` of `protocolProfileBehavior`"));
            }
        }
    }

    fn scripts(&mut self, item: &RequestItem, place: &str, step: &mut Map<String, Value>) {
        for script in &item.prerequest_scripts {
            let (position, place) = (script.position, script.owner.clone());
            self.losses.push(UnsupportedItem {
                position,
                place,
                reason: "a script before the request".to_owned(),
            });
        }
        let (mut assertions, mut variables) = (Vec::new(), Vec::new());
        for script in &item.test_scripts {
            let ConvertedScript { assertions: found, variables: set, losses } = convert_script(&script.code);
            assertions.extend(found);
            variables.extend(set);
            for (line, statement) in losses {
                let mut position = script.position;
                position.line += line;
                let statement = crate::syntax::truncate_value(&statement);
                let reason = format!("the statement `{statement}` of a test script");
                self.losses.push(UnsupportedItem { position, place: script.owner.clone(), reason });
            }
        }
        let checks_status = assertions.iter().any(|assertion| assertion["source"] == "Status Code");
        if !checks_status {
            self.lose(place, "a status of 400 and more: it fails the step, and no request of the collection");
        }
        if !assertions.is_empty() {
            step.insert("assertions".to_owned(), Value::Array(assertions));
        }
        if !variables.is_empty() {
            step.insert("variables".to_owned(), Value::Array(variables));
        }
    }
}
