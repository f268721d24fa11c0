//! The subject of a check: a document made of command line arguments, or read from a file.

use std::path::Path;

use url::Url;

use crate::app::KnownReferences;
use crate::cli::fields;
use crate::cli::output::{InvalidInput, UsageError};
use crate::domain::MonitorType;
use crate::redaction::urls::redact_url_credentials;
use crate::schema::field::FieldType;
use crate::schema::monitor_file::KeyPolicy;
use crate::schema::reader::{InputFormat, SecretSource};
use crate::schema::validate::validate_new_with_secrets;
use crate::schema::validation_context::ValidationContext;
use crate::schema::{MonitorDocument, monitor_file, table};
use crate::settings::Settings;
use crate::settings::read_secret;
use crate::syntax::node::{Key, Node, NodeValue, Position};
use crate::syntax::{ValidationError, ValidationErrorKind, closest_match};

/// A document to check, and the warnings that saving it would give.
pub(super) struct CheckSubject {
    pub(super) document: MonitorDocument,
    pub(super) warnings: Vec<String>,
}

/// Creates a monitor of `monitor_type` for `target`, with the fields in `field_assignments`.
pub(super) fn from_arguments(
    monitor_type: MonitorType,
    target: &str,
    field_assignments: &[String],
    settings: &Settings,
) -> anyhow::Result<CheckSubject> {
    // The name is the target, as far as its length allows, without the credentials in it.
    let name: String = redact_url_credentials(target).chars().take(MAX_NAME_CHARS).collect();
    let mut entries = vec![
        text_entry("name", if name.is_empty() { "target" } else { &name }),
        text_entry("billing_plancode", "check"),
    ];
    entries.extend(target_fields(monitor_type, target)?);
    from_entries(monitor_type, entries, field_assignments, settings)
        .map_err(|error| with_target_hint(error, monitor_type, target))
}

/// Creates a monitor with the fields `entries`, and those in `field_assignments`.
pub(super) fn from_entries(
    monitor_type: MonitorType,
    mut entries: Vec<(Key, Node)>,
    field_assignments: &[String],
    settings: &Settings,
) -> anyhow::Result<CheckSubject> {
    for assignment in field_assignments {
        let (name, value) = assignment.split_once('=').ok_or_else(|| {
            UsageError::with_hint(
                format!("`--set {assignment}` has no `=`"),
                Some(format!("write `--set {assignment}=VALUE`")),
            )
        })?;
        entries.retain(|(key, _)| key.name != name);
        entries.push((key_without_position(name), parse_field_value(monitor_type, name, value)?));
    }
    let body = Node { value: NodeValue::Map(entries), position: Position::default() };
    let read_source = |source: SecretSource<'_>| read_secret(Path::new(""), source);
    let known_references = KnownReferences::from_settings(settings);
    // Without plans, since an unsaved monitor is not billed.
    let context = ValidationContext { billing_plans: None, ..known_references.validation_context() };
    match validate_new_with_secrets(monitor_type, InputFormat::File, &body, &context, &read_source, &["type"])
    {
        Ok(accepted) => Ok(CheckSubject { document: accepted.document, warnings: accepted.warnings }),
        Err(errors) => Err(InvalidInput(errors.into_iter().map(with_port_hint).collect()).into()),
    }
}

/// Most characters of a name (interface.md 2.1).
pub(super) const MAX_NAME_CHARS: usize = 255;

/// Adds to an error about the target how it can be written, if that can be guessed.
fn with_target_hint(error: anyhow::Error, monitor_type: MonitorType, target: &str) -> anyhow::Error {
    let Some(suggestion) = suggest_target(monitor_type, target) else { return error };
    match error.downcast::<InvalidInput>() {
        Ok(InvalidInput(errors)) => {
            let with_hint = |error: ValidationError| {
                let is_about_target =
                    error.hint.is_none() && matches!(error.path.as_str(), "url" | "hostname");
                if is_about_target { error.with_hint(format!("did you mean `{suggestion}`?")) } else { error }
            };
            InvalidInput(errors.into_iter().map(with_hint).collect()).into()
        }
        Err(other) => other,
    }
}

/// Returns `target` as a URL for a type that takes one, or without its scheme for a type that takes a host. Credentials
/// in it are masked.
fn suggest_target(monitor_type: MonitorType, target: &str) -> Option<String> {
    if table::for_type(monitor_type).field("url").is_none() {
        let url = Url::parse(target).ok().filter(|_| target.contains("://"))?;
        let host = url.host_str().filter(|host| !host.is_empty())?;
        return Some(url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")));
    }
    if target.is_empty() || target.contains("://") {
        return None;
    }
    let has_tls = matches!(monitor_type, MonitorType::WebsiteSsl | MonitorType::WebsiteSslApi);
    let url = Url::parse(&format!("{}://{target}", if has_tls { "https" } else { "http" })).ok()?;
    Some(redact_url_credentials(url.as_str()).into_owned())
}

/// Adds to the error of a missing port the hint how to write it.
fn with_port_hint(error: ValidationError) -> ValidationError {
    let is_missing_port = error.kind == ValidationErrorKind::MissingField && error.path == "port";
    if is_missing_port { error.with_hint("write the target as `host:port`") } else { error }
}

/// Returns the monitors in `text`, that of `file`, or only the one named `name`.
pub(super) fn from_monitor_file(
    file: &Path,
    text: String,
    name: Option<&str>,
    settings: &Settings,
) -> anyhow::Result<Vec<CheckSubject>> {
    let path = file.display().to_string();
    let folder = file.parent().unwrap_or(Path::new(""));
    let read_source = |source: SecretSource<'_>| read_secret(folder, source);
    let known_references = KnownReferences::from_settings(settings);
    let files = [(path.clone(), text)];
    let parsed_files = monitor_file::parse_monitor_files(
        &files,
        KeyPolicy::Optional,
        &known_references.validation_context(),
        &read_source,
    );
    if !parsed_files.errors.is_empty() {
        return Err(InvalidInput(parsed_files.errors).into());
    }
    let names: Vec<String> =
        parsed_files.monitors.iter().map(|monitor| monitor.document.name().to_owned()).collect();
    let matches = |key: &str, monitor_name: &str| name.is_none_or(|name| name == key || name == monitor_name);
    let subjects: Vec<CheckSubject> = parsed_files
        .monitors
        .into_iter()
        .zip(&names)
        .filter(|(monitor, monitor_name)| matches(&monitor.key, monitor_name))
        .map(|(monitor, _)| CheckSubject { document: monitor.document, warnings: monitor.warnings })
        .collect();
    match (subjects.is_empty(), name) {
        (false, _) => Ok(subjects),
        (true, None) => Err(UsageError::with_hint(format!("`{path}` holds no monitor"), None)),
        (true, Some(name)) => Err(unknown_monitor_error(&path, name, &names)),
    }
}

fn unknown_monitor_error(file: &str, name: &str, names: &[String]) -> anyhow::Error {
    let hint = match closest_match(name, names.iter().map(String::as_str)) {
        Some(closest) => format!("did you mean `{closest}`?"),
        None => format!("it holds `{}`", names.join("`, `")),
    };
    UsageError::with_hint(format!("`{file}` holds no monitor with the name or key `{name}`"), Some(hint))
}

/// Returns the fields that `target` sets in a monitor of `monitor_type`.
fn target_fields(monitor_type: MonitorType, target: &str) -> anyhow::Result<Vec<(Key, Node)>> {
    let has_settable_field = |name| {
        table::for_type(monitor_type).field(name).is_some_and(crate::schema::field::Field::is_settable)
    };
    // A scan takes a host or a URL.
    let is_host = monitor_type == MonitorType::SecurityScan && !target.contains("://");
    if has_settable_field("url") && !is_host {
        return Ok(vec![text_entry("url", target)]);
    }
    if !has_settable_field("hostname") {
        let hint = "write the monitor into a file and check it with `vigie check --file FILE`".to_owned();
        return Err(UsageError::with_hint(
            format!("a `{monitor_type}` monitor does not have a single target"),
            Some(hint),
        ));
    }
    Ok(match split_host_and_port(target) {
        (host, Some(port)) if has_settable_field("port") => {
            vec![
                text_entry("hostname", host),
                (
                    key_without_position("port"),
                    Node { value: NodeValue::Int(port), position: Position::default() },
                ),
            ]
        }
        (host, None) => vec![text_entry("hostname", host)],
        _ => vec![text_entry("hostname", target)],
    })
}

/// Example target of `monitor_type`.
pub(super) fn target_example(monitor_type: MonitorType) -> &'static str {
    match monitor_type {
        MonitorType::Website | MonitorType::WebsiteApi => "`http://example.com/`",
        MonitorType::WebsiteSsl | MonitorType::WebsiteSslApi | MonitorType::BrowserScript => {
            "`https://example.com/`"
        }
        MonitorType::SecurityScan => "`example.com` or `https://example.com/`",
        MonitorType::Tcp => "`example.com:443`",
        _ => "`host.example.com`",
    }
}

/// Splits `host:port` and `[address]:port`; a target with a scheme is not split.
fn split_host_and_port(target: &str) -> (&str, Option<i64>) {
    if target.contains("://") {
        return (target, None);
    }
    let (host, port) = match target.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, rest)) => (host, rest.strip_prefix(':')),
        None => match target.split_once(':') {
            Some((host, port)) if !port.contains(':') => (host, Some(port)),
            _ => (target, None),
        },
    };
    match port.map(str::parse) {
        None => (host, None),
        Some(Ok(port)) => (host, Some(port)),
        // The validation of the host name reports the error.
        Some(Err(_)) => (target, None),
    }
}

/// Parses `value` for the field `name`: text is used as it is, everything else is JSON.
fn parse_field_value(monitor_type: MonitorType, name: &str, value: &str) -> anyhow::Result<Node> {
    let base_name = ["_file", "_env"].iter().find_map(|suffix| name.strip_suffix(suffix));
    let type_table = table::for_type(monitor_type);
    let field = type_table.field(name).or_else(|| type_table.field(base_name?).filter(|field| field.secret));
    let field = field.ok_or_else(|| fields::unknown_field_error(monitor_type, name))?;
    if matches!(field.field_type, FieldType::Text { .. } | FieldType::TextEnum(_)) {
        return Ok(Node { value: NodeValue::Text(value.to_owned()), position: Position::default() });
    }
    let node = Node::from_yaml(value).map_err(|error| {
        let hint = format!("it must be {}, written as JSON", field.field_type.requirement());
        UsageError::with_hint(
            format!("the value of `--set {name}` cannot be read: {}", error.message),
            Some(hint),
        )
    })?;
    // Positions within the value would be printed as positions in a file.
    Ok(without_positions(node))
}

fn without_positions(mut node: Node) -> Node {
    node.position = Position::default();
    node.value = match node.value {
        NodeValue::List(items) => NodeValue::List(items.into_iter().map(without_positions).collect()),
        NodeValue::Map(entries) => NodeValue::Map(
            entries
                .into_iter()
                .map(|(name, node)| (key_without_position(&name.name), without_positions(node)))
                .collect(),
        ),
        scalar => scalar,
    };
    node
}

fn key_without_position(name: &str) -> Key {
    Key { name: name.to_owned(), position: Position::default() }
}

/// Returns the field `name` with a text.
pub(super) fn text_entry(name: &str, value: &str) -> (Key, Node) {
    (
        key_without_position(name),
        Node { value: NodeValue::Text(value.to_owned()), position: Position::default() },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_split_into_host_and_port() {
        for (target, host, port) in [
            ("example.com", "example.com", None),
            ("example.com:443", "example.com", Some(443)),
            ("example.com:0", "example.com", Some(0)),
            ("example.com:http", "example.com:http", None),
            ("192.0.2.1:53", "192.0.2.1", Some(53)),
            ("2001:db8::1", "2001:db8::1", None),
            ("[2001:db8::1]:53", "2001:db8::1", Some(53)),
            ("[2001:db8::1]", "2001:db8::1", None),
            ("smtps://mail.example.com:465", "smtps://mail.example.com:465", None),
        ] {
            assert_eq!(split_host_and_port(target), (host, port), "{target}");
        }
    }

    #[test]
    fn a_target_of_the_wrong_form_gets_the_right_one() {
        use MonitorType::{Ping, Tcp, Website, WebsiteSsl};
        for (monitor_type, target, expected) in [
            (Website, "127.0.0.1:80", Some("http://127.0.0.1/")),
            (Website, "shop.test:8080/cart", Some("http://shop.test:8080/cart")),
            (WebsiteSsl, "shop.test", Some("https://shop.test/")),
            (Website, "ftp://shop.test/", None),
            (Website, "", None),
            (Website, "no host", None),
            (Ping, "https://shop.test/", Some("shop.test")),
            (Tcp, "tcp://shop.test:5432", Some("shop.test:5432")),
            (Ping, "shop_test!", None),
        ] {
            assert_eq!(suggest_target(monitor_type, target).as_deref(), expected, "{target}");
        }
        let masked = suggest_target(Website, "anna:hunter2@shop.test").unwrap();
        assert!(masked.contains("shop.test") && !masked.contains("hunter2"), "{masked}");
    }

    #[test]
    fn a_scan_takes_a_host_or_a_url() {
        let settings = Settings::load(&crate::settings::SettingSources::default()).unwrap();
        for (target, field) in
            [("shop.test", "hostname"), ("192.0.2.1", "hostname"), ("https://shop.test/", "url")]
        {
            let subject = from_arguments(MonitorType::SecurityScan, target, &[], &settings).unwrap();
            assert_eq!(subject.document.value(field), Some(&target.into()), "{target}");
        }
    }

    #[test]
    fn values_are_text_or_json_by_the_field() {
        let kind = MonitorType::Website;
        let parsed = |name, value| parse_field_value(kind, name, value).unwrap().value;
        assert_eq!(parsed("keyword_string", "123"), NodeValue::Text("123".into()));
        assert_eq!(parsed("timeout", "5"), NodeValue::Int(5));
        assert_eq!(parsed("http_follow_redirects", "false"), NodeValue::Bool(false));
        assert!(matches!(parsed("http_headers", r#"[{"name":"a","value":"b"}]"#), NodeValue::List(_)));
        assert_eq!(parsed("realm_password_file", "/secret"), NodeValue::Text("/secret".into()));
        for (name, value) in [("http_headers", "[{"), ("keywrd_string", "x"), ("url_file", "x")] {
            assert!(parse_field_value(kind, name, value).unwrap_err().is::<UsageError>(), "{name}");
        }
    }
}
