//! The token of the host itself, in a file of the data folder: whoever may read it may do everything in
//! account 1 for as long as the server lives.

use std::fs;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Its name in the data folder.
const NAME: &str = "host-token";
/// Bytes of such a file that are read at most.
const MOST: u64 = 64 * 1024;

/// Writes `token` for commands on this host, with the addresses that the server listens on: the first line is
/// the token, each further one an address. Only the user of the server can read it.
pub fn write_host_token(data: &Path, token: &str, addresses: &[SocketAddr]) -> io::Result<()> {
    let beside = data.join(format!(".{NAME}.new"));
    // What a start that was killed left behind may belong to somebody else or be readable.
    match fs::remove_file(&beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
    writeln!(file, "{token}")?;
    for address in addresses {
        writeln!(file, "{address}")?;
    }
    file.sync_all()?;
    fs::rename(&beside, data.join(NAME))
}

/// Removes the file at the end; its token is worth nothing any more.
pub fn remove_host_token(data: &Path) {
    match fs::remove_file(data.join(NAME)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(error = %error, "the file of the host token cannot be removed");
        }
        _ => {}
    }
}

/// The token of the server of this user (or of root) that listens on `port`, in one of the data `folders`.
#[must_use]
pub fn find_host_token(folders: &[PathBuf], port: u16) -> Option<String> {
    folders.iter().find_map(|folder| read(&folder.join(NAME), port))
}

/// The token of the server that works on the data folder `data`, and the addresses that it listens on.
#[must_use]
pub fn host_token_of(data: &Path) -> Option<(String, Vec<SocketAddr>)> {
    parts(&data.join(NAME))
}

/// Data folders of the demos that run now or were killed.
#[must_use]
pub fn demo_folders() -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(std::env::temp_dir()) else { return Vec::new() };
    let ours = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"vigie-demo-"))
    };
    entries.filter_map(|entry| Some(entry.ok()?.path())).filter(ours).map(|path| path.join("data")).collect()
}

fn read(path: &Path, port: u16) -> Option<String> {
    let (token, addresses) = parts(path)?;
    addresses.iter().any(|address| address.port() == port).then_some(token)
}

fn parts(path: &Path) -> Option<(String, Vec<SocketAddr>)> {
    let meta = fs::symlink_metadata(path).ok()?;
    let own = nix::unistd::geteuid().as_raw();
    // A file that others can write, or made, could name any server as ours.
    let safe = meta.is_file() && meta.mode().trailing_zeros() >= 6 && (meta.uid() == own || own == 0);
    if !safe || meta.len() > MOST {
        return None;
    }
    let text = fs::read_to_string(path).ok()?;
    let mut lines = text.lines();
    let token = lines.next().filter(|token| !token.is_empty())?;
    Some((token.to_owned(), lines.filter_map(|line| line.parse().ok()).collect()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_token_is_found_by_the_port_of_its_server_and_only_in_a_private_file() {
        let folder = tempfile::tempdir().unwrap();
        let folders = [folder.path().join("gone"), folder.path().to_owned()];
        assert_eq!(find_host_token(&folders, 7979), None);
        let addresses = ["127.0.0.1:7979".parse().unwrap(), "[::1]:8080".parse().unwrap()];
        write_host_token(folder.path(), "t0ken", &addresses).unwrap();
        assert_eq!(find_host_token(&folders, 7979).as_deref(), Some("t0ken"));
        assert_eq!(find_host_token(&folders, 8080).as_deref(), Some("t0ken"));
        assert_eq!(find_host_token(&folders, 80), None, "another server must not get it");
        write_host_token(folder.path(), "new", &addresses).unwrap();
        assert_eq!(find_host_token(&folders, 7979).as_deref(), Some("new"));
        let file = folder.path().join(NAME);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(find_host_token(&folders, 7979), None);
        remove_host_token(folder.path());
        assert!(!file.exists());
        remove_host_token(folder.path());
    }
}
