//! The names under which browsers may reach the pages. In DNS rebinding, the name of another site resolves to this
//! host; the browser then sends that name and takes both for one site.

use std::net::IpAddr;
use std::sync::Arc;

/// The names under which browsers may reach the pages. Literal addresses and `localhost` need no entry, since no other
/// site can have them.
#[derive(Clone, Debug, Default)]
pub struct KnownHosts {
    names: Arc<[String]>,
}

impl KnownHosts {
    /// Allows `names`, each a host, or `*.` and a domain for all hosts below it.
    #[must_use]
    pub fn new(names: impl IntoIterator<Item = String>) -> Self {
        Self { names: names.into_iter().map(|name| normalize(&name)).collect() }
    }

    /// Whether `authority`, a host with or without a port, is known.
    pub(super) fn contains(&self, authority: &str) -> bool {
        let host = match authority.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => authority.rsplit_once(':').map_or(authority, |(host, _)| host),
        };
        let host = normalize(host);
        let is_below = |name: &str| {
            let domain = name.strip_prefix("*.")?;
            host.strip_suffix(domain)?.strip_suffix('.').filter(|rest| !rest.is_empty())
        };
        host == "localhost"
            || host.parse::<IpAddr>().is_ok()
            || self.names.iter().any(|name| *name == host || is_below(name).is_some())
    }
}

fn normalize(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literal_addresses_localhost_and_listed_names_are_known() {
        let hosts = KnownHosts::new(["Vigie.example".to_owned(), "*.ops.example".to_owned()]);
        for known in [
            "localhost",
            "LOCALHOST:7979",
            "127.0.0.1:7979",
            "192.0.2.1",
            "[2001:db8::1]:80",
            "[::1]",
            "vigie.example",
            "vigie.EXAMPLE.:443",
            "a.ops.example:1",
            "a.b.ops.example",
        ] {
            assert!(hosts.contains(known), "{known}");
        }
        for unknown in [
            "",
            "evil.example",
            "localhost.evil.example",
            "vigie.example.evil.example",
            "ops.example",
            ".ops.example",
            "xops.example",
            "127.0.0.1.evil.example:7979",
        ] {
            assert!(!hosts.contains(unknown), "{unknown}");
        }
    }
}
