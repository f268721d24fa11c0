//! Parses the replies to EPSV and PASV. Pure.
//!
//! The address in a reply to PASV is parsed but never used: data connections go to the address of the control
//! connection. Otherwise a server could make Vigie connect to any port of any host (the reverse of the FTP bounce of
//! RFC 2577 3), and a server behind NAT often sends its private address. Other clients ignore that address too.

use std::net::Ipv4Addr;

/// Parses the port in the text of a 229 (RFC 2428 3): `(|||port|)`, with any delimiter.
#[must_use]
pub fn parse_epsv_reply(text: &str) -> Option<u16> {
    let (_, after_parenthesis) = text.split_once('(')?;
    let delimiter =
        after_parenthesis.chars().next().filter(|c| c.is_ascii_graphic() && !c.is_ascii_digit())?;
    let mut parts = after_parenthesis.split(delimiter);
    // The family and the address before the port are empty.
    if !parts.by_ref().take(3).all(str::is_empty) {
        return None;
    }
    let port = parse_digits(parts.next()?)?;
    parts.next()?.starts_with(')').then_some(port).filter(|&port| port > 0)
}

/// Parses address and port in the text of a 227 (RFC 959 4.2): six numbers at any position, as servers disagree about
/// the parentheses (RFC 1123 4.1.2.6).
#[must_use]
pub fn parse_pasv_reply(text: &str) -> Option<(Ipv4Addr, u16)> {
    let is_address_char = |c: char| c.is_ascii_digit() || c == ',';
    text.split(|c| !is_address_char(c)).find_map(|candidate| {
        let mut numbers = candidate.split(',').map(parse_digits::<u8>);
        let mut next = || numbers.next().flatten();
        let address = Ipv4Addr::new(next()?, next()?, next()?, next()?);
        let port = u16::from_be_bytes([next()?, next()?]);
        (port > 0 && numbers.next().is_none()).then_some((address, port))
    })
}

/// Parses digits only: `parse` would also accept a sign.
fn parse_digits<N: std::str::FromStr>(text: &str) -> Option<N> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn replies_to_epsv_are_parsed() {
        let cases = [
            ("Entering Extended Passive Mode (|||6446|)", Some(6446)),
            ("Entering Extended Passive Mode (|||6446|).", Some(6446)),
            ("(!!!1!)", Some(1)),
            ("ok (|||65535|)", Some(65535)),
            ("(|||65536|)", None),
            ("(|||0|)", None),
            ("(|||-1|)", None),
            ("(|||+21|)", None),
            ("(||6446|)", None),
            ("(|1|10.0.0.1|6446|)", None),
            ("(|||6446|", None),
            ("(|||6446)", None),
            ("|||6446|", None),
            ("(1111111)", None),
            ("()", None),
            ("(", None),
            ("", None),
        ];
        for (text, port) in cases {
            assert_eq!(parse_epsv_reply(text), port, "{text}");
        }
    }

    #[test]
    fn replies_to_pasv_are_parsed() {
        let at = |port| Some((Ipv4Addr::new(192, 0, 2, 7), port));
        let cases = [
            ("Entering Passive Mode (192,0,2,7,4,1)", at(1025)),
            ("Entering Passive Mode (192,0,2,7,4,1).", at(1025)),
            ("Entering Passive Mode 192,0,2,7,4,1", at(1025)),
            ("=192,0,2,7,4,1", at(1025)),
            ("after 3 tries, (192,0,2,7,0,21)", at(21)),
            ("(192,0,2,7,0,0)", None),
            ("(192,0,2,256,4,1)", None),
            ("(192,0,2,7,4,256)", None),
            ("(192,0,2,7,4)", None),
            ("(192,0,2,7,4,1,1)", None),
            ("(192,0,,7,4,1)", None),
            ("(,,,,,)", None),
            ("nothing", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_pasv_reply(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn parsing_never_panics(text in ".{0,200}", digits in "[0-9,|()]{0,60}") {
            for text in [&text, &digits] {
                prop_assert!(parse_epsv_reply(text) != Some(0));
                prop_assert!(parse_pasv_reply(text).is_none_or(|(_, port)| port > 0));
            }
        }

        #[test]
        fn formatted_addresses_are_parsed(bits: u32, port in 1_u16.., text_before in "[a-z (]{0,9}") {
            let address = Ipv4Addr::from_bits(bits);
            let [a, b, c, d] = address.octets();
            let (high, low) = (port >> 8, port & 255);
            let text = format!("{text_before} ({a},{b},{c},{d},{high},{low})");
            prop_assert_eq!(parse_pasv_reply(&text), Some((address, port)));
            let text = format!("{} (|||{port}|)", text_before.replace('(', ""));
            prop_assert_eq!(parse_epsv_reply(&text), Some(port));
        }
    }
}
