//! The folder of a demo: its data, its logs, and which process is which part.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use anyhow::Context;
use nix::unistd::geteuid;

use crate::cli::output::UsageError;

/// Name of the file with the process of each part.
const PROCESSES_FILE: &str = "processes.json";
/// Others may pass through the folder, since the parts of root run as other users.
const FOLDER_MODE: u32 = 0o711;

/// The folder of a demo.
#[derive(Clone, Debug)]
pub(super) struct ClusterFolder {
    path: PathBuf,
}

impl ClusterFolder {
    /// Returns the folder `path`, or that of this user.
    pub(super) fn locate(path: Option<PathBuf>) -> Self {
        let of_user = || std::env::temp_dir().join(format!("vigie-cluster-{}", geteuid().as_raw()));
        Self { path: path.unwrap_or_else(of_user) }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a path in the folder.
    pub(super) fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Creates the folder. One that a demo left behind is removed.
    ///
    /// # Errors
    /// Fails while another demo runs there, and for a folder of anything else.
    pub(super) fn create(&self) -> anyhow::Result<()> {
        let create = || DirBuilder::new().mode(FOLDER_MODE).create(&self.path);
        let shown = self.path.display();
        match create() {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            outcome => return outcome.with_context(|| format!("cannot create `{shown}`")),
        }
        let metadata = fs::symlink_metadata(&self.path)?;
        let is_own = metadata.is_dir() && metadata.uid() == geteuid().as_raw();
        let processes = self.processes().filter(|_| is_own).ok_or_else(|| {
            UsageError::with_hint(
                format!("`{shown}` exists, and is no folder of `vigie cluster`"),
                Some("name another one with `--data DIR`".to_owned()),
            )
        })?;
        if processes.values().any(|pid| is_alive(*pid)) {
            return Err(UsageError::with_hint(
                format!("a demo runs already in `{shown}`"),
                Some("end it with Ctrl-C, or name another folder with `--data DIR`".to_owned()),
            ));
        }
        fs::remove_dir_all(&self.path).with_context(|| format!("cannot remove `{shown}`"))?;
        create().with_context(|| format!("cannot create `{shown}`"))
    }

    /// Removes the folder.
    pub(super) fn remove(&self) {
        if let Err(error) = fs::remove_dir_all(&self.path) {
            crate::cli::output::print_note(&format!("warning: `{}`: {error}", self.path.display()));
        }
    }

    /// Returns the process of each part; `None` without a demo.
    pub(super) fn processes(&self) -> Option<BTreeMap<String, i32>> {
        serde_json::from_slice(&fs::read(self.join(PROCESSES_FILE)).ok()?).ok()
    }

    /// Stores the process of each part.
    pub(super) fn store_processes(&self, processes: &BTreeMap<String, i32>) -> anyhow::Result<()> {
        let (path, new) = (self.join(PROCESSES_FILE), self.join(".processes.new"));
        fs::write(&new, serde_json::to_vec(processes)?)?;
        fs::rename(&new, &path).with_context(|| format!("cannot write `{}`", path.display()))
    }
}

/// Whether a process has this id.
pub(super) fn is_alive(pid: i32) -> bool {
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), None).is_ok()
}
