//! Processes of this host, as `/proc` tells (proc(5)).

use std::collections::BTreeSet;
use std::fs;

/// One process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) id: i32,
    parent: i32,
    group: i32,
    /// Whether it has ended and its parent has not looked yet.
    pub(crate) is_zombie: bool,
    /// Whether somebody stopped it by a signal.
    pub(crate) is_stopped: bool,
}

impl Process {
    /// Whether `parent` is who waits for its end.
    pub(crate) const fn is_child_of(&self, parent: i32) -> bool {
        self.parent == parent
    }

    /// Whether it is in a process group that is neither this process's nor its own.
    pub(crate) fn is_in_foreign_group(&self) -> bool {
        self.group != self.id && self.group != nix::unistd::getpgrp().as_raw()
    }
}

/// All processes that can be seen now.
pub(crate) fn list() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let ids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter_map(read).collect()
}

fn read(id: i32) -> Option<Process> {
    parse_stat(id, &fs::read_to_string(format!("/proc/{id}/stat")).ok()?)
}

/// The fields after the name, which stands in brackets and may hold anything.
fn parse_stat(id: i32, stat: &str) -> Option<Process> {
    let mut fields = stat.get(stat.rfind(')')? + 1..)?.split_ascii_whitespace();
    let state = fields.next()?;
    let (is_zombie, is_stopped) = (matches!(state, "Z" | "X"), state == "T");
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    Some(Process { id, parent, group, is_zombie, is_stopped })
}

/// Those of `all` that belong to one browser: that have `marker` in their environment or are of the process group
/// `group`, whoever shares a group with one of them, and all that descend from them.
pub(crate) fn browser_members(all: &[Process], group: Option<i32>, marker: Option<&[u8]>) -> Vec<Process> {
    let own = i32::try_from(std::process::id()).unwrap_or_default();
    let own_group = nix::unistd::getpgrp().as_raw();
    let stranger = |process: &&Process| process.id != own && process.id > 1;
    let marked =
        |process: &Process| marker.is_some_and(|marker| has_environment_variable(process.id, marker));
    let mut groups: BTreeSet<i32> = group.into_iter().collect();
    let mut members: BTreeSet<i32> =
        all.iter().filter(stranger).filter(|p| marked(p)).map(|p| p.id).collect();
    loop {
        let before = (members.len(), groups.len());
        for process in all.iter().filter(stranger) {
            if members.contains(&process.id)
                || members.contains(&process.parent)
                || groups.contains(&process.group)
            {
                members.insert(process.id);
                if process.group > 1 && process.group != own_group {
                    groups.insert(process.group);
                }
            }
        }
        if before == (members.len(), groups.len()) {
            break;
        }
    }
    all.iter().filter(|process| members.contains(&process.id)).copied().collect()
}

/// Whether the environment that the process began with has `marker` as one of its variables. That of another
/// user's process cannot be read, and says no.
fn has_environment_variable(id: i32, marker: &[u8]) -> bool {
    let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|variable| variable == marker)
}

/// Bytes of memory that `processes` take together: pages that each has for itself, and the most that one shares
/// with others. Shared pages are mostly the same ones, the program and its libraries.
pub(crate) fn memory_bytes(processes: &[Process]) -> u64 {
    let (mut own, mut shared) = (0, 0);
    for process in processes.iter().filter(|process| !process.is_zombie) {
        let text = fs::read_to_string(format!("/proc/{}/statm", process.id)).unwrap_or_default();
        let mut pages = text.split_ascii_whitespace().skip(1).map(|field| field.parse().unwrap_or(0_u64));
        let (resident, file) = (pages.next().unwrap_or(0), pages.next().unwrap_or(0));
        own += resident.saturating_sub(file);
        shared = shared.max(file);
    }
    let page = nix::unistd::sysconf(nix::unistd::SysconfVar::PAGE_SIZE).ok().flatten();
    (own + shared) * page.and_then(|size| u64::try_from(size).ok()).unwrap_or(4096)
}

/// Bytes of memory that this host has.
pub(crate) fn host_memory_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.split_ascii_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(id: i32, parent: i32, group: i32) -> Process {
        Process { id, parent, group, is_zombie: false, is_stopped: false }
    }

    #[test]
    fn a_name_may_hold_anything() {
        let read = parse_stat(7, "7 (a) Z 1) b) S 5 6 6 0 -1").unwrap();
        assert_eq!(read, process(7, 5, 6));
        assert!(parse_stat(7, "7 (x) Z 1 6 6").unwrap().is_zombie);
        assert!(parse_stat(7, "7 (x) T 1 6 6").unwrap().is_stopped);
        assert_eq!(parse_stat(7, ""), None);
        assert_eq!(parse_stat(7, "7 (x"), None);
    }

    #[test]
    fn a_browser_is_its_group_and_all_that_descends_from_it() {
        let base = 4_000_000;
        let all = [
            process(base, 1, base),
            process(base + 1, base, base),
            // Left the group, and has a child and a companion in the group that it went to.
            process(base + 2, base + 1, base + 2),
            process(base + 3, base + 2, base + 3),
            process(base + 4, 1, base + 3),
            process(base + 9, 1, base + 9),
        ];
        let ids: Vec<i32> =
            browser_members(&all, Some(base), None).iter().map(|process| process.id - base).collect();
        assert_eq!(ids, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn the_own_memory_is_seen() {
        let own = i32::try_from(std::process::id()).unwrap();
        let bytes = memory_bytes(&[read(own).unwrap()]);
        assert!((1 << 20..host_memory_bytes().unwrap()).contains(&bytes), "{bytes}");
    }
}
