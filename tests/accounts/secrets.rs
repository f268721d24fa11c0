//! Secrets stay where they belong: not on the disk, not in what is shown.

use std::fs;

use vigie::domain::Role;
use vigie::service::open_keyring;
use vigie::store::{ConfigChange, ConfigStore};
use vigie::vault::{KeyFile, Keyring};

use crate::accounts::kit::{House, PASSWORD, host, ip, key_file, open, opened, sealed_monitor};

/// The bytes of all files of the store.
fn bytes(house: &House) -> Vec<u8> {
    let files = fs::read_dir(house.folder.path()).unwrap().map(|entry| entry.unwrap().path());
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
    let house = House::new().await;
    let keyring = open_keyring(&*house.store, KeyFile::new(key_file(house.folder.path()))).await.unwrap();
    let monitor = sealed_monitor(&keyring, REALM);
    let ConfigChange::CreateMonitor(new) = &monitor else { unreachable!() };
    let sealed = new.sealed.clone().unwrap();
    house.store.write_changes(vec![monitor], vec![]).await.unwrap();
    house.user("anna", Role::ReadOnly).await;
    house.accounts.set_password(&host(), "anna", LATER).await.unwrap();
    let _ = house.accounts.log_in("admin", WRONG, ip(1)).await;
    let _ = house.accounts.log_in(WRONG, WRONG, ip(1)).await;
    let token = house.accounts.log_in("admin", PASSWORD, ip(1)).await.unwrap().token;
    let session = house.accounts.open_session("admin", PASSWORD, ip(1)).await.unwrap();
    let host_token = house.accounts.renew_host_token();
    let key = fs::read_to_string(key_file(house.folder.path())).unwrap();
    let key = key.lines().last().unwrap().split_once(' ').unwrap().1.to_owned();
    let secrets = [REALM, WRONG, LATER, PASSWORD, &token, &session, &host_token, &key];
    // Once while it lies in the log of SQLite, and once in the file itself.
    for closed in [false, true] {
        if closed {
            house.store.close().await;
        }
        let bytes = bytes(&house);
        for secret in secrets {
            assert!(
                !holds(&bytes, secret.as_bytes()),
                "`{secret}` is in the files of the store (closed: {closed})"
            );
        }
        // The search finds what is there.
        assert!(holds(&bytes, b"login_failed") && holds(&bytes, &sealed));
    }
    let store = open(house.folder.path());
    let keyring = Keyring::read(&key_file(house.folder.path())).unwrap();
    assert!(opened(&store, &keyring).await[0].contains(REALM));
}

#[tokio::test]
async fn nothing_that_is_shown_for_debugging_shows_a_secret() {
    let house = House::new().await;
    let keyring = open_keyring(&*house.store, KeyFile::new(key_file(house.folder.path()))).await.unwrap();
    let issued = house.accounts.log_in("admin", PASSWORD, ip(1)).await.unwrap();
    let text = format!("{issued:?} {keyring:?} {:?}", house.record("admin").await);
    assert!(!text.contains(&issued.token) && !text.contains("argon2"), "{text}");
    assert!(text.contains("Issued { expires_in: 3600, .. } Keyring { ids: [1], .. }"), "{text}");
}
