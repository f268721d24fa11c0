//! Files of hosts for `vigie apply`: a map whose list `hosts` has the fields of `/hosts`. Without I/O.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::duplicate_errors::duplicate_errors;
use super::field::Field;
use super::reader::{FieldReader, InputFormat, reject_secret_sources};
use super::table::hosts::HOST;
use super::url_credentials;
use crate::syntax::node::{Node, NodeValue, Position};
use crate::syntax::{ValidationError, ValidationErrorKind, display_value};

/// The only entry of a file of hosts.
const HOSTS: &str = "hosts";

/// One host of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileHost {
    /// Its name, which identifies it.
    pub name: String,
    /// Every field that can be set; null where neither the file nor a default has a value.
    pub fields: Map<String, Value>,
    /// Name of the file.
    pub file: Arc<str>,
    /// Start of the entry in the file.
    pub position: Position,
}

/// Whether a file holds hosts: a map with the list `hosts`, and no monitor.
#[must_use]
pub fn holds_hosts(node: &Node) -> bool {
    node.get(HOSTS).is_some() && node.get("type").is_none()
}

/// Reads the hosts of `file`.
///
/// # Errors
/// All errors of the file, in order.
pub fn parse_host_file(file: &Arc<str>, node: &Node) -> Result<Vec<FileHost>, Vec<ValidationError>> {
    let mut errors = Vec::new();
    if let NodeValue::Map(entries) = &node.value {
        let others = entries.iter().filter(|(key, _)| key.name != HOSTS);
        errors.extend(others.map(|(key, _)| {
            let message = format!("`{}` does not belong into a file of hosts", key.name);
            ValidationError::new(ValidationErrorKind::UnknownField, &key.name, key.position, message)
                .with_hint("its only entry is the list `hosts`")
        }));
    }
    let items = match node.get(HOSTS).map(|list| &list.value) {
        Some(NodeValue::List(items)) => items.as_slice(),
        Some(NodeValue::Null) | None => &[],
        Some(_) => {
            let message = "`hosts` must be a list";
            let position = node.position_of(HOSTS);
            errors.push(ValidationError::new(ValidationErrorKind::Type, HOSTS, position, message));
            &[]
        }
    };
    let mut hosts = Vec::with_capacity(items.len());
    for item in items {
        match read_host(file, item) {
            Ok(host) => hosts.push(host),
            Err(host_errors) => errors.extend(host_errors),
        }
    }
    if errors.is_empty() {
        return Ok(hosts);
    }
    errors.sort_by_key(|error| error.position);
    Err(errors.into_iter().map(|error| error.with_file(file)).collect())
}

fn read_host(file: &Arc<str>, node: &Node) -> Result<FileHost, Vec<ValidationError>> {
    let mut reader = FieldReader::new(InputFormat::File, &reject_secret_sources);
    let mut values = reader.read_complete_fields(&HOST, node);
    let mut errors = reader.errors;
    if let Some(error) = metrics_url_error(&values, node) {
        errors.push(error);
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let name = values.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let fields = settable_fields().map(|field| {
        let value = values.get_mut(field.name).map(Value::take).filter(|value| !value.is_null());
        (field.name.to_owned(), value.or_else(|| field.default_value()).unwrap_or_default())
    });
    Ok(FileHost { name, fields: fields.collect(), file: Arc::clone(file), position: node.position })
}

/// Returns the error of a `metrics_url` with credentials among the `fields` of a host: the URL is stored and shown as it
/// is, and a location sends no credentials.
#[must_use]
pub fn metrics_url_error(fields: &Map<String, Value>, node: &Node) -> Option<ValidationError> {
    let url = fields.get("metrics_url")?.as_str()?;
    let masked = url_credentials::mask(url)?;
    let message = "`metrics_url` must not contain credentials, which everybody who sees the host would see";
    let position = node.position_of("metrics_url");
    Some(
        ValidationError::new(ValidationErrorKind::Conflict, "metrics_url", position, message)
            .with_value(masked)
            .with_hint("let the exporter accept the addresses of the locations instead"),
    )
}

/// Returns the errors of names that several hosts have.
#[must_use]
pub fn duplicate_name_errors(hosts: &[FileHost]) -> Vec<ValidationError> {
    let uses = hosts.iter().map(|host| (host.name.as_str(), &host.file, host.position));
    duplicate_errors("name", "names of hosts are unique over all files", uses)
}

/// Returns a host of the API as an entry of a file: the fields that differ from their defaults.
#[must_use]
pub fn to_host_entry(host: &Map<String, Value>) -> Map<String, Value> {
    let differing = settable_fields().filter_map(|field| {
        let value = host.get(field.name).filter(|value| !value.is_null())?;
        (field.default_value().as_ref() != Some(value)).then(|| (field.name.to_owned(), value.clone()))
    });
    differing.collect()
}

fn settable_fields() -> impl Iterator<Item = &'static Field> {
    HOST.fields().iter().copied().filter(|field| field.is_settable())
}

/// Returns the error of a file of hosts in a place for monitors.
pub(super) fn misplaced_error(node: &Node) -> ValidationError {
    let message = format!("the file holds hosts ({}), not monitors", display_value(node));
    ValidationError::new(ValidationErrorKind::Conflict, HOSTS, node.position, message)
        .with_hint("apply it by `vigie apply`; a server reads no hosts from its own folders")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(text: &str) -> Result<Vec<FileHost>, Vec<String>> {
        let node = Node::from_yaml(text).unwrap();
        assert!(holds_hosts(&node), "{text}");
        parse_host_file(&Arc::from("hosts.yaml"), &node)
            .map_err(|errors| errors.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_host_has_every_field_and_its_entry_those_that_differ() {
        let hosts =
            parse("hosts:\n  - name: db1\n    address: 192.0.2.7\n  - {name: web, report_seconds: 30}\n");
        let hosts = hosts.unwrap();
        let expected =
            json!({"name": "db1", "address": "192.0.2.7", "report_seconds": 60, "metrics_url": null});
        assert_eq!(Value::Object(hosts[0].fields.clone()), expected);
        let entry = json!({"name": "web", "report_seconds": 30});
        assert_eq!(Value::Object(to_host_entry(&hosts[1].fields)), entry);
        assert!(duplicate_name_errors(&hosts).is_empty());
        assert_eq!(parse("hosts: []\n").unwrap(), []);
    }

    #[test]
    fn errors_name_the_place() {
        for (text, expected) in [
            ("hosts:\n  - {address: db1.test}\n", "hosts.yaml:2:5: `name` is required"),
            ("hosts:\n  - {name: a, report_seconds: 1}\n", "hosts.yaml:2:31: `report_seconds` must be"),
            ("hosts:\n  - {name: a, state: silent}\n", "`state` is set by Vigie"),
            ("hosts: {}\n", "`hosts` must be a list"),
            ("hosts: [a]\n", "must be a map of fields"),
            ("host: 1\nhosts: []\n", "hosts.yaml:1:1: `host` does not belong into a file of hosts"),
            (
                "hosts:\n  - {name: a, metrics_url: 'http://u:p4ss@h.test/m'}\n",
                "must not contain credentials",
            ),
        ] {
            let errors = parse(text).unwrap_err().concat();
            assert!(errors.contains(expected), "{text}{errors}");
            assert!(!errors.contains("p4ss"), "{errors}");
        }
        let twice = parse("hosts:\n  - name: a\n  - name: a\n").unwrap();
        let error = duplicate_name_errors(&twice)[0].to_string();
        assert!(error.contains("hosts.yaml:3:5") && error.contains("hosts.yaml:2:5"), "{error}");
    }
}
