//! The subset of the basic encoding rules that traps need (X.690 8).

const INTEGER_TAG: u8 = 0x02;
const OCTET_STRING_TAG: u8 = 0x04;
const OID_TAG: u8 = 0x06;
const SEQUENCE_TAG: u8 = 0x30;
/// Class and form bits of a context-specific, constructed tag.
const CONTEXT_TAG_BITS: u8 = 0xa0;

/// Encodes `content` with its tag and length.
pub(super) fn encode_tagged(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    if let Ok(short @ 0..=127) = u8::try_from(content.len()) {
        bytes.push(short);
    } else {
        let length = content.len().to_be_bytes();
        let length = &length[length.iter().take_while(|byte| **byte == 0).count()..];
        bytes.push(0x80 | u8::try_from(length.len()).unwrap_or_default());
        bytes.extend_from_slice(length);
    }
    bytes.extend_from_slice(content);
    bytes
}

/// Encodes an integer in the fewest bytes that hold its sign.
pub(super) fn encode_integer(value: i64) -> Vec<u8> {
    let bytes = value.to_be_bytes();
    let is_redundant = |pair: &[u8]| matches!((pair[0], pair[1] & 0x80), (0, 0) | (0xff, 0x80));
    let redundant_bytes = bytes.windows(2).take_while(|pair| is_redundant(pair)).count();
    encode_tagged(INTEGER_TAG, &bytes[redundant_bytes..])
}

/// Encodes the content of an unsigned number, such as `TimeTicks`.
pub(super) fn encode_unsigned_content(number: i64) -> Vec<u8> {
    encode_integer(number.max(0))[2..].to_vec()
}

/// Encodes an octet string.
pub(super) fn encode_octets(bytes: &[u8]) -> Vec<u8> {
    encode_tagged(OCTET_STRING_TAG, bytes)
}

/// Encodes an object identifier; the first two arcs share a number (X.690 8.19.4).
pub(super) fn encode_oid(arcs: &[u32]) -> Vec<u8> {
    let (first, rest) = match arcs {
        [first, second, rest @ ..] => (first.saturating_mul(40).saturating_add(*second), rest),
        _ => (0, &[][..]),
    };
    let mut content = Vec::new();
    for arc in std::iter::once(&first).chain(rest) {
        let base128_digits = (32 - arc.leading_zeros()).div_ceil(7).max(1);
        for digit in (0..base128_digits).rev() {
            let continuation_bit = if digit > 0 { 0x80 } else { 0 };
            content.push(continuation_bit | u8::try_from((arc >> (7 * digit)) & 0x7f).unwrap_or_default());
        }
    }
    encode_tagged(OID_TAG, &content)
}

/// Encodes a sequence.
pub(super) fn encode_sequence(parts: &[Vec<u8>]) -> Vec<u8> {
    encode_tagged(SEQUENCE_TAG, &parts.concat())
}

/// Encodes a sequence under a context-specific tag.
pub(super) fn encode_context_tagged(tag_number: u8, parts: &[Vec<u8>]) -> Vec<u8> {
    encode_tagged(CONTEXT_TAG_BITS | tag_number, &parts.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_and_object_identifiers_have_their_shortest_form() {
        for (number, bytes) in [
            (0, &[2, 1, 0][..]),
            (127, &[2, 1, 0x7f]),
            (128, &[2, 2, 0, 0x80]),
            (256, &[2, 2, 1, 0]),
            (-1, &[2, 1, 0xff]),
            (-129, &[2, 2, 0xff, 0x7f]),
            (0xffff_ffff, &[2, 5, 0, 0xff, 0xff, 0xff, 0xff]),
        ] {
            assert_eq!(encode_integer(number), bytes, "{number}");
        }
        assert_eq!(
            encode_oid(&[1, 3, 6, 1, 4, 1, 8072, 128, 0]),
            [6, 10, 0x2b, 6, 1, 4, 1, 0xbf, 0x08, 0x81, 0, 0]
        );
        assert_eq!(encode_oid(&[2, 999]), [6, 2, 0x88, 0x37]);
        assert_eq!(encode_tagged(4, &[7; 200])[..3], [4, 0x81, 200]);
        assert_eq!(encode_tagged(4, &[7; 300])[..4], [4, 0x82, 1, 44]);
    }
}
