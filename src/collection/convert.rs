//! A collection as steps of a `website-api` monitor, and what that would lose.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::convert_script::{ConvertedScript, convert_script};
use super::item::{Collection, ProtocolBehavior, RequestItem};
use super::request::{METHODS_WITHOUT_BODY, header_fields, map_texts};
use super::scopes::{ScopeKind, VariableScopes};
use super::unsupported::UnsupportedItem;
use super::{body, dynamic_values, request_url};
use crate::syntax::template::BUILT_IN_VARIABLES;

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
    let set_by_scripts = names_set_by_scripts(collection);
    let constants = |entries: &[(String, Value)]| {
        entries.iter().filter(|(name, _)| !set_by_scripts.contains(name)).cloned().collect()
    };
    scopes.set_entries(ScopeKind::Collection, constants(&collection.variables));
    scopes.set_entries(ScopeKind::Environment, constants(environment));
    let mut converter = Converter { scopes, losses: collection.unsupported.clone() };
    let steps = collection.requests.iter().take(MAX_STEPS).map(|item| converter.step(item)).collect();
    if collection.requests.len() > MAX_STEPS {
        let more = collection.requests.len() - MAX_STEPS;
        converter
            .lose("", format!("{more} requests after the first {MAX_STEPS}: a monitor has no more steps"));
    }
    Conversion { steps, losses: converter.losses }
}

/// Returns the names that scripts set: they have no constant value.
fn names_set_by_scripts(collection: &Collection) -> HashSet<String> {
    let items = collection.requests.iter();
    let scripts = items.flat_map(|item| item.prerequest_scripts.iter().chain(&item.test_scripts));
    let mut names = HashSet::new();
    for script in scripts {
        for call in [".set(", "setEnvironmentVariable(", "setGlobalVariable("] {
            for rest in script.code.split(call).skip(1) {
                let rest = rest.trim_start();
                let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'' | '`')) else {
                    continue;
                };
                names.extend(rest[1..].split(quote).next().map(str::to_owned));
            }
        }
    }
    names
}

/// Returns the built-in variable of steps that stands for a dynamic one.
fn built_in(name: &str) -> Option<String> {
    matches!(name, "$guid" | "$randomUUID").then(|| "{{$uuid}}".to_owned())
}

/// Returns the placeholders `{{$name}}` that steps have no variable for.
fn unknown_placeholders(step: &Value) -> Vec<String> {
    let names = dynamic_values::names_in(step);
    names.into_iter().filter(|name| !BUILT_IN_VARIABLES.contains(&name.as_str())).collect()
}

struct Converter {
    scopes: VariableScopes,
    losses: Vec<UnsupportedItem>,
}

impl Converter {
    fn lose(&mut self, place: &str, reason: impl Into<String>) {
        let (place, position) = (place.to_owned(), crate::syntax::node::Position::default());
        self.add_loss(UnsupportedItem { position, place, reason: reason.into() });
    }

    /// Adds `loss`; scripts of folders concern several requests, and are listed once.
    fn add_loss(&mut self, loss: UnsupportedItem) {
        if !self.losses.contains(&loss) {
            self.losses.push(loss);
        }
    }

    fn text(&self, text: &str) -> String {
        self.scopes.replace_in(text, &built_in).into_owned()
    }

    fn value(&self, value: &Value) -> Value {
        map_texts(value, &|text| self.text(text))
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
        self.scripts(item, &mut step);
        let step = Value::Object(step);
        for name in unknown_placeholders(&step) {
            self.lose(&place, format!("the dynamic variable `{{{{{name}}}}}`: steps have none of this name"));
        }
        step
    }

    fn head(&mut self, item: &RequestItem, place: &str, step: &mut Map<String, Value>) -> Value {
        let mut headers: Vec<Value> = header_fields(&item.request["header"], &|text| self.text(text))
            .into_iter()
            .map(|(name, value)| json!({"name": name, "value": value}))
            .collect();
        let mut head = Map::new();
        let auth = item.auth.as_ref().map_or(Value::Null, |auth| self.value(auth));
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
                self.lose(place, "the login `awsv4`: steps do not sign requests");
            }
        }
        if !headers.is_empty() {
            head.insert("headers".to_owned(), Value::Array(headers));
        }
        Value::Object(head)
    }

    fn body(&mut self, item: &RequestItem, place: &str, step: &mut Map<String, Value>) {
        let method = item.request["method"].as_str().unwrap_or("GET").to_uppercase();
        if METHODS_WITHOUT_BODY.contains(&method.as_str()) && !item.behavior.send_body_always {
            return;
        }
        let body = self.value(&item.request["body"]);
        match body::render(&body, &[], "vigie-part") {
            Ok(Some(rendered)) => {
                let own_type = step
                    .get("head")
                    .and_then(|head| head["headers"].as_array())
                    .into_iter()
                    .flatten()
                    .find_map(|header| {
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

    fn scripts(&mut self, item: &RequestItem, step: &mut Map<String, Value>) {
        for script in &item.prerequest_scripts {
            let (position, place) = (script.position, script.owner.to_string());
            self.add_loss(UnsupportedItem {
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
                self.add_loss(UnsupportedItem { position, place: script.owner.to_string(), reason });
            }
        }
        let checks_status = assertions.iter().any(|assertion| assertion["source"] == "Status Code");
        if !checks_status {
            // A status of 400 and more fails no request of a collection by itself.
            assertions.push(json!({"source": "Status Code", "comparison": "equals", "value": "100-599"}));
        }
        step.insert("assertions".to_owned(), Value::Array(assertions));
        if !variables.is_empty() {
            step.insert("variables".to_owned(), Value::Array(variables));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::parse_collection;

    fn convert(items: Value, environment: &[(&str, &str)]) -> Conversion {
        let text = json!({"info": {"name": "c"}, "item": items}).to_string();
        let environment: Vec<(String, Value)> =
            environment.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        convert_to_steps(&parse_collection(&text).unwrap(), &environment)
    }

    fn item(request: Value, code: &str) -> Value {
        json!({"name": "a", "request": request, "event": [{"listen": "test", "script": {"exec": [code]}}]})
    }

    #[test]
    fn constants_are_filled_in_and_what_scripts_set_stays() {
        let request = json!({
            "method": "PUT", "url": "{{base}}/x?g={{$guid}}", "header": "X-A: {{base}}\nContent-Type: text/x",
            "body": {"mode": "raw", "raw": "{{token}} {{$guid}}"},
            "auth": {"type": "bearer", "bearer": {"token": "{{token}}"}},
        });
        let code = "pm.response.to.have.status(200);\npm.environment.set('token', pm.response.json().t)";
        let conversion = convert(json!([item(request, code)]), &[("base", "http://a.test"), ("token", "")]);
        assert_eq!(conversion.losses, []);
        let step = &conversion.steps[0];
        assert_eq!(step["url"], "http://a.test/x?g={{$uuid}}");
        assert_eq!((&step["http_method"], &step["custom_method"]), (&json!("CUSTOM"), &json!("PUT")));
        assert_eq!(step["head"]["bearer_token"], "{{token}}");
        assert_eq!(step["head"]["headers"][0], json!({"name": "X-A", "value": "http://a.test"}));
        assert_eq!(step["post"], json!({"content_type": "text/x", "body": "{{token}} {{$uuid}}"}));
        assert_eq!(step["variables"][0]["name"], "token");
    }

    #[test]
    fn what_steps_cannot_do_is_listed() {
        let get = json!({"url": "http://a/{{$randomCity}}", "body": {"mode": "raw", "raw": "pruned"}});
        let conversion = convert(
            json!([
                item(get, "if (x) { y() }"),
                {"name": "b", "request": {"url": "http://a", "auth": {"type": "awsv4", "awsv4": {}}},
                 "protocolProfileBehavior": {"disableCookies": true},
                 "event": [{"listen": "prerequest", "script": {"exec": ["z()"]}}]},
            ]),
            &[],
        );
        assert_eq!(conversion.steps[0].get("post"), None);
        let losses: Vec<String> = conversion.losses.iter().map(ToString::to_string).collect();
        for expected in
            ["if (x) { y() }", "$randomCity", "awsv4", "disableCookies", "a script before the request"]
        {
            assert!(losses.iter().any(|loss| loss.contains(expected)), "{expected}: {losses:#?}");
        }
    }
}
