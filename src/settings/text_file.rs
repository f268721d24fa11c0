//! Reads configuration files, up to a size limit.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use crate::syntax::node::MAX_TEXT_BYTES;

/// Reads the text of a configuration file. The error does not name the file. Reads no more than the limit, whatever the
/// file is.
pub fn read_config_text(file: &Path) -> Result<String, String> {
    let unreadable = |error: io::Error| format!("cannot be read: {error}");
    let mut bytes = Vec::new();
    let file_handle = fs::File::open(file).map_err(unreadable)?;
    file_handle.take(MAX_TEXT_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() > MAX_TEXT_BYTES {
        return Err(format!("is larger than {} MiB; split it", MAX_TEXT_BYTES >> 20));
    }
    decode(bytes)
}

/// Decodes UTF-8, or UTF-16 with a byte order mark, in which some editors and shells save.
fn decode(bytes: Vec<u8>) -> Result<String, String> {
    match encoding_rs::Encoding::for_bom(&bytes) {
        Some((encoding, mark_bytes)) if encoding != encoding_rs::UTF_8 => {
            let text = encoding.decode_without_bom_handling_and_without_replacement(&bytes[mark_bytes..]);
            text.map(std::borrow::Cow::into_owned).ok_or_else(|| format!("is no {} text", encoding.name()))
        }
        _ => String::from_utf8(bytes).map_err(|_| "is no UTF-8 text".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_tells_the_encoding() {
        let utf_16 = |mark: [u8; 2], to_bytes: fn(u16) -> [u8; 2]| {
            let units: Vec<u8> = "{\"ü\": 1}".encode_utf16().flat_map(to_bytes).collect();
            decode([&mark[..], &units].concat())
        };
        assert_eq!(utf_16([0xff, 0xfe], u16::to_le_bytes).unwrap(), "{\"ü\": 1}");
        assert_eq!(utf_16([0xfe, 0xff], u16::to_be_bytes).unwrap(), "{\"ü\": 1}");
        assert_eq!(decode(vec![0xff, 0xfe, 0x00, 0xd8]).unwrap_err(), "is no UTF-16LE text");
        assert_eq!(decode(vec![0xfc]).unwrap_err(), "is no UTF-8 text");
        assert_eq!(decode("\u{feff}a".into()).unwrap(), "\u{feff}a");
    }

    #[test]
    fn an_endless_file_does_not_fill_the_memory() {
        assert_eq!(read_config_text(Path::new("/dev/zero")).unwrap_err(), "is larger than 256 MiB; split it");
    }
}
