//! The programs that the demo starts, and the users that run them.

use std::path::{Path, PathBuf};

use anyhow::Context;
use nix::unistd::{User, chown, geteuid};
use tokio::process::Command;

use super::cluster_folder::ClusterFolder;
use crate::cli::output::UsageError;

/// Folders with programs, beside those of `PATH`: Debian installs daemons there.
const MORE_FOLDERS: [&str; 3] = ["/usr/sbin", "/usr/local/sbin", "/sbin"];
/// Where Debian installs PostgreSQL, by version.
const POSTGRES_VERSIONS: &str = "/usr/lib/postgresql";

/// The programs, and the users that run them when this one is root.
pub(super) struct Programs {
    pub(super) vigie: PathBuf,
    pub(super) nats: PathBuf,
    /// Folder with `initdb` and `postgres`.
    pub(super) postgres_folder: PathBuf,
    pub(super) postgres_user: Option<User>,
    pub(super) other_user: Option<User>,
}

impl Programs {
    /// Finds all programs.
    ///
    /// # Errors
    /// Fails for one that is missing; the message says how to install it.
    pub(super) fn find(folder: &ClusterFolder) -> anyhow::Result<Self> {
        let missing = |program: &str, package: &str| {
            let hint = Some(format!("`apt-get install {package}` installs it on Debian"));
            UsageError::with_hint(format!("there is no program `{program}`"), hint)
        };
        let nats = find_program("nats-server").ok_or_else(|| missing("nats-server", "nats-server"))?;
        let postgres_folder = find_postgres().ok_or_else(|| missing("postgres", "postgresql"))?;
        find_program("setpriv").ok_or_else(|| missing("setpriv", "util-linux"))?;
        let own = std::env::current_exe().context("cannot find this program")?;
        if !geteuid().is_root() {
            return Ok(Self { vigie: own, nats, postgres_folder, postgres_user: None, other_user: None });
        }
        let user = |names: &[&str]| {
            let found = names.iter().find_map(|name| User::from_name(name).ok().flatten());
            found.with_context(|| format!("this host has no user `{}`", names.join("` or `")))
        };
        Ok(Self {
            // Where this one is, another user may not read.
            vigie: folder.join("vigie"),
            nats,
            postgres_folder,
            postgres_user: Some(user(&["postgres"])?),
            other_user: Some(user(&["vigie", "nobody"])?),
        })
    }

    /// Copies this program where the users of the parts can read it.
    pub(super) fn install_vigie(&self) -> anyhow::Result<()> {
        let own = std::env::current_exe().context("cannot find this program")?;
        if self.vigie != own {
            std::fs::copy(&own, &self.vigie).context("cannot copy this program")?;
        }
        Ok(())
    }
}

/// Returns the command that runs `program` as `user`; it is killed when this process ends.
pub(super) fn command_as(user: Option<&User>, program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL"]);
    if let Some(user) = user {
        command
            .arg(format!("--reuid={}", user.uid))
            .arg(format!("--regid={}", user.gid))
            .arg("--clear-groups");
    }
    command.arg("--").arg(program).kill_on_drop(true);
    command
}

/// Makes everything in `folder` belong to `user`.
pub(super) fn give(folder: &Path, user: Option<&User>) -> anyhow::Result<()> {
    let Some(user) = user else { return Ok(()) };
    chown(folder, Some(user.uid), Some(user.gid))
        .with_context(|| format!("cannot give `{}` to the user {}", folder.display(), user.name))?;
    if folder.is_dir() {
        for entry in std::fs::read_dir(folder)? {
            give(&entry?.path(), Some(user))?;
        }
    }
    Ok(())
}

fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(MORE_FOLDERS.map(PathBuf::from));
    folders.map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// Returns the folder of the newest PostgreSQL of Debian, or that of `PATH`.
fn find_postgres() -> Option<PathBuf> {
    let versions = std::fs::read_dir(POSTGRES_VERSIONS).into_iter().flatten().flatten();
    let newest = versions
        .filter_map(|entry| {
            let version: u32 = entry.file_name().to_str()?.parse().ok()?;
            let folder = entry.path().join("bin");
            folder.join("postgres").is_file().then_some((version, folder))
        })
        .max();
    let of_path = || find_program("postgres")?.parent().map(Path::to_owned);
    newest.map(|(_, folder)| folder).or_else(of_path)
}
