//! Any body with any declared type, which is the first line of the input: decoding succeeds, and ASCII is unchanged.

use vigie::evaluate::charset::{decode_body, detect_encoding};

pub fn run(data: &[u8]) {
    let Some(end) = data.iter().position(|&byte| byte == b'\n') else { return };
    let (content_type, body) = (std::str::from_utf8(&data[..end]).ok(), &data[end + 1..]);
    let text = decode_body(body, content_type);
    // Each byte makes at most one replacement character, of three bytes.
    assert!(text.len() <= body.len() * 3 + 3);
    let incompatible = detect_encoding(body, content_type).filter(|found| !found.is_ascii_compatible());
    if body.is_ascii() && incompatible.is_none() {
        assert_eq!(text.as_bytes(), body);
    }
}
