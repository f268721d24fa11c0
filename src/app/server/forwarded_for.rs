//! Reads the client that trusted proxies name. Each proxy appends the address that it got a request from, so the
//! fields are read from the right: everything left of the first address that is not trusted may be forged.

use std::net::{IpAddr, SocketAddr};

use axum::http::HeaderMap;

use crate::net::IpNetwork;

/// Most addresses that are read.
const MAX_HOPS: usize = 20;

/// The client that proxies name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NamedClient {
    /// They name none.
    None,
    /// This one.
    Client(IpAddr),
    /// What they say cannot be relied on.
    Unclear,
}

/// Returns the client of a request that came from a trusted proxy.
pub(super) fn named_client(headers: &HeaderMap, trusted_proxies: &[IpNetwork]) -> NamedClient {
    let x_forwarded_for_client = rightmost_client(forwarded_for_addresses(headers), trusted_proxies);
    let forwarded_client = rightmost_client(forwarded_addresses(headers), trusted_proxies);
    match (x_forwarded_for_client, forwarded_client) {
        (client, NamedClient::None) | (NamedClient::None, client) => client,
        (client, same_client) if client == same_client => client,
        // A proxy sets one of both, and passes on what the client sent in the other.
        _ => NamedClient::Unclear,
    }
}

/// Whether the proxy says that the client uses TLS.
pub(super) fn is_forwarded_tls(headers: &HeaderMap) -> bool {
    let values = headers.get_all("x-forwarded-proto").iter().filter_map(|value| value.to_str().ok());
    let last = values.flat_map(|value| value.split(',')).last();
    last.is_some_and(|scheme| scheme.trim().eq_ignore_ascii_case("https"))
}

/// Returns the last address that is not trusted. `None` stands for an entry that is no address.
fn rightmost_client(addresses: Vec<Option<IpAddr>>, trusted_proxies: &[IpNetwork]) -> NamedClient {
    if addresses.is_empty() {
        return NamedClient::None;
    }
    for address in addresses.into_iter().rev().take(MAX_HOPS) {
        match address {
            None => return NamedClient::Unclear,
            Some(address) if trusted_proxies.iter().any(|network| network.contains(address)) => {}
            Some(address) => return NamedClient::Client(address),
        }
    }
    NamedClient::Unclear
}

/// Returns the addresses in `X-Forwarded-For`, in their order.
fn forwarded_for_addresses(headers: &HeaderMap) -> Vec<Option<IpAddr>> {
    elements(headers, "x-forwarded-for").iter().map(|text| parse_node(text)).collect()
}

/// Returns the addresses in `Forwarded` (RFC 7239), in their order.
fn forwarded_addresses(headers: &HeaderMap) -> Vec<Option<IpAddr>> {
    let for_node = |element: &String| {
        let mut pairs = element.split(';').filter_map(|pair| pair.trim().split_once('='));
        let (_, node) = pairs.find(|(name, _)| name.trim().eq_ignore_ascii_case("for"))?;
        parse_node(node.trim().trim_matches('"'))
    };
    elements(headers, "forwarded").iter().map(for_node).collect()
}

/// Returns the elements of a list over all fields of this name. A value that is no text is one invalid element.
fn elements(headers: &HeaderMap, name: &str) -> Vec<String> {
    let values = headers.get_all(name).iter().map(|value| value.to_str().unwrap_or("?"));
    values.flat_map(|value| value.split(',')).map(|element| element.trim().to_owned()).collect()
}

/// Parses an address with or without a port; that of IPv6 with or without brackets.
fn parse_node(text: &str) -> Option<IpAddr> {
    let without_brackets = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    let address = without_brackets.parse::<IpAddr>().ok();
    let address = address.or_else(|| text.parse::<SocketAddr>().ok().map(|address| address.ip()));
    address.map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    fn client(fields: &[(&'static str, &'static str)]) -> NamedClient {
        let trusted: Vec<IpNetwork> =
            ["127.0.0.0/8", "10.0.0.0/8"].map(|network| network.parse().unwrap()).into();
        named_client(&headers(fields), &trusted)
    }

    fn headers(fields: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn the_rightmost_address_that_is_not_trusted_is_the_client() {
        let named = |address: &str| NamedClient::Client(address.parse().unwrap());
        assert_eq!(client(&[]), NamedClient::None);
        for (value, expected) in [
            ("192.0.2.7", "192.0.2.7"),
            ("198.51.100.1, 192.0.2.7", "192.0.2.7"),
            ("127.0.0.1, 192.0.2.7, 10.1.1.1", "192.0.2.7"),
            ("nonsense, 192.0.2.7:4711", "192.0.2.7"),
            ("[2001:db8::1]:80", "2001:db8::1"),
            ("2001:db8::1", "2001:db8::1"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
        ] {
            assert_eq!(client(&[("x-forwarded-for", value)]), named(expected), "{value}");
        }
        // Several fields are one list.
        let twice = [("x-forwarded-for", "198.51.100.1"), ("x-forwarded-for", "192.0.2.7")];
        assert_eq!(client(&twice), named("192.0.2.7"));
        for (value, expected) in [
            ("for=192.0.2.7;proto=https;by=10.0.0.1", "192.0.2.7"),
            ("for=198.51.100.1, For=\"[2001:db8::1]:4711\"", "2001:db8::1"),
        ] {
            assert_eq!(client(&[("forwarded", value)]), named(expected), "{value}");
        }
    }

    #[test]
    fn what_cannot_be_relied_on_names_nobody() {
        for value in ["", "unknown", "192.0.2.7, _hidden", "192.0.2.7,", "10.0.0.1", "127.0.0.1, 10.0.0.1"] {
            assert_eq!(client(&[("x-forwarded-for", value)]), NamedClient::Unclear, "{value}");
        }
        assert_eq!(client(&[("forwarded", "for=192.0.2.7, proto=https")]), NamedClient::Unclear);
        let forged = [("x-forwarded-for", "192.0.2.7"), ("forwarded", "for=198.51.100.1")];
        assert_eq!(client(&forged), NamedClient::Unclear);
        let same = [("x-forwarded-for", "192.0.2.7"), ("forwarded", "for=192.0.2.7")];
        assert_eq!(client(&same), NamedClient::Client("192.0.2.7".parse().unwrap()));
    }

    #[test]
    fn the_last_scheme_counts() {
        assert!(is_forwarded_tls(&headers(&[("x-forwarded-proto", "http, HTTPS")])));
        assert!(!is_forwarded_tls(&headers(&[("x-forwarded-proto", "https, http")])));
        assert!(!is_forwarded_tls(&headers(&[])));
    }
}
