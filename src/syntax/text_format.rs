//! Formats of texts.

use std::net::{IpAddr, Ipv4Addr};

/// A format of a text, beyond its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextFormat {
    /// Any text.
    Any,
    /// A name: no control characters, and none that change the direction of text.
    Name,
    /// An IPv4 address.
    Ipv4,
    /// An IPv4 or IPv6 address.
    Ip,
    /// An absolute URL of scheme http or https with a host.
    HttpUrl,
    /// A template of such a URL: `{{name}}` may occur anywhere in it.
    HttpUrlTemplate,
    /// A host name or an address.
    Host,
    /// A host, optionally with one of these schemes before it and a port after it (behaviour.md 1).
    ServiceAddress(&'static [&'static str]),
    /// A mail address.
    Email,
    /// A name of a variable: `[A-Za-z_][A-Za-z0-9_]*`.
    Identifier,
    /// A token of RFC 9110 5.6.2, such as an HTTP method.
    Token,
    /// The name of a header that a check may set: a token; not Host, Content-Length or hop-by-hop.
    HeaderName,
    /// The value of a header: no line breaks or other control characters.
    HeaderValue,
    /// A list of HTTP status codes, ranges and classes.
    HttpStatusCodes,
    /// JSON.
    Json,
    /// JSON of a collection, an environment or globals, whose variables of type secret are secrets.
    VariablesJson,
    /// A JSON Schema: a text that is JSON, or an object, which is stored as its text.
    JsonSchema,
    /// XML.
    Xml,
    /// A browser script (behaviour.md 8): XML, stored even when it cannot be parsed; may contain secrets.
    Script,
    /// Base64 of RFC 4648 4; line breaks are allowed.
    Base64,
    /// `hh:mm`, 24 hours.
    TimeOfDay,
    /// `YYYY-MM-DD HH:MM:SS` without a zone (behaviour.md 1).
    LocalDateTime,
}

/// Headers that a check sets itself: RFC 9110 7.6.1 and 7.2, RFC 9112 6.
pub(crate) const RESERVED_HEADERS: &[&str] = &[
    "host",
    "content-length",
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

impl TextFormat {
    /// Returns the expected format, worded to follow `must be` in a message.
    #[must_use]
    pub const fn requirement(self) -> &'static str {
        match self {
            Self::Any => "a text",
            Self::Name => {
                "a name without control characters and characters that change the direction of text"
            }
            Self::Ipv4 => "an IPv4 address",
            Self::Ip => "an IPv4 or IPv6 address",
            Self::HttpUrl | Self::HttpUrlTemplate => "an http or https URL with a host",
            Self::Host => "a host name or an address",
            Self::ServiceAddress(_) => {
                "a host name or an address, with or without a scheme of the type and a port"
            }
            Self::Email => "a mail address",
            Self::Identifier => "a name of letters, digits and `_` that starts with no digit",
            Self::Token => "an HTTP token: letters, digits and !#$%&'*+-.^_`|~",
            Self::HeaderName => "the name of a header that a check does not set itself",
            Self::HeaderValue => "a header value without line breaks",
            Self::HttpStatusCodes => {
                "status codes such as `200`, `200-299` or `2xx`, with commas between them"
            }
            Self::Json | Self::VariablesJson => "a text that is JSON",
            Self::JsonSchema => "a JSON Schema: an object, or a text that is JSON",
            Self::Xml | Self::Script => "a text that is XML",
            Self::Base64 => "Base64",
            Self::TimeOfDay => "a time `hh:mm` of 24 hours",
            Self::LocalDateTime => "a time `YYYY-MM-DD HH:MM:SS`",
        }
    }

    /// Whether `text` has this format.
    #[must_use]
    pub fn matches(self, text: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Name => !text.contains(is_control_or_bidi),
            Self::Ipv4 => text.parse::<Ipv4Addr>().is_ok(),
            Self::Ip => text.parse::<IpAddr>().is_ok(),
            Self::HttpUrl => is_http_url(text),
            Self::HttpUrlTemplate => text.contains("{{") || is_http_url(text),
            Self::Host => is_host(text),
            Self::ServiceAddress(schemes) => parse_service_address(text, schemes).is_some(),
            Self::Email => is_email(text),
            Self::Identifier => is_identifier(text),
            Self::Token => is_token(text),
            Self::HeaderName => {
                is_token(text) && !RESERVED_HEADERS.contains(&text.to_ascii_lowercase().as_str())
            }
            Self::HeaderValue => !text.chars().any(|c| c.is_control() && c != '\t'),
            Self::HttpStatusCodes => super::status_codes::HttpStatusCodes::parse(text).is_some(),
            Self::Json | Self::VariablesJson | Self::JsonSchema => {
                serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
            }
            Self::Xml | Self::Script => {
                text.trim_start_matches('\u{feff}').trim().starts_with('<') && text.trim_end().ends_with('>')
            }
            Self::Base64 => is_base64(text),
            Self::TimeOfDay => is_time_of_day(text),
            Self::LocalDateTime => jiff::civil::DateTime::strptime("%Y-%m-%d %H:%M:%S", text).is_ok(),
        }
    }
}

/// Whether `c` controls a terminal, breaks a line, or changes the direction of the text around it: names with such
/// characters could look like others.
#[must_use]
pub fn is_control_or_bidi(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Scheme, host and port of the host field of a mail or FTP monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceAddress<'a> {
    /// In lower case as in `schemes`; `None` without a scheme.
    pub scheme: Option<&'static str>,
    /// Name or address; an IPv6 address without brackets.
    pub host: &'a str,
    /// The port after the host.
    pub port: Option<u16>,
}

/// Parses `smtps://host:465` and the like (behaviour.md 1, lenient inputs).
#[must_use]
pub fn parse_service_address<'a>(
    text: &'a str,
    schemes: &'static [&'static str],
) -> Option<ServiceAddress<'a>> {
    let (scheme, rest) = match text.split_once("://") {
        Some((scheme, rest)) => {
            (Some(*schemes.iter().find(|known| known.eq_ignore_ascii_case(scheme))?), rest)
        }
        None => (None, text),
    };
    let rest = if scheme.is_some() { rest.strip_suffix('/').unwrap_or(rest) } else { rest };
    let (host, port) = split_host_port(rest)?;
    is_host(host).then_some(ServiceAddress { scheme, host, port })
}

fn split_host_port(text: &str) -> Option<(&str, Option<u16>)> {
    if text.parse::<IpAddr>().is_ok() {
        return Some((text, None));
    }
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']')?;
            (host, if after.is_empty() { None } else { Some(after.strip_prefix(':')?) })
        }
        None => match text.rsplit_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    match port {
        None => Some((host, None)),
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            digits.parse().ok().filter(|port| *port > 0).map(|port| (host, Some(port)))
        }
        Some(_) => None,
    }
}

fn is_http_url(text: &str) -> bool {
    url::Url::parse(text).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.host_str().is_some_and(|host| !host.is_empty())
            && url.port() != Some(0)
    })
}

/// Whether `text` is a name of RFC 1123 with underscores and an optional final dot, or an address; other scripts are
/// accepted as in IDNA.
fn is_host(text: &str) -> bool {
    if text.parse::<IpAddr>().is_ok() {
        return true;
    }
    if !text.is_ascii() {
        return url::Host::parse(text).is_ok();
    }
    let name = text.strip_suffix('.').unwrap_or(text);
    name.len() <= 253 && name.split('.').all(is_host_label)
}

fn is_host_label(label: &str) -> bool {
    !label.is_empty()
        && label.len() <= 63
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        && !label.starts_with('-')
        && !label.ends_with('-')
}

fn is_email(text: &str) -> bool {
    text.rsplit_once('@').is_some_and(|(local, domain)| {
        !local.is_empty()
            && local.len() <= 64
            && !local.chars().any(|c| c.is_control() || c.is_whitespace() || matches!(c, '<' | '>' | ','))
            && is_host(domain.trim_start_matches('[').trim_end_matches(']'))
    })
}

fn is_identifier(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

fn is_base64(text: &str) -> bool {
    use base64::Engine as _;
    let compact: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    base64::engine::general_purpose::STANDARD.decode(compact).is_ok()
}

fn is_time_of_day(text: &str) -> bool {
    let bytes = text.as_bytes();
    let number = |range: std::ops::Range<usize>, limit: u8| {
        text.get(range).and_then(|digits| digits.parse::<u8>().ok()).is_some_and(|value| value < limit)
    };
    bytes.len() == 5
        && bytes[2] == b':'
        && bytes.iter().enumerate().all(|(index, byte)| index == 2 || byte.is_ascii_digit())
        && number(0..2, 24)
        && number(3..5, 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_format_accepts_its_texts_only() {
        let cases: &[(TextFormat, &[&str], &[&str])] = &[
            (TextFormat::Ipv4, &["127.0.0.1"], &["::1", "127.0.0", "a"]),
            (TextFormat::Ip, &["127.0.0.1", "::1"], &["[::1]", "localhost"]),
            (
                TextFormat::HttpUrl,
                &["http://a/", "https://a.example:8443/x?y#z", "http://[::1]:8080"],
                &["ftp://a/", "a.example", "http://", "http://a:0/", "http://a:65536/", ""],
            ),
            (TextFormat::HttpUrlTemplate, &["{{base}}/x", "http://a/{{id}}"], &["/x"]),
            (
                TextFormat::Host,
                &["a", "a.example.", "_x.a-b.example", "10.0.0.1", "::1", "münchen.example"],
                &["", "a b", "-a", "a..b", "http://a", "a:80"],
            ),
            (
                TextFormat::ServiceAddress(&["smtp", "smtps"]),
                &["a", "a:25", "smtps://a:465", "SMTP://a/", "[::1]:25", "::1", "smtp://[::1]"],
                &["imap://a", "a:0", "a:65536", "a:x", "a:+1", "smtp://", "[::1]x"],
            ),
            (TextFormat::Email, &["a@b.example", "a+b@[127.0.0.1]"], &["a", "@b", "a b@c", "a@"]),
            (TextFormat::Identifier, &["a", "_a1"], &["", "1a", "a-b", "ä"]),
            (TextFormat::Token, &["PURGE", "x-y"], &["", "a b", "ä"]),
            (
                TextFormat::HeaderName,
                &["X-A", "Accept"],
                &["Host", "CONTENT-LENGTH", "Connection", "TE", "a:b"],
            ),
            (TextFormat::HeaderValue, &["", "a\tb", "ä"], &["a\nb", "a\rb", "\0"]),
            (TextFormat::Json, &["{}", "1"], &["", "{", "{} x"]),
            (TextFormat::Xml, &["<a/>", " <?xml version=\"1.0\"?><a></a>\n"], &["", "a", "<a"]),
            (TextFormat::Base64, &["", "aGk=", "aG\nk="], &["aGk", "*"]),
            (TextFormat::TimeOfDay, &["00:00", "23:59"], &["24:00", "1:00", "12:60", "+1:00", "12-00"]),
            (
                TextFormat::LocalDateTime,
                &["2026-02-28 23:59:59"],
                &["2026-02-30 00:00:00", "2026-02-28T00:00:00Z", ""],
            ),
        ];
        for (format, valid, invalid) in cases {
            for text in *valid {
                assert!(format.matches(text), "{format:?} refuses {text:?}");
            }
            for text in *invalid {
                assert!(!format.matches(text), "{format:?} takes {text:?}");
            }
        }
    }

    #[test]
    fn a_service_address_is_parsed() {
        let expected = ServiceAddress { scheme: Some("smtps"), host: "mail.example", port: Some(465) };
        assert_eq!(parse_service_address("smtps://mail.example:465", &["smtp", "smtps"]), Some(expected));
        let expected = ServiceAddress { scheme: None, host: "::1", port: Some(25) };
        assert_eq!(parse_service_address("[::1]:25", &["smtp"]), Some(expected));
    }
}
