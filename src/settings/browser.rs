//! Settings of the browsers of this process.

use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use super::settings_reader::SettingsReader;
use crate::browser::{BrowserKind, BrowserPoolConfig, RemoteWebDriver};
use crate::net::IpNetwork;
use crate::syntax::ValidationErrorKind;
use crate::syntax::node::Node;

/// Reads the settings of `browser`.
pub(super) fn read_browser(reader: &mut SettingsReader<'_>) -> BrowserPoolConfig {
    let path = |name: &str| reader.optional_text(&format!("browser.{name}")).map(PathBuf::from);
    let mib_as_bytes =
        |name: &str| reader.node(&format!("browser.{name}")).to_json().as_u64().map(|mib| mib << 20);
    let defaults = BrowserPoolConfig::default();
    BrowserPoolConfig {
        profiles_folder: path("folder"),
        os_user: reader.optional_text("browser.user"),
        use_sandbox: reader.node("browser.sandbox").to_json() == true,
        chromium: path("chromium"),
        chromedriver: path("chromedriver"),
        firefox: path("firefox"),
        geckodriver: path("geckodriver"),
        max_memory_bytes_per_browser: mib_as_bytes("memory_mb")
            .unwrap_or(defaults.max_memory_bytes_per_browser),
        max_memory_bytes_total: mib_as_bytes("total_memory_mb"),
        niceness: u8::try_from(reader.int("browser.nice")).unwrap_or(defaults.niceness),
        start_timeout: Duration::from_secs(reader.int("browser.start_seconds").unsigned_abs()),
        remotes: read_remotes(reader),
    }
}

fn read_remotes(reader: &mut SettingsReader<'_>) -> Vec<RemoteWebDriver> {
    let entries = reader.entries_reporting_duplicates("browser.remote");
    let mut remotes: Vec<RemoteWebDriver> = Vec::new();
    for (index, entry) in &entries {
        let path = format!("browser.remote[{index}]");
        let Some(remote) = read_remote(reader, &path, entry) else { continue };
        remotes.push(remote);
    }
    remotes
}

fn read_remote(reader: &mut SettingsReader<'_>, path: &str, entry: &Node) -> Option<RemoteWebDriver> {
    let text = |name: &str| entry.get(name).and_then(Node::as_text);
    let position_of = |name: &str| entry.get(name).map_or(entry.position, |node| node.position);
    let kind = BrowserKind::from_name(text("browser")?)?;
    let is_usable = |url: &url::Url| {
        let is_plain_http =
            url.scheme() == "http" && url.has_host() && url.username().is_empty() && url.password().is_none();
        let is_socket = url.scheme() == "unix" && !url.has_host() && url.path().starts_with('/');
        is_plain_http || is_socket
    };
    let Some(url) = url::Url::parse(text("url")?).ok().filter(is_usable) else {
        let path = format!("{path}.url");
        let message = format!(
            "`{path}` must be an address that begins with `http://`, without a login, or `unix:` and the absolute path of the socket of a browser host"
        );
        reader.add_error(ValidationErrorKind::Format, &path, position_of("url"), message);
        return None;
    };
    if url.scheme() == "unix" {
        check_browser_host(reader, path, entry, kind);
        return Some(RemoteWebDriver {
            browser_kind: kind,
            url,
            forward_proxy_address: None,
            client_networks: Vec::new(),
            forward_proxy_ports: None,
        });
    }
    let forward_proxy_address: Option<IpAddr> = match text("forward_host").map(str::parse) {
        Some(Err(_)) => {
            let path = format!("{path}.forward_host");
            let message = format!("`{path}` must be an address of this host, such as `192.0.2.7`");
            reader.add_error(ValidationErrorKind::Format, &path, position_of("forward_host"), message);
            return None;
        }
        Some(Ok(address)) => Some(address),
        None => None,
    };
    let network_nodes = entry.get("from").map(Node::items).unwrap_or_default();
    let mut client_networks: Vec<IpNetwork> =
        network_nodes.iter().filter_map(Node::as_text).filter_map(|text| text.parse().ok()).collect();
    let url_address = match url.host() {
        Some(url::Host::Ipv4(address)) => Some(IpAddr::V4(address)),
        Some(url::Host::Ipv6(address)) => Some(IpAddr::V6(address)),
        _ => None,
    };
    if client_networks.is_empty() {
        client_networks.extend(url_address.map(IpNetwork::from_address));
    }
    if client_networks.is_empty() {
        let field_path = format!("{path}.from");
        let message = format!("`{field_path}` is needed where the host of `{path}.url` is a name");
        reader.add_error(ValidationErrorKind::MissingField, &field_path, entry.position, message);
    }
    let forward_proxy_ports = match text("forward_ports").map(parse_port_range) {
        Some(None) => {
            let path = format!("{path}.forward_ports");
            let message = format!("`{path}` must be a range of ports, such as `9600-9650`");
            reader.add_error(ValidationErrorKind::Format, &path, position_of("forward_ports"), message);
            return None;
        }
        Some(ports) => ports,
        None => None,
    };
    Some(RemoteWebDriver {
        browser_kind: kind,
        url,
        forward_proxy_address,
        client_networks,
        forward_proxy_ports,
    })
}

/// Checks the end point of a browser host, whose browsers reach the forward proxy over the same socket.
fn check_browser_host(reader: &mut SettingsReader<'_>, path: &str, entry: &Node, browser_kind: BrowserKind) {
    let network_fields = ["forward_host", "from", "forward_ports"];
    let unused = network_fields.into_iter().find_map(|name| Some((name, entry.get(name)?)));
    if let Some((name, node)) = unused {
        let path = format!("{path}.{name}");
        let message = format!("`{path}` has no effect with a browser host: its connections use the socket");
        reader.add_error(ValidationErrorKind::Conflict, &path, node.position, message);
    }
    if browser_kind == BrowserKind::InternetExplorer {
        let path = format!("{path}.browser");
        let message = format!("`{path}` cannot be `Internet Explorer` with a browser host");
        reader.add_error(ValidationErrorKind::Conflict, &path, entry.position, message);
    }
}

/// Parses `FIRST-LAST`, neither of which is 0.
fn parse_port_range(text: &str) -> Option<RangeInclusive<u16>> {
    let (first, last) = text.split_once('-')?;
    let ports = first.trim().parse().ok()?..=last.trim().parse().ok()?;
    (*ports.start() > 0 && !ports.is_empty()).then_some(ports)
}
