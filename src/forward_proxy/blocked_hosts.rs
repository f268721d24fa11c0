//! Hosts that a browser may not load from.

use std::net::Ipv6Addr;
use std::str::FromStr;

/// Host patterns: a name or address (`ads.example.com`), or `*.example.com` for all names below it, without itself.
/// Case-insensitive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockedHosts(Vec<String>);

/// Error of a text that is not a host pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a host: write a name or address, or `*.` before a name for all names below it")]
pub struct HostPatternError(String);

impl BlockedHosts {
    /// Parses one pattern per text; empty texts are skipped.
    ///
    /// # Errors
    /// The first text that is not a pattern.
    pub fn parse<S: AsRef<str>>(texts: &[S]) -> Result<Self, HostPatternError> {
        let texts = texts.iter().map(|text| text.as_ref().trim()).filter(|text| !text.is_empty());
        texts.map(parse_host_pattern).collect::<Result<_, _>>().map(Self)
    }

    /// Returns the pattern that matches `host`.
    #[must_use]
    pub fn matching_pattern(&self, host: &str) -> Option<&str> {
        let host = normalize_host(host);
        let matches = |pattern: &&String| match pattern.strip_prefix('*') {
            Some(suffix) => host.len() > suffix.len() && host.ends_with(suffix),
            None => host == **pattern,
        };
        self.0.iter().find(matches).map(String::as_str)
    }
}

impl FromStr for BlockedHosts {
    type Err = HostPatternError;

    /// Parses patterns separated by commas or white space.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts: Vec<&str> = text.split(|c: char| c == ',' || c.is_whitespace()).collect();
        Self::parse(&parts)
    }
}

fn parse_host_pattern(text: &str) -> Result<String, HostPatternError> {
    if let Ok(address) = text.parse::<Ipv6Addr>() {
        return Ok(address.to_string());
    }
    let name = text.strip_prefix("*.").unwrap_or(text);
    let is_allowed = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']');
    if name.is_empty() || name.starts_with('.') || !name.chars().all(is_allowed) {
        return Err(HostPatternError(text.to_owned()));
    }
    // A browser requests names in their ASCII form (RFC 5890).
    let ascii_host = match url::Host::parse(name) {
        Ok(host) => host.to_string(),
        Err(_) => return Err(HostPatternError(text.to_owned())),
    };
    let prefix = if text.starts_with("*.") { "*." } else { "" };
    Ok(format!("{prefix}{}", normalize_host(&ascii_host)))
}

/// Returns `host` in lower case, without brackets and without the dot of the root.
pub(super) fn normalize_host(host: &str) -> String {
    let host = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_match_only_their_patterns() {
        let blocked: BlockedHosts =
            "ads.example.com, *.Tracker.net\n 192.0.2.7 [::1] 2001:DB8:0::7 *.bücher.example"
                .parse()
                .unwrap();
        for (host, rule) in [
            ("ads.example.com", Some("ads.example.com")),
            ("ADS.example.com.", Some("ads.example.com")),
            ("x.ads.example.com", None),
            ("tracker.net", None),
            ("a.tracker.net", Some("*.tracker.net")),
            ("a.b.tracker.net", Some("*.tracker.net")),
            ("nottracker.net", None),
            ("192.0.2.7", Some("192.0.2.7")),
            ("[::1]", Some("::1")),
            ("[2001:db8::7]", Some("2001:db8::7")),
            ("www.xn--bcher-kva.example", Some("*.xn--bcher-kva.example")),
        ] {
            assert_eq!(blocked.matching_pattern(host), rule, "{host}");
        }
    }

    #[test]
    fn texts_that_are_no_hosts_are_refused() {
        for text in ["http://a.example/", "*", "*.", "*.*.example", "a*b", ".example.com", "a..b/"] {
            assert!(BlockedHosts::parse(&[text]).is_err(), "{text}");
        }
        assert_eq!("".parse(), Ok(BlockedHosts::default()));
    }
}
