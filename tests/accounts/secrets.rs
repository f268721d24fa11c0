//! Secrets are neither stored in plain text nor shown.

use std::fs;

use vigie::domain::Role;
use vigie::service::open_keyring;
use vigie::store::{ConfigChange, ConfigStore};
use vigie::vault::{KeyFile, Keyring};

use crate::accounts::harness::{Harness, PASSWORD, host, ip, key_file, open, opened, sealed_monitor};

/// Returns the bytes of all files of the store.
fn bytes(harness: &Harness) -> Vec<u8> {
    let files = fs::read_dir(harness.folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let stores = files.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("vigie.db"));
    stores.flat_map(|path| fs::read(path).unwrap()).collect()
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[tokio::test]
async fn no_file_of_the_store_holds_a_plain_secret() {
    const REALM: &str = "realm-secret-7413";
    const WRONG: &str = "wrong-guess-9921";
    const LATER: &str = "later password 5588";
    let harness = Harness::new().await;
    let keyring = open_keyring(&*harness.store, KeyFile::new(key_file(harness.folder.path()))).await.unwrap();
    let monitor = sealed_monitor(&keyring, REALM);
    let ConfigChange::CreateMonitor(new) = &monitor else { unreachable!() };
    let sealed = new.sealed_secrets.clone().unwrap();
    harness.store.write_changes(vec![monitor], vec![]).await.unwrap();
    harness.user("anna", Role::ReadOnly).await;
    harness.accounts.set_password(&host(), "anna", LATER).await.unwrap();
    let _ = harness.accounts.log_in("admin", WRONG, ip(1)).await;
    let _ = harness.accounts.log_in(WRONG, WRONG, ip(1)).await;
    let token = harness.accounts.log_in("admin", PASSWORD, ip(1)).await.unwrap().token;
    let session = harness.accounts.open_session("admin", PASSWORD, ip(1)).await.unwrap();
    let host_token = harness.accounts.renew_host_token();
    let key = fs::read_to_string(key_file(harness.folder.path())).unwrap();
    let key = key.lines().last().unwrap().split_once(' ').unwrap().1.to_owned();
    let secrets = [REALM, WRONG, LATER, PASSWORD, &token, &session, &host_token, &key];
    // Once while the data is in SQLite's log, and once in the database file.
    for closed in [false, true] {
        if closed {
            harness.store.close().await;
        }
        let bytes = bytes(&harness);
        for secret in secrets {
            assert!(
                !holds(&bytes, secret.as_bytes()),
                "`{secret}` is in the files of the store (closed: {closed})"
            );
        }
        // The search itself works.
        assert!(holds(&bytes, b"login_failed") && holds(&bytes, &sealed));
    }
    let store = open(harness.folder.path());
    let keyring = Keyring::read(&key_file(harness.folder.path())).unwrap();
    assert!(opened(&store, &keyring).await[0].contains(REALM));
}

#[tokio::test]
async fn debug_output_contains_no_secret() {
    let harness = Harness::new().await;
    let keyring = open_keyring(&*harness.store, KeyFile::new(key_file(harness.folder.path()))).await.unwrap();
    let issued = harness.accounts.log_in("admin", PASSWORD, ip(1)).await.unwrap();
    let text = format!("{issued:?} {keyring:?} {:?}", harness.record("admin").await);
    assert!(!text.contains(&issued.token) && !text.contains("argon2"), "{text}");
    assert!(text.contains("Issued { expires_in: 3600, .. } Keyring { ids: [1], .. }"), "{text}");
}
