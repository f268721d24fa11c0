//! Reads secrets that are kept outside of the file that needs them (behaviour.md 9, monitor files).

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::schema::reader::SecretSource;

/// Maximum size of a secret in bytes.
const MAX_SECRET_BYTES: u64 = 64 * 1024;

/// Reads a secret from a file or variable. The line break at the end of a file is removed, and a relative path starts
/// in `base_folder`. The error says why it cannot be read, without a full stop and without the secret.
pub fn read_secret(base_folder: &Path, source: SecretSource<'_>) -> Result<String, String> {
    let secret = match source {
        SecretSource::File(path) => read_secret_file(&base_folder.join(path))?,
        SecretSource::Env(name) => std::env::var(name)
            .map_err(|_| format!("the environment variable `{name}` is not set, or no text"))?,
    };
    if secret.is_empty() { Err("it is empty".to_owned()) } else { Ok(secret) }
}

fn read_secret_file(path: &Path) -> Result<String, String> {
    let unreadable =
        |error: &dyn std::fmt::Display| format!("the file `{}` cannot be read: {error}", path.display());
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| unreadable(&error))?;
    file.take(MAX_SECRET_BYTES + 1).read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
    if bytes.len() as u64 > MAX_SECRET_BYTES {
        return Err(unreadable(&format!("it is larger than {} KiB", MAX_SECRET_BYTES / 1024)));
    }
    let text = String::from_utf8(bytes).map_err(|_| unreadable(&"it is no UTF-8 text"))?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    Ok(line.strip_suffix('\r').unwrap_or(line).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_file_is_read_without_its_last_line_break() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        let name = "secret";
        for (content, secret) in
            [("s3cret\n", "s3cret"), ("s3cret\r\n", "s3cret"), (" two\nlines\n\n", " two\nlines\n")]
        {
            std::fs::write(&path, content).unwrap();
            assert_eq!(read_secret(folder.path(), SecretSource::File(name)).unwrap(), secret);
        }
        std::fs::write(&path, "\n").unwrap();
        assert_eq!(read_secret(folder.path(), SecretSource::File(name)).unwrap_err(), "it is empty");
        std::fs::write(&path, "x".repeat(70_000)).unwrap();
        assert!(
            read_secret(folder.path(), SecretSource::File(name)).unwrap_err().contains("larger than 64 KiB")
        );
        assert!(
            read_secret(folder.path(), SecretSource::File("/nonexistent"))
                .unwrap_err()
                .contains("`/nonexistent` cannot be read")
        );
        assert!(
            read_secret(folder.path(), SecretSource::Env("VIGIE_TEST_UNSET"))
                .unwrap_err()
                .contains("`VIGIE_TEST_UNSET` is not set")
        );
    }
}
