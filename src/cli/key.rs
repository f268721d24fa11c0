//! `vigie key`: manages the keys that seal the secrets in the database.

use std::process::ExitCode;
use std::sync::Arc;

use comfy_table::Cell;

use super::admin::{DataArgs, open_store};
use super::output::{self, UsageError};
use super::style::Style;
use super::table;
use crate::app::key_file_location;
use crate::service::agents::TrustFile;
use crate::service::{SealedSecretCounts, count_sealed_secrets, open_keyring, reseal_all_secrets};
use crate::settings::Settings;
use crate::store::Store;
use crate::vault::{KeyId, Keyring};

/// List, add and remove the keys that seal secrets
///
/// The newest key seals, all keys open. Every step may be interrupted: sealed secrets stay readable.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie key list      the keys, and how many secrets each seals
  vigie key rotate    a new key; all secrets are sealed again, at once or by the running server
  vigie key prune     then remove the old keys; the server has to be stopped for this")]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List the keys, and how many secrets each seals
    List {
        #[command(flatten)]
        data: DataArgs,
    },
    /// Add a key that seals from now on
    Rotate {
        #[command(flatten)]
        data: DataArgs,
    },
    /// Remove keys that seal nothing any more
    Prune {
        /// Only these keys; without ids, all keys that can be removed
        keys: Vec<KeyId>,
        #[command(flatten)]
        data: DataArgs,
    },
}

pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    super::process::build_single_threaded_runtime()?.block_on(async {
        let (Action::List { data } | Action::Rotate { data } | Action::Prune { data, .. }) = &args.action;
        let settings = data.load_settings()?;
        let store = open_store(&settings).await?;
        let result = match args.action {
            Action::List { .. } => list_keys(&settings, store.as_ref()).await,
            Action::Rotate { .. } => rotate_key(&settings, store.as_ref()).await,
            Action::Prune { keys, .. } => prune_keys(&settings, store.as_ref(), &keys).await,
        };
        if let Some(store) = store {
            store.close().await;
        }
        output::print(&result?)?;
        Ok(ExitCode::SUCCESS)
    })
}

async fn list_keys(settings: &Settings, store: Option<&Arc<dyn Store>>) -> anyhow::Result<String> {
    let keyring = Keyring::read_from(key_file_location(settings))?;
    let secret_counts = match store {
        Some(store) => Some(count_secrets(settings, &**store).await?),
        None => None,
    };
    let newest_id = keyring.newest_key_id();
    let to_row = |id: &KeyId| {
        let secret_count = secret_counts
            .as_ref()
            .map(|secret_counts| secret_counts.count_by_key.get(id).copied().unwrap_or_default());
        vec![
            Cell::new(id),
            Cell::new(secret_count.map_or_else(|| "?".to_owned(), |secret_count| secret_count.to_string())),
            Cell::new(if *id == newest_id { "seals" } else { "" }),
        ]
    };
    if secret_counts.is_none() {
        output::print_note("a server uses the database: the number of secrets of each key is not known here");
    }
    let rows = keyring.key_ids().iter().map(to_row).collect();
    Ok(table::render_table(&["key", "secrets", ""], rows, Style::for_stdout()))
}

/// Counts the secrets in the database, and the file with the keys of NATS as one.
async fn count_secrets(settings: &Settings, store: &dyn Store) -> anyhow::Result<SealedSecretCounts> {
    let mut counts = count_sealed_secrets(store).await?;
    if let Some(key) = TrustFile::in_data_dir(&settings.data_dir).sealing_key()? {
        *counts.count_by_key.entry(key).or_default() += 1;
    }
    Ok(counts)
}

async fn rotate_key(settings: &Settings, store: Option<&Arc<dyn Store>>) -> anyhow::Result<String> {
    let Some(store) = store else {
        let newest_id = Keyring::read_from(key_file_location(settings))?.add_key()?;
        return Ok(format!(
            "key {newest_id} was added; the running server seals all secrets again with it\n"
        ));
    };
    let keyring = Arc::new(open_keyring(&**store, key_file_location(settings)).await?);
    let newest_id = keyring.add_key()?;
    let secret_count = reseal_all_secrets(&**store, &keyring).await?;
    TrustFile::in_data_dir(&settings.data_dir).reseal(&keyring)?;
    Ok(format!("key {newest_id} seals from now on; {secret_count} secrets were sealed again\n"))
}

async fn prune_keys(
    settings: &Settings,
    store: Option<&Arc<dyn Store>>,
    requested_ids: &[KeyId],
) -> anyhow::Result<String> {
    // A key is certain to be unused only while no other process can seal.
    let Some(store) = store else {
        let hint = "stop the server, or keep the old keys: they do no harm";
        return Err(UsageError::with_hint("a server uses the database", Some(hint.to_owned())));
    };
    let keyring = open_keyring(&**store, key_file_location(settings)).await?;
    let (existing_ids, newest_id) = (keyring.key_ids(), keyring.newest_key_id());
    let secret_counts = count_secrets(settings, &**store).await?;
    if let Some(unknown) = requested_ids.iter().find(|id| !existing_ids.contains(id)) {
        return Err(UsageError::with_hint(format!("key {unknown} does not exist"), None));
    }
    for id in requested_ids {
        if *id == newest_id {
            return Err(UsageError::with_hint(format!("key {id} is the one that seals"), None));
        }
        if let Some(secret_count) = secret_counts.count_by_key.get(id) {
            let hint = Some("`vigie key rotate` seals them again".to_owned());
            return Err(UsageError::with_hint(format!("key {id} seals {secret_count} secrets"), hint));
        }
    }
    let is_removable = |id: &KeyId| *id != newest_id && !secret_counts.count_by_key.contains_key(id);
    let removable_ids: Vec<KeyId> = existing_ids
        .into_iter()
        .filter(is_removable)
        .filter(|id| requested_ids.is_empty() || requested_ids.contains(id))
        .collect();
    if removable_ids.is_empty() {
        return Ok("no key can be removed\n".to_owned());
    }
    keyring.remove(&removable_ids)?;
    let names: Vec<String> = removable_ids.iter().map(ToString::to_string).collect();
    Ok(format!("removed: {}\n", names.join(", ")))
}
