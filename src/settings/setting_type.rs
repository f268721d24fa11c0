//! Types of settings.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use crate::forward_proxy::BlockedHosts;
use crate::net::{Endpoint, IpNetwork};
use crate::probe::AllowedTargets;
use crate::syntax::node::{Node, NodeValue};
use crate::syntax::text_format::TextFormat;
use crate::telemetry::parse_log_filter;

/// One field of an entry of a list, such as the `id` of a certificate.
#[derive(Clone, Copy, Debug)]
pub struct EntryField {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub setting_type: SettingType,
    /// Whether it is required.
    pub required: bool,
}

/// The type of a setting, with its bounds.
#[derive(Clone, Copy, Debug)]
pub enum SettingType {
    /// A boolean.
    Bool,
    /// An integer within inclusive bounds.
    Int {
        /// Smallest value.
        min: i64,
        /// Largest value.
        max: i64,
    },
    /// A number within inclusive bounds, with or without a fraction.
    Float {
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
    },
    /// A non-empty text.
    Text,
    /// A non-empty text with a format.
    FormattedText(TextFormat),
    /// A text from a fixed list.
    Choice(&'static [&'static str]),
    /// An address with a port, to listen on; several are separated by commas.
    ListenAddresses,
    /// An address, with or without a port.
    NameServerAddress,
    /// A host with a port.
    Endpoint,
    /// An IPv4 address.
    Ipv4,
    /// An IPv6 address.
    Ipv6,
    /// A network.
    IpNetwork,
    /// What security scans may scan: a network, a host, or all hosts below a name.
    ScanTarget,
    /// A host, or all hosts below a name.
    HostPattern,
    /// A log level, or levels by module.
    LogFilter,
    /// A time of day.
    TimeOfDay,
    /// A list.
    List(&'static SettingType),
    /// A list of maps.
    MapList(&'static [EntryField]),
}

impl SettingType {
    /// Returns the expected values, worded to follow `must be` in a message.
    #[must_use]
    pub fn requirement(&self) -> String {
        match self {
            Self::Bool => "`true` or `false`".to_owned(),
            Self::Int { min, max: i64::MAX } => format!("a whole number of at least {min}"),
            Self::Int { min, max } => format!("a whole number from {min} to {max}"),
            Self::Float { min, max } => format!("a number from {min} to {max}"),
            Self::Text => "a text that is not empty".to_owned(),
            Self::FormattedText(format) => format.requirement().to_owned(),
            Self::Choice(choices) => {
                let choices = choices.iter().map(|choice| format!("`{choice}`")).collect::<Vec<_>>();
                format!("one of {}", choices.join(", "))
            }
            Self::ListenAddresses => "an address with a port, such as `127.0.0.1:7979` or `[::1]:7979`".to_owned(),
            Self::NameServerAddress => "an address, with or without a port, such as `192.0.2.53` or `[::1]:5353`".to_owned(),
            Self::Endpoint => "a host and a port, such as `www.example.com:443` or `[::1]:53`".to_owned(),
            Self::Ipv4 => "an IPv4 address".to_owned(),
            Self::Ipv6 => "an IPv6 address".to_owned(),
            Self::IpNetwork => "a network, such as `10.0.0.0/8` or `fd00::/8`".to_owned(),
            Self::ScanTarget => {
                "a network such as `192.0.2.0/24`, a host such as `www.example.com`, or `*.example.com` for all below it".to_owned()
            }
            Self::HostPattern => "a host such as `ads.example.com`, or `*.example.com` for all below it".to_owned(),
            Self::LogFilter => {
                "`error`, `warn`, `info`, `debug` or `trace`, or levels by module such as `info,vigie::net=debug`"
                    .to_owned()
            }
            Self::TimeOfDay => "a time `hh:mm` of 24 hours".to_owned(),
            Self::List(_) => "a list".to_owned(),
            Self::MapList(_) => "a list of maps".to_owned(),
        }
    }

    /// Whether a single value (no list) is of this type.
    #[must_use]
    pub fn accepts(&self, node: &Node) -> bool {
        match (self, &node.value) {
            (Self::Bool, NodeValue::Bool(_)) => true,
            (Self::Int { min, max }, NodeValue::Int(number)) => (*min..=*max).contains(number),
            (Self::Float { min, max }, NodeValue::Float(number)) => (*min..=*max).contains(number),
            (Self::Float { min, max }, NodeValue::Int(number)) => {
                i32::try_from(*number).is_ok_and(|number| (*min..=*max).contains(&f64::from(number)))
            }
            (Self::Bool | Self::Int { .. } | Self::Float { .. } | Self::List(_) | Self::MapList(_), _) => {
                false
            }
            (_, NodeValue::Text(text)) => self.accepts_text(text),
            _ => false,
        }
    }

    fn accepts_text(&self, text: &str) -> bool {
        match self {
            Self::Text => !text.trim().is_empty(),
            Self::FormattedText(format) => !text.trim().is_empty() && format.matches(text),
            Self::Choice(choices) => choices.contains(&text),
            Self::ListenAddresses => text.split(',').all(|part| part.trim().parse::<SocketAddr>().is_ok()),
            Self::NameServerAddress => parse_name_server(text).is_some(),
            Self::Endpoint => parse_endpoint(text).is_some(),
            Self::Ipv4 => text.parse::<Ipv4Addr>().is_ok(),
            Self::Ipv6 => text.parse::<Ipv6Addr>().is_ok(),
            Self::IpNetwork => text.parse::<IpNetwork>().is_ok(),
            Self::ScanTarget => AllowedTargets::parse(&[text]).is_some(),
            Self::HostPattern => !text.trim().is_empty() && BlockedHosts::parse(&[text]).is_ok(),
            Self::LogFilter => parse_log_filter(text).is_ok(),
            Self::TimeOfDay => parse_time_of_day(text).is_some(),
            Self::Bool | Self::Int { .. } | Self::Float { .. } | Self::List(_) | Self::MapList(_) => false,
        }
    }

    /// Parses a text from the command line or environment; the entries of a list are separated by commas.
    #[must_use]
    pub fn parse_text(&self, text: &str) -> Node {
        let value = match self {
            Self::Bool => bool::from_str(text).map(NodeValue::Bool).ok(),
            Self::Int { .. } => text.trim().parse().map(NodeValue::Int).ok(),
            Self::Float { .. } => text.trim().parse().map(NodeValue::Float).ok(),
            Self::List(item) => {
                let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
                Some(NodeValue::List(parts.map(|part| item.parse_text(part)).collect()))
            }
            _ => None,
        };
        let value = value.unwrap_or_else(|| NodeValue::Text(text.to_owned()));
        Node { value, position: crate::syntax::node::Position::default() }
    }
}

/// Parses the address of a name server; the default port is 53.
#[must_use]
pub fn parse_name_server(text: &str) -> Option<SocketAddr> {
    let without_brackets = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    text.parse().ok().or_else(|| Some(SocketAddr::new(without_brackets.parse().ok()?, 53)))
}

/// Parses a host and a port; an IPv6 address is in brackets.
#[must_use]
pub fn parse_endpoint(text: &str) -> Option<Endpoint> {
    let (host, port) = text.rsplit_once(':')?;
    let port = port.parse().ok().filter(|port| *port > 0)?;
    let without_brackets = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let is_valid = match without_brackets {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => {
            !host.is_empty()
                && !host.contains([':', '/', '@', '[', ']'])
                && !host.contains(char::is_whitespace)
        }
    };
    is_valid.then(|| Endpoint::new(host, port))
}

/// Parses `hh:mm`.
#[must_use]
pub fn parse_time_of_day(text: &str) -> Option<(u8, u8)> {
    let (hour, minute) = text.split_once(':')?;
    let parse_two_digits = |text: &str, limit: u8| {
        let digits = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u8>().ok().filter(|&number| digits && number < limit)
    };
    Some((parse_two_digits(hour, 24)?, parse_two_digits(minute, 60)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_node(text: &str) -> Node {
        SettingType::Text.parse_text(text)
    }

    #[test]
    fn each_type_accepts_its_values_only() {
        let cases: [(SettingType, &[&str], &[&str]); 12] = [
            (
                SettingType::ListenAddresses,
                &["127.0.0.1:0", "[::1]:80", "127.0.0.1:0, [::1]:0"],
                &["127.0.0.1", ":80", "localhost:80", "1.2.3.4:70000", "127.0.0.1:1,"],
            ),
            (
                SettingType::NameServerAddress,
                &["192.0.2.1", "192.0.2.1:5353", "::1", "[::1]", "[::1]:53"],
                &["dns.test", ""],
            ),
            (
                SettingType::Endpoint,
                &["www.example.com:443", "192.0.2.1:80", "[::1]:53"],
                &[
                    "www.example.com",
                    ":80",
                    "a.test:0",
                    "a.test:70000",
                    "::1:53",
                    "[a]:1",
                    "http://a.test:80",
                    "a b:1",
                ],
            ),
            (SettingType::Ipv4, &["192.0.2.1"], &["::1", "192.0.2"]),
            (SettingType::Ipv6, &["::1"], &["192.0.2.1"]),
            (SettingType::IpNetwork, &["10.0.0.0/8", "fd00::/8"], &["10.0.0.1/8", "10.0.0.0/33", "all"]),
            (SettingType::HostPattern, &["a.example", "*.a.example", "::1"], &["", "*", "http://a.example/"]),
            (SettingType::FormattedText(TextFormat::HeaderName), &["X-A"], &["", "Host", "a b"]),
            (SettingType::FormattedText(TextFormat::HeaderValue), &["a b"], &[" ", "a\nb"]),
            (SettingType::LogFilter, &["info", "warn,vigie=debug"], &["loud", ""]),
            (SettingType::TimeOfDay, &["00:00", "23:59"], &["24:00", "3:17", "03:60", "03:17:00", "+3:17"]),
            (SettingType::Choice(&["a", "b"]), &["a"], &["c", "A"]),
        ];
        for (kind, valid, invalid) in cases {
            for value in valid {
                assert!(kind.accepts(&text_node(value)), "{kind:?} {value}");
            }
            for value in invalid {
                assert!(!kind.accepts(&text_node(value)), "{kind:?} {value}");
            }
        }
        let port = SettingType::Int { min: 1, max: 9 };
        assert!(
            port.accepts(&port.parse_text("9"))
                && !port.accepts(&port.parse_text("10"))
                && !port.accepts(&port.parse_text("x"))
        );
        let scale = SettingType::Float { min: 0.5, max: 4.0 };
        for (text, fits) in
            [("0.5", true), ("4", true), ("4.1", false), ("0.4", false), ("NaN", false), ("x", false)]
        {
            assert_eq!(scale.accepts(&scale.parse_text(text)), fits, "{text}");
        }
        assert!(
            SettingType::Bool.accepts(&SettingType::Bool.parse_text("true"))
                && !SettingType::Bool.accepts(&SettingType::Bool.parse_text("yes"))
        );
    }

    #[test]
    fn a_name_server_without_a_port_gets_53() {
        assert_eq!(parse_name_server("::1"), Some("[::1]:53".parse().unwrap()));
        assert_eq!(parse_name_server("192.0.2.1:5353"), Some("192.0.2.1:5353".parse().unwrap()));
    }
}
