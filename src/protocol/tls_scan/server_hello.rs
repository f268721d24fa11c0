//! Parses `ServerHello` and `HelloRetryRequest` (RFC 8446 4.1.3 and 4.1.4, RFC 5246 7.4.1.3).

use super::byte_reader::ByteReader;
use super::extensions;
use super::malformed::Malformed;

/// The random number that makes a `ServerHello` a `HelloRetryRequest`: SHA-256 of that word (RFC 8446 4.1.3).
const RETRY_RANDOM: [u8; 32] = [
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2,
    0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
];

/// What a server chose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerHello {
    /// Number of the chosen version.
    pub version: u16,
    /// Whether the server wants another hello with a key for [`Self::group`].
    pub is_retry_request: bool,
    /// The chosen cipher suite.
    pub suite: u16,
    /// The chosen method of compression; 0 is none.
    pub compression: u8,
    /// The group of the key share extension (TLS 1.3).
    pub group: Option<u16>,
    /// The protocol of ALPN.
    pub alpn_protocol: Option<Vec<u8>>,
    /// Whether secure renegotiation is supported (RFC 5746).
    pub has_renegotiation_info: bool,
    /// Whether the extended master secret is used (RFC 7627).
    pub has_extended_master_secret: bool,
}

impl ServerHello {
    /// Parses the body of the message.
    pub(super) fn parse(body: &[u8]) -> Result<Self, Malformed> {
        let mut reader = ByteReader(body);
        let mut hello = Self::parse_fixed_part(&mut reader).ok_or(Malformed("ServerHello"))?;
        if !reader.is_empty() {
            let list = reader.vector16().ok_or(Malformed("the extensions of ServerHello"))?;
            hello.parse_extensions(list).ok_or(Malformed("the extensions of ServerHello"))?;
        }
        if reader.is_empty() { Ok(hello) } else { Err(Malformed("the end of ServerHello")) }
    }

    fn parse_fixed_part(reader: &mut ByteReader<'_>) -> Option<Self> {
        let version = reader.u16()?;
        let is_retry_request = reader.take(32)? == RETRY_RANDOM;
        let session_id = reader.vector8()?;
        if session_id.len() > 32 {
            return None;
        }
        let (suite, compression) = (reader.u16()?, reader.u8()?);
        Some(Self { version, is_retry_request, suite, compression, ..Self::default() })
    }

    fn parse_extensions(&mut self, list: &[u8]) -> Option<()> {
        let mut reader = ByteReader(list);
        while !reader.is_empty() {
            let number = reader.u16()?;
            let mut content = ByteReader(reader.vector16()?);
            match number {
                extensions::SUPPORTED_VERSIONS => self.version = content.u16()?,
                extensions::KEY_SHARE => self.group = Some(content.u16()?),
                extensions::ALPN => {
                    self.alpn_protocol = Some(ByteReader(content.vector16()?).vector8()?.to_vec());
                }
                extensions::RENEGOTIATION_INFO => self.has_renegotiation_info = true,
                extensions::EXTENDED_MASTER_SECRET => self.has_extended_master_secret = true,
                _ => {}
            }
        }
        Some(())
    }
}
