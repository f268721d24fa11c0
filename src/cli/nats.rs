//! `vigie nats`: sets up the NATS server that agents on other hosts use.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;

use super::admin::{DataArgs, is_missing, open_store};
use super::output::{self, UsageError};
use crate::app::key_file_location;
use crate::clock::{Clock, SystemClock};
use crate::service::agents::{
    NatsServerFile, NatsServerOptions, TrustFile, create_nats_installation, renew_nats_certificate,
};
use crate::service::open_keyring;
use crate::settings::Settings;
use crate::vault::Keyring;

/// Set up the NATS server for agents on other hosts
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie nats init nats --host nats.example.com        a server that other hosts reach
  vigie nats init nats                                one that only this host reaches
  vigie nats certificate new --host nats.example.net  a new certificate for another name")]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Make all keys, and the settings of a NATS server
    ///
    /// DIR gets nats.conf, the TLS certificate of the server and its key. All keys that sign go into one sealed file of the
    /// data folder. Nothing that exists is changed.
    Init {
        /// Folder of the NATS server, which is created
        #[arg(value_name = "DIR")]
        dir: PathBuf,
        /// Name or address by which agents reach it; may be given several times [default: this host only]
        #[arg(long = "host", value_name = "NAME")]
        hosts: Vec<String>,
        /// Its TCP port
        #[arg(long, value_name = "N", default_value_t = 4222)]
        port: u16,
        /// Without TLS, for a server that only this host reaches
        #[arg(long, conflicts_with = "hosts")]
        no_tls: bool,
        #[command(flatten)]
        data: DataArgs,
    },
    /// Make a new TLS certificate of the server, for other names or before the old one expires
    Certificate {
        /// Folder that gets nats-server.crt and nats-server.key, which must not exist there
        #[arg(value_name = "DIR")]
        dir: PathBuf,
        /// Name or address by which agents reach it; may be given several times
        #[arg(long = "host", value_name = "NAME", required = true)]
        hosts: Vec<String>,
        #[command(flatten)]
        data: DataArgs,
    },
}

pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let text = super::process::build_single_threaded_runtime()?.block_on(async {
        match args.action {
            Action::Init { dir, hosts, port, no_tls, data } => {
                let options = NatsServerOptions { hosts, port, has_tls: !no_tls };
                init(&dir, &options, &data).await
            }
            Action::Certificate { dir, hosts, data } => renew_certificate(&dir, &hosts, &data).await,
        }
    })?;
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

async fn init(dir: &Path, options: &NatsServerOptions, data: &DataArgs) -> anyhow::Result<String> {
    let trust_file = set_up(dir, options, &data.load_settings()?).await?;
    let (folder, sealed) = (dir.display(), trust_file.path().display());
    Ok(format!(
        "wrote {folder}/nats.conf and the sealed keys `{sealed}`\n\n\
         Next:\n\
         \x20 cd {folder} && nats-server -c nats.conf   here, or on the host of NATS after copying the folder there\n\
         \x20 vigie serve                               start it again, so that it takes agents\n\
         \x20 POST /api/v3/locations                    makes a location, and the secret for its first agent\n\
         \x20 vigie agent enrol URL --secret-file FILE  on the host of the agent\n"
    ))
}

/// Makes all keys: those that sign go into the data folder of `settings`, the files of the server into `dir`. Nothing
/// that exists is changed.
pub(super) async fn set_up(
    dir: &Path,
    options: &NatsServerOptions,
    settings: &Settings,
) -> anyhow::Result<TrustFile> {
    let trust_file = TrustFile::in_data_dir(&settings.data_dir);
    for path in [trust_file.path(), &dir.join("nats.conf")] {
        if path.try_exists().with_context(|| format!("`{}` cannot be read", path.display()))? {
            let hint = "a new installation needs another folder, and all agents have to enrol again";
            let text = format!("`{}` exists already; nothing was changed", path.display());
            return Err(UsageError::with_hint(text, Some(hint.to_owned())));
        }
    }
    let keyring = data_folder_keyring(settings).await?;
    let (trust, files) = create_nats_installation(options, SystemClock.now())
        .map_err(|reason| UsageError::with_hint(format!("no keys can be made: {reason}"), None))?;
    write_files(dir, &files)?;
    trust_file.create(&keyring, &trust)?;
    Ok(trust_file)
}

async fn renew_certificate(dir: &Path, hosts: &[String], data: &DataArgs) -> anyhow::Result<String> {
    let settings = data.load_settings()?;
    let keyring = data_folder_keyring(&settings).await?;
    let Some(trust) = TrustFile::in_data_dir(&settings.data_dir).read(&keyring)? else {
        let hint = Some("`vigie nats init` makes them".to_owned());
        let text = format!("there are no NATS keys in `{}`", settings.data_dir.display());
        return Err(UsageError::with_hint(text, hint));
    };
    let files = renew_nats_certificate(&trust, hosts, SystemClock.now())
        .map_err(|reason| UsageError::with_hint(format!("no certificate can be made: {reason}"), None))?;
    write_files(dir, &files)?;
    Ok(format!(
        "wrote {0}/nats-server.crt and {0}/nats-server.key: replace those of the server, then send it SIGHUP\n",
        dir.display()
    ))
}

/// Opens the keyring of the data folder; a new data folder gets one. A server may be running.
async fn data_folder_keyring(settings: &Settings) -> anyhow::Result<Keyring> {
    let key_file = key_file_location(settings);
    if key_file.exists()? {
        return Ok(Keyring::read_from(key_file)?);
    }
    if !is_missing(&settings.store_location()) {
        let Some(store) = open_store(settings).await? else {
            anyhow::bail!("the key file `{}` is missing", key_file.path.display());
        };
        let keyring = open_keyring(&*store, key_file).await;
        store.close().await;
        return Ok(keyring?);
    }
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&settings.data_dir)
        .with_context(|| format!("cannot create `{}`", settings.data_dir.display()))?;
    Ok(Keyring::read_or_create_from(key_file)?)
}

/// Writes new files below `dir`; secret ones with mode 0600.
fn write_files(dir: &Path, files: &[NatsServerFile]) -> anyhow::Result<()> {
    for file in files {
        let path = dir.join(&file.path);
        let write = || -> std::io::Result<()> {
            let folder = path.parent().unwrap_or(dir);
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
            let mode = if file.is_secret { 0o600 } else { 0o644 };
            let mut new = OpenOptions::new().write(true).create_new(true).mode(mode).open(&path)?;
            new.write_all(file.content.as_bytes())?;
            new.sync_all()?;
            File::open(folder)?.sync_all()
        };
        write().with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    Ok(())
}
