//! Helpers for text: untrusted text of a peer, text within HTML, comparison of secrets.

use std::borrow::Cow;

use std::net::SocketAddr;

/// Replaces every control character of `text` by `\u{fffd}`: names in certificates and records of name servers may hold
/// any, and a terminal would obey them.
#[must_use]
pub fn replace_control_chars(text: &str) -> String {
    if text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return text.to_owned();
    }
    text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Decodes `bytes`, with U+FFFD for invalid UTF-8. [`String::from_utf8_lossy`] examines each byte by itself; checking
/// the whole text first is faster, and nearly all input is valid.
#[must_use]
pub fn from_utf8_lossy(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// Truncates `text` to `max_chars` characters, with an ellipsis where there were more.
#[must_use]
pub fn truncate(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// Escapes `text` for HTML, in an element or a quoted attribute.
#[must_use]
pub fn escape_html(text: &str) -> Cow<'_, str> {
    if !text.contains(['&', '<', '>', '"', '\'']) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Formats a peer address. A port of 0 is left out: echo requests have no port.
#[must_use]
pub fn format_peer(address: SocketAddr) -> String {
    if address.port() == 0 { address.ip().to_string() } else { address.to_string() }
}

/// Encodes `bytes` in lower-case hexadecimal.
#[must_use]
pub fn to_hex(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] =
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|digit| DIGITS[usize::from(digit)]).collect()
}

/// Formats a UUID of version 4 (RFC 9562 5.4) from random bits.
#[must_use]
pub fn format_uuid_v4(random: u128) -> String {
    let versioned = random & !(0xf << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let digits = format!("{versioned:032x}");
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

/// Compares two secrets in a time that reveals nothing but their lengths.
#[must_use]
pub fn constant_time_eq(left: &str, right: &str) -> bool {
    let differing_bits = left.bytes().zip(right.bytes()).fold(0, |found, (a, b)| found | (a ^ b));
    std::hint::black_box(differing_bits) == 0 && left.len() == right.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_of_a_peer_are_replaced() {
        assert_eq!(
            replace_control_chars("a\u{1b}[2J\u{9b}1m\r\nb\u{7f}\t"),
            "a\u{fffd}[2J\u{fffd}1m\u{fffd}\u{fffd}b\u{fffd}\u{fffd}"
        );
        assert_eq!(replace_control_chars("CN=Zoë 漢字"), "CN=Zoë 漢字");
    }

    #[test]
    fn html_is_escaped() {
        assert_eq!(escape_html("plain"), "plain");
        assert_eq!(
            escape_html(r#"<a href="x" id='y'>&"#),
            "&lt;a href=&quot;x&quot; id=&#39;y&#39;&gt;&amp;"
        );
    }

    #[test]
    fn secrets_are_equal_only_as_a_whole() {
        for (left, right, are_equal) in
            [("", "", true), ("a", "", false), ("ab", "ac", false), ("é1", "é1", true)]
        {
            assert_eq!(constant_time_eq(left, right), are_equal, "{left} {right}");
        }
        assert!(!constant_time_eq("ab", "abc"));
    }
}
