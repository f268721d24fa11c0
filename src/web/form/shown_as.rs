//! A monitor as it stands in a form, as a text for other tools: a monitor file, a call of the API, commands.

use serde_json::{Map, Value};

use super::form_fields::settable_fields;
use crate::domain::CustomerId;
use crate::schema::monitor_file::to_file_entry;
use crate::schema::{Monitor, SecretMode};
use crate::syntax::yaml_writer::format_monitors;
use crate::texts::key;

/// A form of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextForm {
    /// A monitor file.
    Yaml,
    /// A call of the API, with curl.
    Curl,
    /// Commands of `vigie`.
    Vigie,
}

/// The text, for people to copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShownAs {
    /// What it is.
    pub(super) title: &'static str,
    /// The text.
    pub(super) text: String,
}

impl TextForm {
    /// Every form with the name that its button sends.
    pub(super) const ALL: [(&'static str, Self); 3] =
        [("yaml", Self::Yaml), ("curl", Self::Curl), ("vigie", Self::Vigie)];

    /// Returns the form with this name.
    pub(super) fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, form)| *form)
    }

    /// Returns `monitor` in this form, with masks in place of secrets. `server` is the address of this server.
    pub(super) fn show(self, monitor: &Monitor, server: &str) -> ShownAs {
        match self {
            Self::Yaml => ShownAs { title: key("As a monitor file"), text: yaml(monitor) },
            Self::Curl => ShownAs { title: key("As a call of the API"), text: curl(monitor, server) },
            Self::Vigie => ShownAs { title: key("As commands"), text: commands(monitor) },
        }
    }
}

fn yaml(monitor: &Monitor) -> String {
    format_monitors(&[to_file_entry(&file_key(monitor), CustomerId::OPERATOR, &monitor.document)])
}

/// Returns the key that the monitor has in files: `vigie apply` takes an existing monitor over by it.
fn file_key(monitor: &Monitor) -> String {
    match monitor.origin.key() {
        Some(key) => key.to_owned(),
        None if monitor.id.0 > 0 => format!("api-{}", monitor.id),
        None => key_from_name(monitor.name()),
    }
}

/// Returns a key made of the letters and digits of `name`.
fn key_from_name(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let key: String = words.collect::<Vec<_>>().join("-").chars().take(60).collect();
    if key.is_empty() { "monitor".to_owned() } else { key }
}

fn curl(monitor: &Monitor, server: &str) -> String {
    let body = serde_json::to_string_pretty(&api_fields(monitor)).unwrap_or_default();
    let monitor_type = monitor.monitor_type().name();
    let end = end_mark("JSON", &body);
    let (method, path) = match monitor.id.0 {
        0 => ("", format!("monitors/{monitor_type}")),
        id => ("-X PATCH ", format!("monitors/{monitor_type}/{id}")),
    };
    format!("curl -fsS -K auth {method}--json @- {server}/api/v3/{path} <<'{end}'\n{body}\n{end}\n")
}

/// Returns the fields that a call needs: those that version 3 asks for, and those that differ from their defaults.
fn api_fields(monitor: &Monitor) -> Map<String, Value> {
    let all = monitor.document.to_json(SecretMode::Masked);
    let changed = monitor.document.to_non_default_fields(SecretMode::Masked);
    let fields = settable_fields(monitor.monitor_type());
    let named = fields
        .iter()
        .filter(|field| field.is_required_in_v3() || changed.contains_key(field.name))
        .filter_map(|field| Some((field.name.to_owned(), all.get(field.name)?.clone())));
    named.filter(|(_, value)| !value.is_null()).collect()
}

fn commands(monitor: &Monitor) -> String {
    let yaml = yaml(monitor);
    let (end, file) = (end_mark("YAML", &yaml), format!("{}.yaml", key_from_name(&file_key(monitor))));
    format!(
        "mkdir -p monitors\ncat > monitors/{file} <<'{end}'\n{yaml}{end}\nvigie check --file monitors/{file}\nvigie apply \
         monitors\n"
    )
}

/// Returns `mark`, longer if a line of `text` is that.
fn end_mark(mark: &str, text: &str) -> String {
    let mut mark = mark.to_owned();
    while text.lines().any(|line| line == mark) {
        mark.push('_');
    }
    mark
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_made_of_names() {
        for (name, key) in [
            ("Shop: cart & pay", "shop-cart-pay"),
            ("  ", "monitor"),
            ("é1", "1"),
            ("a'; rm -rf /", "a-rm-rf"),
        ] {
            assert_eq!(key_from_name(name), key);
        }
    }

    #[test]
    fn the_end_of_a_text_is_none_of_its_lines() {
        assert_eq!(end_mark("YAML", "a: YAML"), "YAML");
        assert_eq!(end_mark("YAML", "a\nYAML\nYAML_\n"), "YAML__");
    }
}
