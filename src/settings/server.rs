//! Settings of the HTTP server: its addresses, certificate and limits.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use super::settings_reader::SettingsReader;
use crate::net::{IpNetwork, Pem};
use crate::syntax::ValidationErrorKind;

/// Most properties that are labels of a metric: the number of series grows with each.
const MAX_METRICS_PROPERTIES: usize = 5;

/// Settings of the HTTP server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSettings {
    /// Paths of the certificate file and the key file; `None` for plain HTTP.
    pub tls_files: Option<(PathBuf, PathBuf)>,
    /// Maximum size of a request body in bytes.
    pub max_body_bytes: usize,
    /// Time until a response must start.
    pub response_start_timeout: Duration,
    /// Whether everyone may see the pages without a login.
    pub public_pages: bool,
    /// Names under which browsers may open the pages.
    pub hosts: Vec<String>,
    /// Networks of proxies that name the client.
    pub trusted_proxies: Vec<IpNetwork>,
    /// Networks whose clients may read the metrics without a token.
    pub metrics_allow: Vec<IpNetwork>,
    /// Custom properties whose values are labels of metrics.
    pub metrics_properties: Vec<String>,
    /// Most series of a monitor in `/metrics/monitors`, without those of histograms.
    pub metrics_series: u32,
    /// Whether that has a histogram of the durations of each monitor.
    pub metrics_histograms: bool,
}

pub(super) fn read_listen_addresses(reader: &SettingsReader<'_>) -> Vec<SocketAddr> {
    let mut texts = reader.text_list("listen");
    texts.extend(reader.optional_text("listen"));
    texts.iter().flat_map(|text| text.split(',')).filter_map(|part| part.trim().parse().ok()).collect()
}

pub(super) fn read_server(reader: &mut SettingsReader<'_>) -> ServerSettings {
    let (certificate_path, key_path) = ("server.tls_cert_file", "server.tls_key_file");
    let tls = match (reader.optional_text(certificate_path), reader.optional_text(key_path)) {
        (Some(certificate_file), Some(key_file)) => {
            check_server_certificate(reader);
            Some((certificate_file.into(), key_file.into()))
        }
        (None, None) => None,
        (certificate_file, _) => {
            let (present, missing) = if certificate_file.is_some() {
                (certificate_path, key_path)
            } else {
                (key_path, certificate_path)
            };
            let position = reader.node(present).position;
            reader.add_error(
                ValidationErrorKind::MissingField,
                present,
                position,
                format!("`{present}` needs `{missing}` as well"),
            );
            None
        }
    };
    ServerSettings {
        tls_files: tls,
        max_body_bytes: reader.count("server.body_bytes"),
        response_start_timeout: Duration::from_secs(reader.int("server.request_seconds").unsigned_abs()),
        public_pages: reader.node("server.public_pages").to_json() == Value::Bool(true),
        hosts: reader.text_list("server.hosts"),
        trusted_proxies: read_networks(reader, "server.trusted_proxies"),
        metrics_allow: read_networks(reader, "server.metrics_allow"),
        metrics_properties: read_metrics_properties(reader),
        metrics_series: u32::try_from(reader.int("server.metrics_series")).unwrap_or(u32::MAX),
        metrics_histograms: reader.node("server.metrics_histograms").to_json() == Value::Bool(true),
    }
}

/// Reads the properties; their labels must differ.
fn read_metrics_properties(reader: &mut SettingsReader<'_>) -> Vec<String> {
    let path = "server.metrics_properties";
    let (names, position) = (reader.text_list(path), reader.node(path).position);
    let labels: BTreeSet<String> = names.iter().map(|name| property_label(name)).collect();
    let problem = if names.len() > MAX_METRICS_PROPERTIES {
        Some(format!("`{path}` may have at most {MAX_METRICS_PROPERTIES} names"))
    } else if labels.len() < names.len() {
        Some(format!("`{path}`: two names have the same label; letters, digits and `_` tell them apart"))
    } else {
        None
    };
    if let Some(message) = problem {
        reader.add_error(ValidationErrorKind::Conflict, path, position, message);
    }
    names
}

/// Returns the label of a property in the metrics: `Team name` becomes `property_Team_name`.
#[must_use]
pub fn property_label(name: &str) -> String {
    let to_label_char = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    format!("property_{}", name.chars().map(to_label_char).collect::<String>())
}

fn read_networks(reader: &SettingsReader<'_>, path: &str) -> Vec<IpNetwork> {
    reader.text_list(path).iter().filter_map(|text| text.parse().ok()).collect()
}

/// Checks the certificate and key of the server.
fn check_server_certificate(reader: &mut SettingsReader<'_>) {
    let (certificate, key) =
        (reader.node("server.tls_cert_file").clone(), reader.node("server.tls_key_file").clone());
    let pem = reader.read_pem("server.tls_cert_file", &certificate, Pem::check_certificates);
    let key_pem = reader.read_pem("server.tls_key_file", &key, |_| Ok(()));
    if let (Some(pem), Some(key_pem)) = (pem, key_pem) {
        reader.report_if_failed(
            "server.tls_key_file",
            key.position,
            pem.with_key(&key_pem).check_certificate_and_key(),
        );
    }
}
