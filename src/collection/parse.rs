//! Reads the file of a collection.

use std::sync::Arc;

use serde_json::{Map, Value};
use thiserror::Error;

use super::auth;
use super::body;
use super::dynamic_values;
use super::item::{Collection, ProtocolBehavior, RequestItem, Script};
use super::unsupported::UnsupportedItem;
use crate::syntax::node::{Node, NodeValue, Position};
use crate::syntax::truncate_value;

/// Most requests that a file may hold.
const MAX_REQUESTS: usize = 2000;
/// Most things that are listed as not supported.
const MAX_UNSUPPORTED: usize = 100;

/// Why a file is no collection that can be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}{message}", place(*position))]
pub struct CollectionError {
    /// Where, if known.
    pub position: Position,
    /// The reason, without a full stop.
    pub message: String,
}

fn place(position: Position) -> String {
    if position.is_known() { format!("{}:{}: ", position.line, position.column) } else { String::new() }
}

/// Reads a collection of format 2.0 or 2.1.
///
/// # Errors
/// Fails with position and reason when the text is not JSON, is another format, or exceeds 2000 requests.
pub fn parse_collection(text: &str) -> Result<Collection, CollectionError> {
    let root = Node::from_json_with_positions(text)
        .map_err(|error| CollectionError { position: error.position, message: error.message })?;
    // The export of an API wraps the collection once more.
    let root = root.get("collection").filter(|inner| inner.get("info").is_some()).unwrap_or(&root);
    check_format(root)?;
    let name = root.get("info").and_then(|info| text_at(info, "name")).unwrap_or_default();
    let mut parser = Parser::default();
    let mut scope = ItemScope::default();
    parser.enter(root, &name, &mut scope);
    parser.items(root, &scope)?;
    let variables = root.get("variable").map(Node::items).unwrap_or_default();
    let enabled: Vec<&Node> = variables.iter().filter(|variable| !flag_at(variable, "disabled")).collect();
    let secret_values = enabled
        .iter()
        .filter(|variable| text_at(variable, "type").as_deref() == Some("secret"))
        .filter_map(|variable| variable.get("value")?.as_text().map(str::to_owned))
        .filter(|value| !value.is_empty())
        .collect();
    let variables = enabled
        .iter()
        .filter_map(|variable| {
            let key = text_at(variable, "key").or_else(|| text_at(variable, "id"))?;
            Some((key, variable.get("value").map_or(Value::Null, Node::to_json)))
        })
        .collect();
    Ok(Collection {
        name,
        requests: parser.requests,
        variables,
        secret_values,
        unsupported: parser.unsupported,
    })
}

fn check_format(root: &Node) -> Result<(), CollectionError> {
    let error =
        |node: &Node, message: &str| CollectionError { position: node.position, message: message.to_owned() };
    if root.get("requests").is_some() && root.get("item").is_none() {
        return Err(error(root, "this is a collection of format 1; export it as Collection v2.1"));
    }
    let Some(info) = root.get("info") else {
        return Err(error(root, "this is no collection: it has no `info`"));
    };
    let schema = text_at(info, "schema").unwrap_or_default();
    let is_known = schema.is_empty() || schema.contains("/v2.1") || schema.contains("/v2.0");
    if !is_known {
        let schema = truncate_value(&schema);
        return Err(error(info, &format!("the format `{schema}` is unknown; export it as Collection v2.1")));
    }
    match root.get("item").map(|items| &items.value) {
        Some(NodeValue::List(_)) => Ok(()),
        _ => Err(error(root, "this is no collection: it has no list `item`")),
    }
}

/// What an item passes on to those inside of it.
#[derive(Clone, Default)]
struct ItemScope {
    folders: Vec<String>,
    auth: Option<Arc<Value>>,
    prerequest_scripts: Vec<Script>,
    test_scripts: Vec<Script>,
    behavior: ProtocolBehavior,
}

#[derive(Default)]
struct Parser {
    requests: Vec<RequestItem>,
    unsupported: Vec<UnsupportedItem>,
}

impl Parser {
    fn report(&mut self, node: &Node, place: &str, reason: impl Into<String>) {
        if self.unsupported.len() < MAX_UNSUPPORTED {
            let (position, place) = (node.position, place.to_owned());
            self.unsupported.push(UnsupportedItem { position, place, reason: reason.into() });
        }
    }

    /// Adds login, scripts and behaviour of `node` to `scope`.
    fn enter(&mut self, node: &Node, place: &str, scope: &mut ItemScope) {
        if let Some(auth) = node.get("auth") {
            scope.auth = (!auth.is_null()).then(|| Arc::new(auth.to_json()));
            self.check_auth(auth, place);
        }
        for event in node.get("event").map(Node::items).unwrap_or_default() {
            self.event(event, place, scope);
        }
        if let Some(behavior) = node.get("protocolProfileBehavior") {
            apply_behavior(&mut scope.behavior, &behavior.to_json());
        }
    }

    fn check_auth(&mut self, auth: &Node, place: &str) {
        if let Some(reason) = auth::unsupported_reason(&auth.to_json()) {
            self.report(auth, place, reason);
        }
    }

    fn event(&mut self, event: &Node, place: &str, scope: &mut ItemScope) {
        if flag_at(event, "disabled") {
            return;
        }
        let Some(script) = event.get("script") else { return };
        let (code, position) = script_code(script);
        if script.get("src").is_some() && code.trim().is_empty() {
            self.report(
                script,
                place,
                "a script in a file of its own cannot be read; put its text into the collection",
            );
            return;
        }
        if code.trim().is_empty() {
            return;
        }
        for (name, reason) in UNSUPPORTED_CALLS {
            if code.contains(name) {
                self.report(script, place, format!("`{name}` in a script {reason}"));
            }
        }
        let script = Script { owner: place.into(), code: code.into(), position };
        match text_at(event, "listen").as_deref() {
            Some("prerequest") => scope.prerequest_scripts.push(script),
            Some("test") => scope.test_scripts.push(script),
            _ => {}
        }
    }

    fn items(&mut self, parent: &Node, scope: &ItemScope) -> Result<(), CollectionError> {
        for item in parent.get("item").map(Node::items).unwrap_or_default() {
            let name = text_at(item, "name").unwrap_or_default();
            let place = [scope.folders.as_slice(), std::slice::from_ref(&name)].concat().join(" / ");
            let mut inner = scope.clone();
            self.enter(item, &place, &mut inner);
            if item.get("item").is_some() {
                inner.folders.push(name);
                self.items(item, &inner)?;
            } else if let Some(request) = item.get("request") {
                self.request(item, request, name, &place, inner)?;
            }
        }
        Ok(())
    }

    fn request(
        &mut self,
        item: &Node,
        request: &Node,
        name: String,
        place: &str,
        scope: ItemScope,
    ) -> Result<(), CollectionError> {
        if self.requests.len() == MAX_REQUESTS {
            let message = format!("it has more than {MAX_REQUESTS} requests");
            return Err(CollectionError { position: item.position, message });
        }
        let mut auth = scope.auth;
        if let Some(own) = request.get("auth") {
            auth = (!own.is_null()).then(|| Arc::new(own.to_json()));
            self.check_auth(own, place);
        }
        for key in ["proxy", "certificate"] {
            if let Some(node) = request.get(key).filter(|node| !node.is_null() && !flag_at(node, "disabled"))
            {
                self.report(
                    node,
                    place,
                    format!("`{key}` of a request is not supported; set it in the monitor"),
                );
            }
        }
        if let Some(body) = request.get("body")
            && let Some(reason) = body::unsupported_reason(&body.to_json())
        {
            self.report(body, place, reason);
        }
        let value = match request.as_text() {
            Some(url) => Value::Object(Map::from_iter([("url".to_owned(), Value::from(url))])),
            None => request.to_json(),
        };
        for name in dynamic_values::unknown_names(&value) {
            self.report(request, place, format!("the dynamic variable `{{{{{name}}}}}` is not supported"));
        }
        let id = text_at(item, "id").or_else(|| text_at(item, "_postman_id")).unwrap_or_else(|| name.clone());
        self.requests.push(RequestItem {
            id,
            name,
            folders: scope.folders,
            request: value,
            auth,
            prerequest_scripts: scope.prerequest_scripts,
            test_scripts: scope.test_scripts,
            behavior: scope.behavior,
        });
        Ok(())
    }
}

/// Calls that a monitor has nothing for, with the reason.
const UNSUPPORTED_CALLS: &[(&str, &str)] = &[
    ("pm.vault", "needs the vault of a desktop app"),
    ("pm.datasets", "needs a data set of a cloud account"),
    ("pm.execution.runRequest", "is not supported; use `pm.execution.setNextRequest`"),
];

/// Returns the text of a script and where it begins.
fn script_code(script: &Node) -> (String, Position) {
    let Some(exec) = script.get("exec") else { return (String::new(), script.position) };
    let first = exec.items().first().unwrap_or(exec);
    let code = match exec.as_text() {
        Some(text) => text.to_owned(),
        None => exec.items().iter().filter_map(Node::as_text).collect::<Vec<_>>().join("\n"),
    };
    (code, first.position)
}

fn apply_behavior(behavior: &mut ProtocolBehavior, value: &Value) {
    let flag = |name: &str, old: bool| value.get(name).and_then(Value::as_bool).unwrap_or(old);
    behavior.follow_redirects = flag("followRedirects", behavior.follow_redirects);
    behavior.follow_original_method = flag("followOriginalHttpMethod", behavior.follow_original_method);
    behavior.send_body_always = flag("disableBodyPruning", behavior.send_body_always);
    behavior.disable_cookies = flag("disableCookies", behavior.disable_cookies);
    behavior.verify_certificates =
        value.get("strictSSL").and_then(Value::as_bool).or(behavior.verify_certificates);
    if let Some(most) = value.get("maxRedirects").and_then(Value::as_u64) {
        behavior.max_redirects = usize::try_from(most).unwrap_or(usize::MAX).min(50);
    }
    if let Some(headers) = value.get("disabledSystemHeaders").and_then(Value::as_object) {
        behavior.disabled_headers = headers
            .iter()
            .filter(|(_, disabled)| disabled.as_bool() == Some(true))
            .map(|(name, _)| name.to_ascii_lowercase())
            .collect();
    }
}

fn text_at(node: &Node, key: &str) -> Option<String> {
    node.get(key)?.as_text().map(str::to_owned)
}

fn flag_at(node: &Node, key: &str) -> bool {
    matches!(node.get(key).map(|flag| &flag.value), Some(NodeValue::Bool(true)))
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
