//! Processes of this host, from `/proc` (proc(5)).

use std::collections::BTreeSet;
use std::fs;

/// One process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) id: i32,
    parent_id: i32,
    group_id: i32,
    /// Whether it has exited but has not been reaped.
    pub(crate) is_zombie: bool,
    /// Whether it is stopped by a signal.
    pub(crate) is_stopped: bool,
}

impl Process {
    /// Whether its parent is `parent_id`, which reaps it.
    pub(crate) const fn is_child_of(&self, parent_id: i32) -> bool {
        self.parent_id == parent_id
    }

    /// Whether its process group is neither the one of this process nor its own.
    pub(crate) fn is_in_foreign_group(&self) -> bool {
        self.group_id != self.id && self.group_id != nix::unistd::getpgrp().as_raw()
    }
}

/// Lists all visible processes.
pub(crate) fn list_processes() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let ids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter_map(read_process).collect()
}

fn read_process(id: i32) -> Option<Process> {
    parse_stat(id, &fs::read_to_string(format!("/proc/{id}/stat")).ok()?)
}

/// Parses the fields after the name, which is in brackets and may contain anything.
fn parse_stat(id: i32, stat: &str) -> Option<Process> {
    let mut fields = stat.get(stat.rfind(')')? + 1..)?.split_ascii_whitespace();
    let state = fields.next()?;
    let (is_zombie, is_stopped) = (matches!(state, "Z" | "X"), state == "T");
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    Some(Process { id, parent_id: parent, group_id: group, is_zombie, is_stopped })
}

/// Returns those of `processes` that belong to one browser: processes with `env_marker` in their environment or in
/// the process group `group_id`, processes that share a group with one of them, and all their descendants.
pub(crate) fn browser_processes(
    processes: &[Process],
    group_id: Option<i32>,
    env_marker: Option<&[u8]>,
) -> Vec<Process> {
    let own_id = i32::try_from(std::process::id()).unwrap_or_default();
    let own_group = nix::unistd::getpgrp().as_raw();
    let is_foreign = |process: &&Process| process.id != own_id && process.id > 1;
    let is_marked = |process: &Process| {
        env_marker.is_some_and(|env_marker| has_environment_variable(process.id, env_marker))
    };
    let mut group_ids: BTreeSet<i32> = group_id.into_iter().collect();
    let mut member_ids: BTreeSet<i32> =
        processes.iter().filter(is_foreign).filter(|p| is_marked(p)).map(|p| p.id).collect();
    loop {
        let counts_before = (member_ids.len(), group_ids.len());
        for process in processes.iter().filter(is_foreign) {
            if member_ids.contains(&process.id)
                || member_ids.contains(&process.parent_id)
                || group_ids.contains(&process.group_id)
            {
                member_ids.insert(process.id);
                if process.group_id > 1 && process.group_id != own_group {
                    group_ids.insert(process.group_id);
                }
            }
        }
        if counts_before == (member_ids.len(), group_ids.len()) {
            break;
        }
    }
    processes.iter().filter(|process| member_ids.contains(&process.id)).copied().collect()
}

/// Whether the initial environment of the process contains the variable `marker`; false for processes of another user,
/// whose environment is not readable.
fn has_environment_variable(process_id: i32, marker: &[u8]) -> bool {
    let environment = fs::read(format!("/proc/{process_id}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|variable| variable == marker)
}

/// Memory of `processes`, in bytes: their private pages, and the largest shared part of any of them, since the shared
/// pages (the program and its libraries) are mostly the same.
pub(crate) fn memory_bytes(processes: &[Process]) -> u64 {
    let (mut private_pages, mut shared_pages) = (0, 0);
    for process in processes.iter().filter(|process| !process.is_zombie) {
        let text = fs::read_to_string(format!("/proc/{}/statm", process.id)).unwrap_or_default();
        let mut pages = text.split_ascii_whitespace().skip(1).map(|field| field.parse().unwrap_or(0_u64));
        let (resident, shared_field) = (pages.next().unwrap_or(0), pages.next().unwrap_or(0));
        private_pages += resident.saturating_sub(shared_field);
        shared_pages = shared_pages.max(shared_field);
    }
    let page_size = nix::unistd::sysconf(nix::unistd::SysconfVar::PAGE_SIZE).ok().flatten();
    (private_pages + shared_pages) * page_size.and_then(|size| u64::try_from(size).ok()).unwrap_or(4096)
}

/// Whether users other than root may create user namespaces, as far as the kernel's settings tell.
pub(crate) fn allows_user_namespaces() -> bool {
    let setting = |name: &str| fs::read_to_string(format!("/proc/sys/{name}")).unwrap_or_default();
    setting("user/max_user_namespaces").trim() != "0"
        && setting("kernel/unprivileged_userns_clone").trim() != "0"
        && setting("kernel/apparmor_restrict_unprivileged_userns").trim() != "1"
}

/// Memory of this host, in bytes.
pub(crate) fn host_memory_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.split_ascii_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(id: i32, parent: i32, group: i32) -> Process {
        Process { id, parent_id: parent, group_id: group, is_zombie: false, is_stopped: false }
    }

    #[test]
    fn a_process_name_may_contain_anything() {
        let read = parse_stat(7, "7 (a) Z 1) b) S 5 6 6 0 -1").unwrap();
        assert_eq!(read, process(7, 5, 6));
        assert!(parse_stat(7, "7 (x) Z 1 6 6").unwrap().is_zombie);
        assert!(parse_stat(7, "7 (x) T 1 6 6").unwrap().is_stopped);
        assert_eq!(parse_stat(7, ""), None);
        assert_eq!(parse_stat(7, "7 (x"), None);
    }

    #[test]
    fn a_browser_is_its_group_and_all_descendants() {
        let base = 4_000_000;
        let all = [
            process(base, 1, base),
            process(base + 1, base, base),
            // Left the group; has a child, and a process that shares the new group.
            process(base + 2, base + 1, base + 2),
            process(base + 3, base + 2, base + 3),
            process(base + 4, 1, base + 3),
            process(base + 9, 1, base + 9),
        ];
        let ids: Vec<i32> =
            browser_processes(&all, Some(base), None).iter().map(|process| process.id - base).collect();
        assert_eq!(ids, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn the_memory_of_this_process_is_measured() {
        let own_process_id = i32::try_from(std::process::id()).unwrap();
        let bytes = memory_bytes(&[read_process(own_process_id).unwrap()]);
        assert!((1 << 20..host_memory_bytes().unwrap()).contains(&bytes), "{bytes}");
    }
}
