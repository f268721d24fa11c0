//! The proxies that monitors refer to by id.

use std::collections::BTreeMap;

use super::setting_type::parse_endpoint;
use super::settings_reader::SettingsReader;
use crate::net::{ProxyKind, UpstreamProxy};
use crate::syntax::ValidationErrorKind;
use crate::syntax::node::Node;

/// Allowed length of a user name or password of SOCKS 5, in bytes (RFC 1929 2).
const SOCKS_LOGIN_BYTES: std::ops::RangeInclusive<usize> = 1..=255;

/// Reads the entries of `proxies`, by id.
pub(super) fn read_proxies(reader: &mut SettingsReader<'_>) -> BTreeMap<i64, UpstreamProxy> {
    let entries = reader.unique_entries("proxies");
    entries
        .iter()
        .filter_map(|(at, entry)| read_proxy_entry(reader, &format!("proxies[{at}]"), entry))
        .collect()
}

fn read_proxy_entry(
    reader: &mut SettingsReader<'_>,
    path: &str,
    entry: &Node,
) -> Option<(i64, UpstreamProxy)> {
    let text = |name: &str| entry.get(name).and_then(Node::as_text).map(str::to_owned);
    let kind = ProxyKind::from_name(&text("kind")?)?;
    let proxy = UpstreamProxy::new(kind, parse_endpoint(&text("server")?)?);
    let id = entry.get("id")?.to_json().as_i64()?;
    let (name, file) = (text("username"), entry.get("password_file"));
    let password = file.map(|node| reader.read_secret_file(&format!("{path}.password_file"), node));
    let Some(name) = name else {
        if let Some(file) = file {
            let message = format!("`{path}.password_file` needs `{path}.username` as well");
            reader.add_error(
                ValidationErrorKind::MissingField,
                &format!("{path}.password_file"),
                file.position,
                message,
            );
        }
        return Some((id, proxy));
    };
    let password = password.unwrap_or_default();
    let position = entry.get("username").map(|node| node.position).unwrap_or_default();
    let problem = match kind {
        // The end of the name would be ambiguous (RFC 7617 2).
        ProxyKind::Http if name.contains(':') => Some(("username", "must be a text without a colon")),
        ProxyKind::Socks5 if !SOCKS_LOGIN_BYTES.contains(&name.len()) => {
            Some(("username", "must have 1 to 255 bytes"))
        }
        ProxyKind::Socks5 if file.is_none() => {
            Some(("username", "needs `password_file` as well: SOCKS 5 has no login without a password"))
        }
        ProxyKind::Socks5 if !SOCKS_LOGIN_BYTES.contains(&password.0.len()) => {
            Some(("password_file", "must hold a password of 1 to 255 bytes"))
        }
        _ => None,
    };
    if let Some((part, message)) = problem {
        let path = format!("{path}.{part}");
        reader.add_error(ValidationErrorKind::Format, &path, position, format!("`{path}` {message}"));
    }
    Some((id, proxy.with_credentials(&name, &password.0)))
}
