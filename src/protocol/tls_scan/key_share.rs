//! Keys for the first message of TLS 1.3, for servers that do not answer a hello without one by naming their group.
//!
//! They are the base points of their curves: valid keys whose private half is 1, known to all. Nothing is ever sent
//! under them, since no handshake with them is completed.

use super::client_hello::with_u16_length;

const X25519: u16 = 29;
const SECP256R1: u16 = 23;

/// Base point of curve25519 (RFC 7748 4.1), in the order of bytes of the wire.
const X25519_BASE: [u8; 32] = {
    let mut point = [0; 32];
    point[0] = 9;
    point
};

/// Base point of P-256 (SEC 2, 2.4.2), uncompressed.
const SECP256R1_BASE: [u8; 65] = [
    0x04, 0x6b, 0x17, 0xd1, 0xf2, 0xe1, 0x2c, 0x42, 0x47, 0xf8, 0xbc, 0xe6, 0xe5, 0x63, 0xa4, 0x40, 0xf2,
    0x77, 0x03, 0x7d, 0x81, 0x2d, 0xeb, 0x33, 0xa0, 0xf4, 0xa1, 0x39, 0x45, 0xd8, 0x98, 0xc2, 0x96, 0x4f,
    0xe3, 0x42, 0xe2, 0xfe, 0x1a, 0x7f, 0x9b, 0x8e, 0xe7, 0xeb, 0x4a, 0x7c, 0x0f, 0x9e, 0x16, 0x2b, 0xce,
    0x33, 0x57, 0x6b, 0x31, 0x5e, 0xce, 0xcb, 0xb6, 0x40, 0x68, 0x37, 0xbf, 0x51, 0xf5,
];

/// Returns the entries of the key share extension for those of `groups` that there is a key for.
pub(super) fn key_shares(groups: &[u16]) -> Vec<u8> {
    let keys: [(u16, &[u8]); 2] = [(X25519, &X25519_BASE), (SECP256R1, &SECP256R1_BASE)];
    let offered = keys.into_iter().filter(|(group, _)| groups.contains(group));
    offered.flat_map(|(group, key)| [group.to_be_bytes().to_vec(), with_u16_length(key)].concat()).collect()
}
