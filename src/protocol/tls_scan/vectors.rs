//! Writes the vectors of TLS messages (RFC 8446 3.4). What a scan writes is always shorter than their lengths allow.

/// Returns `bytes` after their length in one byte.
pub(super) fn with_u8_length(bytes: &[u8]) -> Vec<u8> {
    let length = u8::try_from(bytes.len()).unwrap_or(u8::MAX);
    [&[length], bytes].concat()
}

/// Returns `bytes` after their length in two bytes.
pub(super) fn with_u16_length(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
    [&length.to_be_bytes()[..], bytes].concat()
}
