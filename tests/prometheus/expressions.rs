//! The expressions in `config/ecosystem`.

use std::fs;
use std::path::Path;

use serde_json::Value;
use vigie::syntax::node::Node;

pub fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/config/ecosystem"))
}

/// Returns the dashboard, as Grafana imports it.
pub fn dashboard() -> Value {
    serde_json::from_str(&fs::read_to_string(folder().join("grafana-dashboard.json")).unwrap()).unwrap()
}

/// An alert of a group.
pub struct AlertRule {
    pub group: String,
    pub name: String,
    pub expression: String,
    /// For how long it must hold; empty for not at all.
    pub duration: String,
}

/// Returns the alert rules.
pub fn alert_rules() -> Vec<AlertRule> {
    let text = fs::read_to_string(folder().join("prometheus-alerts.yml")).unwrap();
    rules_of(&Node::from_yaml(&text).unwrap())
}

/// Returns the alert rules of a file of rules.
pub fn rules_of(file: &Node) -> Vec<AlertRule> {
    let text =
        |node: &Node, name: &str| node.get(name).and_then(Node::as_text).unwrap_or_default().to_owned();
    let mut rules = Vec::new();
    for group in file.get("groups").unwrap().items() {
        rules.extend(group.get("rules").unwrap().items().iter().map(|rule| AlertRule {
            group: text(group, "name"),
            name: text(rule, "alert"),
            expression: text(rule, "expr"),
            duration: text(rule, "for"),
        }));
    }
    rules
}

/// Returns what the alert `expression` compares: without the comparison, it has data at all times.
pub fn without_comparison(expression: &str) -> &str {
    let operators = [" == ", " < ", " > "];
    let at = operators.iter().filter_map(|operator| expression.rfind(operator)).max();
    &expression[..at.unwrap_or_else(|| panic!("`{expression}` compares nothing"))]
}

/// Returns every expression of `dashboard`, those of its variables too, with all values chosen.
pub fn dashboard_expressions(dashboard: &Value) -> Vec<String> {
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().into_iter().flatten());
    let of_panels = targets.map(|target| target["expr"].as_str().unwrap().to_owned());
    let variables = dashboard["templating"]["list"].as_array().unwrap();
    let of_variables = variables.iter().map(|variable| {
        let query = variable["query"]["query"].as_str().unwrap();
        let (metric, label) = query.strip_prefix("label_values(").unwrap().split_once(", ").unwrap();
        format!("count by ({0}) ({metric}{{{0}!=\"\"}})", label.strip_suffix(')').unwrap())
    });
    let names: Vec<&str> = variables.iter().map(|variable| variable["name"].as_str().unwrap()).collect();
    let fill = |expression: String| {
        let filled = names.iter().fold(expression, |text, name| text.replace(&format!("${name}"), ".*"));
        filled.replace("$__rate_interval", "1m").replace("$__range", "1h")
    };
    of_panels.chain(of_variables).map(fill).collect()
}
