//! Builds `ClientHello`s (RFC 8446 4.1.2, RFC 5246 7.4.1.2, RFC 6101 5.6.1.2).

use super::extensions;
use super::key_share::key_shares;
use crate::domain::ScannedTlsVersion;

/// Number that marks a client that knows secure renegotiation, where extensions cannot (RFC 5746 3.3).
const RENEGOTIATION_INFO_SCSV: u16 = 0x00ff;
/// Number that marks a hello whose client would speak a newer version (RFC 7507).
pub(super) const FALLBACK_SCSV: u16 = 0x5600;
/// Type of a record with a handshake message.
const HANDSHAKE_RECORD: u8 = 22;
/// Type of the message.
const CLIENT_HELLO: u8 = 1;
/// Lengths of messages with which some load balancers take a hello for one of SSL 2.0 (RFC 7685 1).
const HANGING_LENGTHS: std::ops::Range<usize> = 256..512;

/// What a hello offers.
#[derive(Clone, Debug)]
pub(super) struct ClientHello<'a> {
    /// The only version on offer.
    pub(super) version: ScannedTlsVersion,
    pub(super) suites: &'a [u16],
    /// The name for SNI (RFC 6066 3).
    pub(super) server_name: Option<&'a str>,
    pub(super) groups: &'a [u16],
    /// Whether keys for some of the groups are sent along in TLS 1.3. Without them the server names the group that it
    /// wants in a `HelloRetryRequest`.
    pub(super) has_key_shares: bool,
    /// Whether `h2` and `http/1.1` are offered (RFC 7301).
    pub(super) offers_alpn: bool,
    /// Whether the OCSP response is asked for (RFC 6066 8).
    pub(super) requests_ocsp: bool,
    /// Whether compression is offered (RFC 3749).
    pub(super) offers_compression: bool,
    /// Whether the hello says that it is a second try with an older version (RFC 7507).
    pub(super) is_fallback: bool,
}

impl ClientHello<'_> {
    /// Returns the record with this hello. `random` is also the session id of TLS 1.3, which middleboxes want to see
    /// (RFC 8446 D.4).
    pub(super) fn encode(&self, random: &[u8; 32]) -> Vec<u8> {
        let is_tls13 = self.version == ScannedTlsVersion::Tls13;
        let is_ssl3 = self.version == ScannedTlsVersion::Ssl3;
        let legacy_version = self.version.wire_version().min(ScannedTlsVersion::Tls12.wire_version());
        let mut body = Vec::with_capacity(512);
        body.extend(legacy_version.to_be_bytes());
        body.extend(random);
        body.extend(with_u8_length(if is_tls13 { random } else { &[] }));
        let mut suites = self.suites.to_vec();
        suites.extend(is_ssl3.then_some(RENEGOTIATION_INFO_SCSV));
        suites.extend(self.is_fallback.then_some(FALLBACK_SCSV));
        let suites: Vec<u8> = suites.iter().flat_map(|suite| suite.to_be_bytes()).collect();
        body.extend(with_u16_length(&suites));
        body.extend(with_u8_length(if self.offers_compression { &[1, 0] } else { &[0] }));
        // SSL 3.0 has no extensions, and some of its servers refuse them.
        if !is_ssl3 {
            let mut extensions = self.extensions(is_tls13);
            let message_length = 4 + body.len() + 2 + extensions.len();
            if HANGING_LENGTHS.contains(&message_length) {
                let padding = HANGING_LENGTHS.end.saturating_sub(message_length + 4);
                extensions.extend(extension(extensions::PADDING, &vec![0; padding]));
            }
            body.extend(with_u16_length(&extensions));
        }
        let length = u32::try_from(body.len()).unwrap_or_default().to_be_bytes();
        let message = [&[CLIENT_HELLO], &length[1..], &body].concat();
        let record_version = self.version.wire_version().min(ScannedTlsVersion::Tls10.wire_version());
        let head = [&[HANDSHAKE_RECORD][..], &record_version.to_be_bytes()].concat();
        [head, with_u16_length(&message)].concat()
    }

    fn extensions(&self, is_tls13: bool) -> Vec<u8> {
        let mut encoded = Vec::with_capacity(256);
        let mut add = |number: u16, content: &[u8]| encoded.extend(extension(number, content));
        if let Some(name) = self.server_name {
            let entry = [&[0][..], &with_u16_length(name.as_bytes())].concat();
            add(extensions::SERVER_NAME, &with_u16_length(&entry));
        }
        let groups: Vec<u8> = self.groups.iter().flat_map(|group| group.to_be_bytes()).collect();
        if !groups.is_empty() {
            add(extensions::SUPPORTED_GROUPS, &with_u16_length(&groups));
        }
        if self.version >= ScannedTlsVersion::Tls12 {
            let schemes = crate::domain::SIGNATURE_SCHEMES.iter();
            let schemes: Vec<u8> = schemes.flat_map(|(number, _)| number.to_be_bytes()).collect();
            add(extensions::SIGNATURE_ALGORITHMS, &with_u16_length(&schemes));
        }
        if self.offers_alpn {
            add(extensions::ALPN, &with_u16_length(b"\x02h2\x08http/1.1"));
        }
        if self.requests_ocsp {
            add(extensions::STATUS_REQUEST, &[1, 0, 0, 0, 0]);
        }
        if is_tls13 {
            add(extensions::SUPPORTED_VERSIONS, &[2, 3, 4]);
            // With a ticket only together with new keys (RFC 8446 4.2.9); no ticket is ever used here.
            add(extensions::PSK_KEY_EXCHANGE_MODES, &[1, 1]);
            let shares = if self.has_key_shares { key_shares(self.groups) } else { Vec::new() };
            add(extensions::KEY_SHARE, &with_u16_length(&shares));
        } else {
            add(extensions::EC_POINT_FORMATS, &[1, 0]);
            add(extensions::SESSION_TICKET, &[]);
            add(extensions::EXTENDED_MASTER_SECRET, &[]);
            add(extensions::RENEGOTIATION_INFO, &[0]);
        }
        encoded
    }
}

fn extension(number: u16, content: &[u8]) -> Vec<u8> {
    [&number.to_be_bytes()[..], &with_u16_length(content)].concat()
}

fn with_u8_length(bytes: &[u8]) -> Vec<u8> {
    let length = u8::try_from(bytes.len()).unwrap_or(u8::MAX);
    [&[length], bytes].concat()
}

/// Returns `bytes` after their length in two bytes.
pub(super) fn with_u16_length(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
    [&length.to_be_bytes()[..], bytes].concat()
}

#[cfg(test)]
mod tests {
    use super::super::byte_reader::ByteReader;
    use super::*;

    fn hello(version: ScannedTlsVersion) -> ClientHello<'static> {
        ClientHello {
            version,
            suites: &[0xc02f, 0x002f],
            server_name: Some("a.test"),
            groups: &[29, 23],
            has_key_shares: false,
            offers_alpn: false,
            requests_ocsp: false,
            offers_compression: false,
            is_fallback: false,
        }
    }

    /// A hello taken to pieces: versions of record and message, session id, suites, compression, extensions.
    struct Parsed {
        record_version: u16,
        version: u16,
        session_id: Vec<u8>,
        suites: Vec<u8>,
        compression: Vec<u8>,
        extensions: Vec<(u16, Vec<u8>)>,
        message_length: usize,
    }

    fn parse(record: &[u8]) -> Parsed {
        let mut reader = ByteReader(record);
        assert_eq!(reader.u8(), Some(HANDSHAKE_RECORD));
        let record_version = reader.u16().unwrap();
        let message = reader.vector16().unwrap();
        assert!(reader.is_empty());
        let mut reader = ByteReader(message);
        assert_eq!(reader.u8(), Some(CLIENT_HELLO));
        let mut body = ByteReader(reader.vector24().unwrap());
        assert!(reader.is_empty());
        let version = body.u16().unwrap();
        assert_eq!(body.take(32), Some(&[7; 32][..]));
        let session_id = body.vector8().unwrap().to_vec();
        let suites = body.vector16().unwrap().to_vec();
        let compression = body.vector8().unwrap().to_vec();
        let mut extensions = Vec::new();
        if !body.is_empty() {
            let mut list = ByteReader(body.vector16().unwrap());
            while !list.is_empty() {
                extensions.push((list.u16().unwrap(), list.vector16().unwrap().to_vec()));
            }
        }
        assert!(body.is_empty());
        let message_length = message.len();
        Parsed { record_version, version, session_id, suites, compression, extensions, message_length }
    }

    fn find(parsed: &Parsed, number: u16) -> Option<&[u8]> {
        parsed.extensions.iter().find(|(other, _)| *other == number).map(|(_, content)| content.as_slice())
    }

    #[test]
    fn a_hello_of_tls_12_offers_what_it_is_given() {
        let parsed = parse(&hello(ScannedTlsVersion::Tls12).encode(&[7; 32]));
        assert_eq!((parsed.record_version, parsed.version), (0x0301, 0x0303));
        assert_eq!((parsed.suites, parsed.compression), (vec![0xc0, 0x2f, 0, 0x2f], vec![0]));
        assert!(parsed.session_id.is_empty());
        let name = find(&parse(&hello(ScannedTlsVersion::Tls12).encode(&[7; 32])), 0).unwrap().to_vec();
        assert_eq!(name, [&[0, 9, 0, 0, 6][..], b"a.test"].concat());
        let parsed = parse(&hello(ScannedTlsVersion::Tls12).encode(&[7; 32]));
        assert_eq!(find(&parsed, 10), Some(&[0, 4, 0, 29, 0, 23][..]));
        assert!(find(&parsed, 13).is_some() && find(&parsed, 23).is_some());
        assert_eq!(find(&parsed, 0xff01), Some(&[0][..]));
        assert_eq!((find(&parsed, 43), find(&parsed, 16), find(&parsed, 5)), (None, None, None));
    }

    #[test]
    fn a_hello_of_tls_13_asks_for_a_retry_and_looks_like_tls_12() {
        let parsed = parse(&hello(ScannedTlsVersion::Tls13).encode(&[7; 32]));
        assert_eq!((parsed.record_version, parsed.version), (0x0301, 0x0303));
        assert_eq!(parsed.session_id, [7; 32]);
        assert_eq!(find(&parsed, 43), Some(&[2, 3, 4][..]));
        assert_eq!(find(&parsed, 51), Some(&[0, 0][..]));
        let with_keys = ClientHello { has_key_shares: true, ..hello(ScannedTlsVersion::Tls13) };
        let parsed = parse(&with_keys.encode(&[7; 32]));
        assert_eq!(find(&parsed, 51).unwrap().len(), 2 + 4 + 32 + 4 + 65);
    }

    #[test]
    fn old_versions_get_what_they_know() {
        let parsed = parse(&hello(ScannedTlsVersion::Tls10).encode(&[7; 32]));
        assert_eq!((parsed.record_version, parsed.version), (0x0301, 0x0301));
        assert!(find(&parsed, 13).is_none() && find(&parsed, 10).is_some());
        let parsed = parse(&hello(ScannedTlsVersion::Ssl3).encode(&[7; 32]));
        assert_eq!((parsed.record_version, parsed.version), (0x0300, 0x0300));
        assert_eq!(parsed.suites, [0xc0, 0x2f, 0, 0x2f, 0, 0xff]);
        assert!(parsed.extensions.is_empty());
    }

    #[test]
    fn alpn_ocsp_compression_and_fallback_are_offered_on_request() {
        let hello = ClientHello {
            offers_alpn: true,
            requests_ocsp: true,
            offers_compression: true,
            is_fallback: true,
            server_name: None,
            ..hello(ScannedTlsVersion::Tls12)
        };
        let parsed = parse(&hello.encode(&[7; 32]));
        assert_eq!(parsed.suites[4..], [0x56, 0]);
        assert_eq!(parsed.compression, [1, 0]);
        assert_eq!(find(&parsed, 16), Some(&b"\x00\x0c\x02h2\x08http/1.1"[..]));
        assert_eq!(find(&parsed, 5), Some(&[1, 0, 0, 0, 0][..]));
        assert_eq!(find(&parsed, 0), None);
    }

    #[test]
    fn no_hello_has_a_length_at_which_load_balancers_hang() {
        for count in 1..300_u16 {
            let suites: Vec<u16> = (0..count).collect();
            let hello = ClientHello { suites: &suites, ..hello(ScannedTlsVersion::Tls12) };
            let parsed = parse(&hello.encode(&[7; 32]));
            assert!(!HANGING_LENGTHS.contains(&parsed.message_length), "{count}: {}", parsed.message_length);
        }
    }
}
