//! `vigie nats init`: the server starts with exactly its files, which hold no key that signs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use vigie::clock::SystemClock;
use vigie::service::agents::TrustFile;
use vigie::vault::Keyring;

use super::kit::init;
use crate::support::binary::{err, out, vigie};
use crate::support::nats::NatsServer;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] })
        .collect();
    found.sort();
    found
}

async fn connects(data: &Path) -> bool {
    let keyring = Keyring::read(&data.join("vigie.key")).unwrap();
    let trust = TrustFile::in_data_dir(data).read(&keyring).unwrap().unwrap();
    let login = trust.control_login(Arc::new(SystemClock)).unwrap();
    login.check_urls(&trust.urls).unwrap();
    login.connect_options().unwrap().connect(&trust.urls).await.is_ok()
}

#[tokio::test]
async fn the_server_starts_with_its_files_which_hold_no_key_that_signs() {
    let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let port = init(folder.path(), data.path(), &[]);
    let names: Vec<String> = files(folder.path())
        .iter()
        .map(|path| path.strip_prefix(folder.path()).unwrap().display().to_string())
        .collect();
    assert_eq!(names.iter().filter(|name| name.starts_with("jwt/A")).count(), 3, "{names:?}");
    assert_eq!(names.len(), 6, "{names:?}");
    assert_eq!(mode(&folder.path().join("nats-server.key")), 0o600);
    assert_eq!(mode(&data.path().join("nats-trust.sealed")), 0o600);
    // A seed begins with S and the letter of its kind.
    let is_seed =
        |word: &str| word.len() == 58 && ["SO", "SA", "SU", "SX"].iter().any(|start| word.starts_with(start));
    for path in files(folder.path()).iter().chain(&files(data.path())) {
        let text = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
        let words = text.split(|c: char| !c.is_ascii_alphanumeric());
        assert!(!words.into_iter().any(is_seed), "{}", path.display());
    }
    let server = NatsServer::start_from(&folder.path().join("nats.conf"), port);
    assert!(connects(data.path()).await, "{}", server.log());
    let settings = fs::read_to_string(folder.path().join("nats.conf")).unwrap();
    assert!(settings.contains(&format!("listen: \"127.0.0.1:{port}\"")), "{settings}");
    assert!(!settings.contains("http"), "there is a monitoring port: {settings}");
}

#[tokio::test]
async fn nothing_that_exists_is_overwritten() {
    let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    init(folder.path(), data.path(), &[]);
    let all = || -> Vec<Vec<u8>> {
        files(folder.path()).iter().chain(&files(data.path())).map(|path| fs::read(path).unwrap()).collect()
    };
    let before = all();
    let other = tempfile::tempdir().unwrap();
    let run = |folder: &Path, data: &Path| {
        vigie(&["nats", "init", folder.to_str().unwrap(), "--data", data.to_str().unwrap()])
    };
    for (folder, data) in [(folder.path(), other.path()), (other.path(), data.path())] {
        let output = run(folder, data);
        assert_eq!(output.status.code(), Some(2), "{}", err(&output));
        assert!(err(&output).contains("exists already; nothing was changed"), "{}", err(&output));
    }
    assert_eq!(all(), before);
    assert_eq!(files(other.path()), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn without_tls_the_server_is_for_its_own_host_only() {
    let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let port = init(folder.path(), data.path(), &["--no-tls"]);
    let _server = NatsServer::start_from(&folder.path().join("nats.conf"), port);
    assert!(connects(data.path()).await);
    let other = tempfile::tempdir().unwrap();
    let path = other.path().to_str().unwrap();
    let output = vigie(&["nats", "init", path, "--no-tls", "--host", "nats.example", "--data", path]);
    assert_eq!(output.status.code(), Some(2), "{}", out(&output));
}

#[tokio::test]
async fn a_new_certificate_of_the_same_authority_is_trusted() {
    let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let port = init(folder.path(), data.path(), &[]);
    let server = folder.path();
    let (path, data_path) = (server.to_str().unwrap(), data.path().to_str().unwrap());
    let renew =
        ["nats", "certificate", path, "--host", "127.0.0.1", "--host", "localhost", "--data", data_path];
    assert_eq!(vigie(&renew).status.code(), Some(1), "it overwrote the certificate");
    let old = fs::read(server.join("nats-server.crt")).unwrap();
    fs::remove_file(server.join("nats-server.crt")).unwrap();
    fs::remove_file(server.join("nats-server.key")).unwrap();
    let output = vigie(&renew);
    assert!(output.status.success(), "{}", err(&output));
    assert_ne!(fs::read(server.join("nats-server.crt")).unwrap(), old);
    let _server = NatsServer::start_from(&server.join("nats.conf"), port);
    assert!(connects(data.path()).await);
}

#[test]
fn the_sealed_file_opens_with_its_keyring_only_and_moves_to_a_new_key() {
    let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    init(folder.path(), data.path(), &[]);
    let keyring = Keyring::read(&data.path().join("vigie.key")).unwrap();
    let file = TrustFile::in_data_dir(data.path());
    let trust = file.read(&keyring).unwrap();
    assert!(trust.is_some() && file.read(&Keyring::ephemeral()).is_err());
    assert_eq!(file.sealing_key().unwrap(), Some(1));
    keyring.add_key().unwrap();
    assert!(file.reseal(&keyring).unwrap() && !file.reseal(&keyring).unwrap());
    assert_eq!(file.sealing_key().unwrap(), Some(2));
    assert_eq!(file.read(&keyring).unwrap(), trust);
    assert_eq!(mode(file.path()), 0o600);
}
