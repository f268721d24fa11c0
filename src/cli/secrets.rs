//! Reads the secrets that monitor files name by `<field>_file` and `<field>_env`.

use std::path::{Path, PathBuf};

use crate::model::intake::SecretAt;

/// A secret that is longer is refused: no password is, and a wrong path may name anything.
const MOST_BYTES: u64 = 1024 * 1024;

/// A reader for files in `folder`: relative paths start there.
pub(super) fn reader(folder: &Path) -> impl Fn(SecretAt<'_>) -> Result<String, String> + use<> {
    let folder = folder.to_owned();
    move |at| match at {
        SecretAt::File(path) => from_file(&folder.join(path)),
        SecretAt::Env(name) => {
            std::env::var(name).map_err(|_| format!("the environment variable `{name}` is not set"))
        }
    }
}

fn from_file(path: &PathBuf) -> Result<String, String> {
    let shown = path.display();
    let size = std::fs::metadata(path).map_err(|error| format!("`{shown}` cannot be read: {error}"))?.len();
    if size > MOST_BYTES {
        return Err(format!("`{shown}` is larger than a secret can be"));
    }
    let text = std::fs::read_to_string(path).map_err(|error| format!("`{shown}` cannot be read: {error}"))?;
    Ok(text
        .strip_suffix('\n')
        .map_or(text.as_str(), |line| line.strip_suffix('\r').unwrap_or(line))
        .to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_file_loses_one_line_break_and_stands_beside_the_monitor_file() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("password"), "s3cret \r\n").unwrap();
        let read = reader(folder.path());
        assert_eq!(read(SecretAt::File("password")).unwrap(), "s3cret ");
        assert!(read(SecretAt::File("missing")).unwrap_err().contains("missing"));
        assert!(read(SecretAt::Env("VIGIE_NO_SUCH_VARIABLE")).unwrap_err().contains("is not set"));
    }
}
