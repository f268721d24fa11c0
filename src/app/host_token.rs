//! The host token in a file of the data directory: whoever may read it has full access to account 1 for as long as
//! the server runs. The file also contains the server's addresses and the fingerprint of its certificate.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::{fmt, fs};

use crate::domain::to_hex;

/// Name of the file in the data directory.
const FILE_NAME: &str = "host-token";
/// Most bytes of the file that are read.
const MAX_FILE_BYTES: u64 = 64 * 1024;

/// Prefix of the line with the fingerprint of the certificate.
const CERTIFICATE_PREFIX: &str = "certificate ";

/// Contents of the file.
#[derive(Clone, PartialEq, Eq)]
pub struct HostTokenFile {
    /// The token.
    pub token: String,
    /// Addresses that the server listens on.
    pub addresses: Vec<SocketAddr>,
    /// SHA-256 of the server's certificate; `None` when it serves plain HTTP.
    pub certificate_sha256: Option<[u8; 32]>,
}

impl fmt::Debug for HostTokenFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostToken").field("addresses", &self.addresses).finish_non_exhaustive()
    }
}

impl HostTokenFile {
    /// Returns the URL scheme of the server.
    #[must_use]
    pub fn scheme(&self) -> &'static str {
        if self.certificate_sha256.is_some() { "https" } else { "http" }
    }
}

/// Writes `contents` for commands on this host: the first line is the token, each further one an address or the
/// certificate. Only the user of the server can read the file.
pub fn write_host_token(data_dir: &Path, contents: &HostTokenFile) -> io::Result<()> {
    let temp_path = data_dir.join(format!(".{FILE_NAME}.new"));
    // A file left by a killed start may belong to another user or be readable by others.
    match fs::remove_file(&temp_path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temp_path)?;
    writeln!(file, "{}", contents.token)?;
    for address in &contents.addresses {
        writeln!(file, "{address}")?;
    }
    if let Some(certificate) = &contents.certificate_sha256 {
        writeln!(file, "{CERTIFICATE_PREFIX}{}", to_hex(certificate))?;
    }
    file.sync_all()?;
    fs::rename(&temp_path, data_dir.join(FILE_NAME))
}

/// Removes the file when the server stops: its token is no longer valid.
pub fn remove_host_token(data_dir: &Path) {
    match fs::remove_file(data_dir.join(FILE_NAME)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(error = %error, "failed to remove the host token file");
        }
        _ => {}
    }
}

/// Finds the token of the server of this user (or of root) that listens on `port`, in the data directories `data_dirs`.
#[must_use]
pub fn find_host_token(data_dirs: &[PathBuf], port: u16) -> Option<HostTokenFile> {
    let listens_on_port =
        |token_file: &HostTokenFile| token_file.addresses.iter().any(|address| address.port() == port);
    data_dirs.iter().filter_map(|folder| read_host_token(folder)).find(listens_on_port)
}

/// Returns the data directories of this user's demos, running or killed. Other users may create directories there
/// too, which are ignored.
#[must_use]
pub fn demo_data_dirs() -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(std::env::temp_dir()) else { return Vec::new() };
    let is_demo = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"vigie-demo-"))
    };
    let own_uid = nix::unistd::geteuid().as_raw();
    let is_owned = |path: &PathBuf| {
        fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == own_uid)
    };
    let folders = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_demo).filter(is_owned);
    folders.map(|path| path.join("data")).collect()
}

/// Reads the token of the server that uses the data directory `data_dir`.
#[must_use]
pub fn read_host_token(data_dir: &Path) -> Option<HostTokenFile> {
    let path = data_dir.join(FILE_NAME);
    let metadata = fs::symlink_metadata(&path).ok()?;
    let own_uid = nix::unistd::geteuid().as_raw();
    // A file that another user created or can write could name any server.
    let is_trusted = metadata.is_file()
        && metadata.mode().trailing_zeros() >= 6
        && (metadata.uid() == own_uid || own_uid == 0);
    if !is_trusted || metadata.len() > MAX_FILE_BYTES {
        return None;
    }
    let text = fs::read_to_string(path).ok()?;
    let mut lines = text.lines();
    let token = lines.next().filter(|token| !token.is_empty())?;
    let mut contents =
        HostTokenFile { token: token.to_owned(), addresses: Vec::new(), certificate_sha256: None };
    for line in lines {
        match line.strip_prefix(CERTIFICATE_PREFIX) {
            Some(hex) => contents.certificate_sha256 = Some(parse_sha256(hex)?),
            None => contents.addresses.extend(line.parse::<SocketAddr>()),
        }
    }
    Some(contents)
}

/// Parses 64 hexadecimal digits.
fn parse_sha256(hex: &str) -> Option<[u8; 32]> {
    let (pairs, odd_digit) = hex.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = pairs.iter().map(byte).collect();
    bytes.filter(|_| odd_digit.is_empty())?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_token_is_found_by_port_and_only_in_a_private_file() {
        let folder = tempfile::tempdir().unwrap();
        let folders = [folder.path().join("gone"), folder.path().to_owned()];
        assert_eq!(find_host_token(&folders, 7979), None);
        let addresses = vec!["127.0.0.1:7979".parse().unwrap(), "[::1]:8080".parse().unwrap()];
        let token_file = |token: &str, certificate| HostTokenFile {
            token: token.to_owned(),
            addresses: addresses.clone(),
            certificate_sha256: certificate,
        };
        let http_token_file = token_file("t0ken", None);
        write_host_token(folder.path(), &http_token_file).unwrap();
        assert_eq!(find_host_token(&folders, 7979), Some(http_token_file.clone()));
        assert_eq!(find_host_token(&folders, 8080), Some(http_token_file));
        assert_eq!(find_host_token(&folders, 80), None, "another server must not get it");
        let https_token_file = token_file("new", Some([0xa7; 32]));
        write_host_token(folder.path(), &https_token_file).unwrap();
        let found = find_host_token(&folders, 7979).unwrap();
        assert_eq!((found.scheme(), &found), ("https", &https_token_file));
        assert!(!format!("{found:?}").contains("new"), "a token must not get into a log");
        let file = folder.path().join(FILE_NAME);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(find_host_token(&folders, 7979), None);
        remove_host_token(folder.path());
        assert!(!file.exists());
        remove_host_token(folder.path());
    }
}
