//! The proxies that monitors refer to by id.

use std::collections::BTreeMap;

use super::certificates::read_allowed_accounts;
use super::setting_type::parse_endpoint;
use super::settings_reader::SettingsReader;
use crate::net::{ProxyProtocol, UpstreamProxy};
use crate::syntax::ValidationErrorKind;
use crate::syntax::node::Node;

/// Allowed length of a user name or password of SOCKS 5, in bytes (RFC 1929 2).
const SOCKS_LOGIN_BYTES: std::ops::RangeInclusive<usize> = 1..=255;

/// Reads the entries of `proxies`, by id.
pub(super) fn read_proxies(reader: &mut SettingsReader<'_>) -> BTreeMap<i64, UpstreamProxy> {
    let entries = reader.entries_reporting_duplicates("proxies");
    entries
        .iter()
        .filter_map(|(index, entry)| read_proxy_entry(reader, &format!("proxies[{index}]"), entry))
        .collect()
}

fn read_proxy_entry(
    reader: &mut SettingsReader<'_>,
    path: &str,
    entry: &Node,
) -> Option<(i64, UpstreamProxy)> {
    let text = |field_name: &str| entry.get(field_name).and_then(Node::as_text).map(str::to_owned);
    let kind = ProxyProtocol::from_name(&text("kind")?)?;
    let proxy = UpstreamProxy::new(kind, parse_endpoint(&text("server")?)?)
        .with_allowed_accounts(read_allowed_accounts(entry));
    let id = entry.get("id")?.to_json().as_i64()?;
    let (username, password_file) = (text("username"), entry.get("password_file"));
    let password = password_file.map(|node| reader.read_secret_file(&format!("{path}.password_file"), node));
    let Some(username) = username else {
        if let Some(password_file) = password_file {
            let message = format!("`{path}.password_file` needs `{path}.username` as well");
            reader.add_error(
                ValidationErrorKind::MissingField,
                &format!("{path}.password_file"),
                password_file.position,
                message,
            );
        }
        return Some((id, proxy));
    };
    let password = password.unwrap_or_default();
    let username_position = entry.get("username").map(|node| node.position).unwrap_or_default();
    let problem = match kind {
        // The end of the name would be ambiguous (RFC 7617 2).
        ProxyProtocol::Http if username.contains(':') => Some(("username", "must be a text without a colon")),
        ProxyProtocol::Socks5 if !SOCKS_LOGIN_BYTES.contains(&username.len()) => {
            Some(("username", "must have 1 to 255 bytes"))
        }
        ProxyProtocol::Socks5 if password_file.is_none() => {
            Some(("username", "needs `password_file` as well: SOCKS 5 has no login without a password"))
        }
        ProxyProtocol::Socks5 if !SOCKS_LOGIN_BYTES.contains(&password.0.len()) => {
            Some(("password_file", "must hold a password of 1 to 255 bytes"))
        }
        _ => None,
    };
    if let Some((field_name, message)) = problem {
        let path = format!("{path}.{field_name}");
        reader.add_error(
            ValidationErrorKind::Format,
            &path,
            username_position,
            format!("`{path}` {message}"),
        );
    }
    Some((id, proxy.with_credentials(&username, &password.0)))
}
