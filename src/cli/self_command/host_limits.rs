//! The clock, the limits and the disk of this host.

use std::path::Path;
use std::process::{Command, Stdio};

use nix::sys::statvfs::statvfs;

use super::host_need::{Need, State};
use crate::cli::process::descriptor_limit;

/// Open files that a server with a few thousand monitors needs.
const MIN_OPEN_FILES: u64 = 4096;
/// Free bytes below which a store is about to fail.
const MIN_FREE_BYTES: u64 = 1 << 30;

/// Whether the clock is kept by a time server. Slots, certificates and the order of results depend on it.
pub(super) fn clock() -> Need {
    const NAME: &str = "clock";
    let mut command = Command::new("timedatectl");
    command.args(["show", "--property=NTPSynchronized", "--value"]);
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output();
    let answer = output.ok().filter(|output| output.status.success()).map(|output| output.stdout);
    match answer.as_deref().map(<[u8]>::trim_ascii) {
        Some(b"yes") => Need::ready(NAME, "kept by a time server"),
        Some(b"no") => Need::unmet(
            NAME,
            State::Lacking,
            "no time server keeps it",
            Some("apt-get install systemd-timesyncd (or chrony)"),
        ),
        _ => Need::unmet(
            NAME,
            State::Unknown,
            "`timedatectl` does not tell whether a time server keeps it",
            Some("in a container, the clock is that of the host: look there"),
        ),
    }
}

/// Whether enough files may be open at once: each check has a socket or more.
pub(super) fn open_files() -> Need {
    const NAME: &str = "open files";
    let limit = descriptor_limit();
    if limit >= MIN_OPEN_FILES {
        return Need::ready(NAME, format!("at most {limit}"));
    }
    let hint = format!("raise it: `ulimit -n {MIN_OPEN_FILES}`, or `LimitNOFILE=` of the unit");
    let detail = format!("at most {limit}, fewer than {MIN_OPEN_FILES}");
    Need::unmet(NAME, State::Lacking, &detail, Some(&hint))
}

/// Whether the disk of the data folder has space.
pub(super) fn disk(data_dir: &Path) -> Need {
    const NAME: &str = "disk";
    let data_dir = std::path::absolute(data_dir).unwrap_or_else(|_| data_dir.to_owned());
    // The folder itself may not exist before the first start.
    let existing = data_dir.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/"));
    let free_bytes = match statvfs(existing) {
        Ok(info) => info.blocks_available().saturating_mul(info.fragment_size()),
        Err(error) => {
            let detail = format!("`{}`: {error}", existing.display());
            return Need::unmet(NAME, State::Unknown, &detail, None);
        }
    };
    let detail = format!("{:.1} GB free for `{}`", free_bytes as f64 / 1e9, data_dir.display());
    if free_bytes >= MIN_FREE_BYTES {
        return Need::ready(NAME, detail);
    }
    Need::unmet(NAME, State::Lacking, &detail, Some("make room, or set `data` to a folder on another disk"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_disk_of_a_folder_that_does_not_exist_is_that_of_its_parents() {
        let folder = tempfile::tempdir().unwrap();
        let need = disk(&folder.path().join("a/b"));
        assert!(need.detail.contains("a/b`"), "{need:?}");
        assert_ne!(need.state, State::Unknown, "{need:?}");
    }
}
