//! The key file and its rotation, which may be interrupted at any moment.

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use vigie::service::{SealingError, count_sealed_secrets, open_keyring, reseal_all_secrets};
use vigie::store::ConfigStore;
use vigie::vault::{KeyFile, Keyring, VaultError};

use crate::accounts::harness::{Harness, key_file, open, opened, sealed_monitor, vigie};

/// Creates `count` monitors sealed with the keys of the folder.
async fn fill(harness: &Harness, count: usize) -> Keyring {
    let keyring = open_keyring(&*harness.store, KeyFile::new(key_file(harness.folder.path()))).await.unwrap();
    let writes = (0..count).map(|number| sealed_monitor(&keyring, &format!("hunter{number}"))).collect();
    harness.store.write_changes(writes, vec![]).await.unwrap();
    keyring
}

/// Returns the number of monitors whose secrets a newly started process can open.
async fn openable(harness: &Harness) -> usize {
    let key_file = KeyFile::new(key_file(harness.folder.path()));
    let keyring = open_keyring(&*harness.store, key_file).await.unwrap();
    opened(&harness.store, &keyring).await.len()
}

#[tokio::test]
async fn the_key_file_is_private_and_refused_when_others_can_read_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("below/vigie.key");
    let keyring = Keyring::read_or_create(&file).unwrap();
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let sealed = keyring.seal("a", b"secret");
    assert_eq!(Keyring::read(&file).unwrap().open("a", &sealed).unwrap().as_slice(), b"secret");
    for mode in [0o640, 0o604, 0o644, 0o660] {
        std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
        let Err(VaultError::KeyFile(text)) = Keyring::read_or_create(&file) else { panic!("{mode:o}") };
        assert!(text.contains("hint: `chmod 600 ") && text.contains(&format!("{mode:o}")), "{text}");
    }
    // A systemd credential is readable for the service through an ACL, which shows as group permissions.
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o440)).unwrap();
    let credential = Keyring::read_from(KeyFile { path: file.clone(), is_systemd_credential: true }).unwrap();
    assert_eq!(credential.open("a", &sealed).unwrap().as_slice(), b"secret");
    let before = std::fs::read(&file).unwrap();
    assert!(
        matches!(credential.add_key(), Err(VaultError::KeyFile(text)) if text.contains("LoadCredential"))
    );
    assert_eq!(std::fs::read(&file).unwrap(), before);
    let missing = KeyFile { path: folder.path().join("gone"), is_systemd_credential: true };
    assert!(Keyring::read_or_create_from(missing).is_err(), "a credential was made");
}

#[tokio::test]
async fn a_keyring_reloads_new_keys_and_keeps_the_old_ones_when_the_file_is_invalid() {
    let folder = tempfile::tempdir().unwrap();
    let file = key_file(folder.path());
    let keyring = Keyring::read_or_create(&file).unwrap();
    assert_eq!(keyring.reload(), Ok(false));
    Keyring::read(&file).unwrap().add_key().unwrap();
    assert_eq!((keyring.newest_key_id(), keyring.reload(), keyring.newest_key_id()), (1, Ok(true), 2));
    let sealed = keyring.seal("a", b"secret");
    std::fs::write(&file, "1 rubbish").unwrap();
    assert!(keyring.reload().is_err());
    assert_eq!(keyring.open("a", &sealed).unwrap().as_slice(), b"secret");
}

#[tokio::test]
async fn a_missing_key_file_is_an_error_only_if_the_store_has_secrets() {
    let harness = Harness::new().await;
    let file = key_file(harness.folder.path());
    fill(&harness, 0).await;
    std::fs::remove_file(&file).unwrap();
    fill(&harness, 3).await;
    let (key_bytes, key_file) = (std::fs::read(&file).unwrap(), KeyFile::new(&file));
    std::fs::remove_file(&file).unwrap();
    let error = open_keyring(&*harness.store, key_file.clone()).await.unwrap_err();
    assert!(matches!(error, SealingError::MissingKeyFile { secrets: 3, .. }), "{error}");
    assert!(error.to_string().contains("hint: ") && !file.exists(), "{error}");
    // A key file of another installation.
    Keyring::read_or_create(&file).unwrap().add_key().unwrap();
    let other = Keyring::read(&file).unwrap();
    other.remove(&[1]).unwrap();
    let error = open_keyring(&*harness.store, key_file.clone()).await.unwrap_err();
    assert_eq!(error, SealingError::Vault(VaultError::UnknownKey(1)));
    std::fs::write(&file, key_bytes).unwrap();
    assert_eq!(openable(&harness).await, 3);
}

#[tokio::test]
async fn an_interrupted_rotation_leaves_every_secret_readable() {
    let harness = Harness::new().await;
    let keyring = fill(&harness, 20).await;
    let file = key_file(harness.folder.path());
    // Killed while the new file was written: it is left beside the old one.
    std::fs::write(file.with_extension("key.new"), "# The keys\n2 hal").unwrap();
    assert_eq!(openable(&harness).await, 20);
    // Killed after the file was replaced, before anything was resealed.
    assert_eq!(keyring.add_key(), Ok(2));
    assert_eq!(openable(&harness).await, 20);
    assert_eq!(count_sealed_secrets(&*harness.store).await.unwrap().count_by_key, [(1, 20)].into());
    // Killed while resealing.
    let (left, keyring) = (AtomicUsize::new(7), Arc::new(keyring));
    let seal = Arc::clone(&keyring);
    let some = move |context: &str, sealed: &[u8]| {
        let go = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        go.ok().and_then(|_| seal.reseal(context, sealed))
    };
    assert_eq!(harness.store.reseal(Arc::new(some)).await, Ok(7));
    assert_eq!(count_sealed_secrets(&*harness.store).await.unwrap().count_by_key, [(1, 13), (2, 7)].into());
    assert_eq!(openable(&harness).await, 20);
    assert_eq!(reseal_all_secrets(&*harness.store, &keyring).await, Ok(13));
    assert_eq!(reseal_all_secrets(&*harness.store, &keyring).await, Ok(0));
    keyring.remove(&[1]).unwrap();
    assert_eq!(openable(&harness).await, 20);
}

#[tokio::test]
async fn vigie_key_rotate_killed_at_any_moment_leaves_every_secret_readable() {
    let harness = Harness::new().await;
    fill(&harness, 1_000).await;
    let Harness { folder, store, accounts, .. } = harness;
    drop(accounts);
    store.close().await;
    drop(store);
    let data = folder.path().display().to_string();
    let mut newest = Vec::new();
    for round in 0..10_u64 {
        let mut rotate = vigie(&["key", "rotate", "--data", &data]);
        let mut child = rotate.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        tokio::time::sleep(Duration::from_millis(10 * round)).await;
        let _ = child.kill();
        child.wait().unwrap();
        let store = open(folder.path());
        let keyring = open_keyring(&store, KeyFile::new(key_file(folder.path()))).await.unwrap();
        assert_eq!(opened(&store, &keyring).await.len(), 1_000);
        newest.push(keyring.newest_key_id());
        store.close().await;
    }
    assert!(newest.windows(2).all(|two| two[0] <= two[1]), "{newest:?}");
    let done = vigie(&["key", "rotate", "--data", &data]).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    assert!(vigie(&["key", "prune", "--data", &data]).output().unwrap().status.success());
    let keyring = Keyring::read(&key_file(folder.path())).unwrap();
    assert_eq!(keyring.key_ids().len(), 1);
    assert_eq!(opened(&open(folder.path()), &keyring).await.len(), 1_000);
}
