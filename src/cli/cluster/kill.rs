//! `vigie cluster kill`.

use std::process::ExitCode;

use anyhow::Context;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::cluster_folder::{ClusterFolder, is_alive};
use crate::cli::output::{self, UsageError};

/// Kills the part `name` of the demo in `folder`.
pub(super) fn run(name: &str, folder: &ClusterFolder) -> anyhow::Result<ExitCode> {
    let processes = folder.processes().ok_or_else(|| {
        let hint = "start it with `vigie cluster --demo`, or name its folder with `--data DIR`";
        UsageError::with_hint(format!("no demo runs in `{}`", folder.path().display()), Some(hint.to_owned()))
    })?;
    let Some(&pid) = processes.get(name) else {
        let names: Vec<_> = processes.keys().map(String::as_str).collect();
        let hint = Some(format!("its parts are {}", names.join(", ")));
        return Err(UsageError::with_hint(format!("the demo has no part `{name}`"), hint));
    };
    if !is_alive(pid) {
        return Err(UsageError(format!("{name} does not run now; it starts again soon")).into());
    }
    kill(Pid::from_raw(pid), Signal::SIGKILL)
        .with_context(|| format!("cannot kill {name} (process {pid})"))?;
    output::print(&format!("killed {name} (process {pid})\n"))?;
    Ok(ExitCode::SUCCESS)
}
