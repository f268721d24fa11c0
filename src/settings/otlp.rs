//! Settings of the export by OTLP.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use url::Url;

use super::settings_reader::SettingsReader;
use crate::domain::CustomerId;
use crate::export::otlp::{OtlpSettings, OtlpSignal, OtlpSignals};
use crate::redaction::redactor::SecretSet;
use crate::syntax::ValidationErrorKind;
use crate::syntax::node::{Node, Position};

/// Header fields that the exporter sets itself.
const OWN_HEADERS: [&str; 3] = ["content-type", "content-encoding", "user-agent"];

/// Reads the section `otlp`; `None` without an endpoint.
pub(super) fn read_otlp(reader: &mut SettingsReader<'_>) -> Option<OtlpSettings> {
    let endpoint = read_endpoint(reader);
    let (headers, secrets) = read_headers(reader);
    let resource_attributes = read_resource_attributes(reader);
    let seconds = |path| Duration::from_secs(reader.int(path).unsigned_abs());
    let signals = reader.text_list("otlp.signals");
    let contains = |signal: OtlpSignal| signals.iter().any(|name| name == signal.name());
    let accounts: Vec<CustomerId> = reader
        .node("otlp.accounts")
        .items()
        .iter()
        .filter_map(|id| id.to_json().as_i64())
        .map(CustomerId)
        .collect();
    Some(OtlpSettings {
        endpoint: endpoint?,
        headers,
        redactor: secrets.into_redactor(),
        signals: OtlpSignals {
            metrics: contains(OtlpSignal::Metrics),
            logs: contains(OtlpSignal::Logs),
            traces: contains(OtlpSignal::Traces),
        },
        compresses: reader.text("otlp.compression") == "gzip",
        queue_capacity: reader.count("otlp.queue"),
        max_batch_results: reader.count("otlp.batch_results"),
        flush_interval: seconds("otlp.batch_seconds"),
        request_timeout: seconds("otlp.try_seconds"),
        give_up_after: seconds("otlp.give_up_seconds"),
        resource_attributes,
        accounts: (!accounts.is_empty()).then_some(accounts),
    })
}

fn read_endpoint(reader: &mut SettingsReader<'_>) -> Option<Url> {
    let path = "otlp.endpoint";
    let url = Url::parse(&reader.optional_text(path)?).ok()?;
    let problem = if !url.username().is_empty() || url.password().is_some() {
        "must not hold a login: send it as a header field (`otlp.headers`)"
    } else if url.query().is_some() || url.fragment().is_some() {
        "must end with its path: a query or fragment cannot be sent"
    } else if url.path().ends_with("/v1/metrics")
        || url.path().ends_with("/v1/logs")
        || url.path().ends_with("/v1/traces")
    {
        "must be the URL before `/v1/metrics`, `/v1/logs` and `/v1/traces`, which Vigie adds"
    } else {
        return Some(url);
    };
    let position = reader.node(path).position;
    reader.add_error(ValidationErrorKind::Format, path, position, format!("`{path}` {problem}"));
    None
}

/// Reads the header fields, and the secrets in them.
fn read_headers(reader: &mut SettingsReader<'_>) -> (HeaderMap, SecretSet) {
    let (mut headers, mut secrets) = (HeaderMap::new(), SecretSet::default());
    for (index, entry) in reader.node("otlp.headers").items().to_vec().iter().enumerate() {
        let path = format!("otlp.headers[{index}]");
        let Some((name, value)) = read_header(reader, &path, entry, &mut secrets) else { continue };
        if headers.contains_key(&name) {
            let path = format!("{path}.name");
            let message = format!("`{path}`: the header field `{name}` is set twice");
            reader.add_error(ValidationErrorKind::DuplicateField, &path, entry.position, message);
        }
        headers.insert(name, value);
    }
    (headers, secrets)
}

fn read_header(
    reader: &mut SettingsReader<'_>,
    path: &str,
    entry: &Node,
    secrets: &mut SecretSet,
) -> Option<(HeaderName, HeaderValue)> {
    let fail = |reader: &mut SettingsReader<'_>, kind, field: &str, position: Position, message: &str| {
        let path = if field.is_empty() { path.to_owned() } else { format!("{path}.{field}") };
        reader.add_error(kind, &path, position, format!("`{path}` {message}"));
    };
    let name_node = entry.get("name")?;
    let name: HeaderName = name_node.as_text()?.to_ascii_lowercase().parse().ok()?;
    if OWN_HEADERS.contains(&name.as_str()) {
        let message = "must be a header field that Vigie does not set itself";
        fail(reader, ValidationErrorKind::Format, "name", name_node.position, message);
        return None;
    }
    let value = match (entry.get("value"), entry.get("value_file")) {
        (Some(value), None) => value.as_text()?.to_owned(),
        (None, Some(file)) => {
            let secret = reader.read_secret_file(&format!("{path}.value_file"), file).0;
            // Whoever sends back the field may leave out its scheme.
            secrets.add(secret.split_once(' ').map_or(secret.as_str(), |(_, token)| token));
            secrets.add(&secret);
            secret
        }
        (Some(_), Some(file)) => {
            let message = "and `value` exclude each other";
            fail(reader, ValidationErrorKind::Conflict, "value_file", file.position, message);
            return None;
        }
        (None, None) => {
            fail(
                reader,
                ValidationErrorKind::MissingField,
                "",
                entry.position,
                "needs `value` or `value_file`",
            );
            return None;
        }
    };
    let Ok(mut value) = HeaderValue::from_str(&value) else {
        let message = "must hold a header value: one line of text";
        fail(reader, ValidationErrorKind::Format, "value_file", entry.position, message);
        return None;
    };
    value.set_sensitive(entry.get("value_file").is_some());
    Some((name, value))
}

fn read_resource_attributes(reader: &mut SettingsReader<'_>) -> Vec<(String, String)> {
    let mut attributes: Vec<(String, String)> = Vec::new();
    for (index, entry) in reader.node("otlp.resource").items().to_vec().iter().enumerate() {
        let text = |name: &str| entry.get(name).and_then(Node::as_text).map(str::to_owned);
        let (Some(name), Some(value)) = (text("name"), text("value")) else { continue };
        if attributes.iter().any(|(earlier, _)| *earlier == name) {
            let path = format!("otlp.resource[{index}].name");
            let message = format!("`{path}`: the attribute `{name}` is set twice");
            reader.add_error(ValidationErrorKind::DuplicateField, &path, entry.position, message);
        }
        attributes.push((name, value));
    }
    attributes
}
