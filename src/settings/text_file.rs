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
    String::from_utf8(bytes).map_err(|_| "is no UTF-8 text".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_file_does_not_fill_the_memory() {
        assert_eq!(read_config_text(Path::new("/dev/zero")).unwrap_err(), "is larger than 256 MiB; split it");
    }
}
