//! Processes that use a folder, to find what browsers leave behind, and children of this one.
#![allow(dead_code, reason = "every test binary takes what it needs")]

use std::path::Path;
use std::time::Duration;

/// Returns processes, zombies included, whose command line or environment names `folder`, as `/proc/ID COMMAND`.
pub fn processes_of(folder: &Path) -> Vec<String> {
    let folder_name = folder.display().to_string();
    let holds = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(&folder_name);
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let path = entry.path();
        let read = |name: &str| std::fs::read(path.join(name)).unwrap_or_default();
        let own = entry.file_name().to_str() == Some(&std::process::id().to_string());
        if !own && (holds(&read("cmdline")) || holds(&read("environ"))) {
            let line = String::from_utf8_lossy(&read("cmdline")).replace('\0', " ");
            found.push(format!("{} {}", path.display(), line.chars().take(2000).collect::<String>()));
        }
    }
    found
}

/// Returns the names of the profiles and locks in the `folder` of a browser pool.
pub fn profiles_in(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name != "turn").collect()
}

/// A child of this process, as `proc_pid_stat(5)` shows it.
pub struct ChildProcess {
    pub command: String,
    pub state: String,
    /// Processor time in user and kernel mode, to a hundredth of a second.
    pub cpu_time: Duration,
}

/// Returns the children of this process.
pub fn child_processes() -> Vec<ChildProcess> {
    let own = std::process::id().to_string();
    let folders = std::fs::read_dir("/proc").unwrap().flatten();
    let stats = folders.filter_map(|folder| std::fs::read_to_string(folder.path().join("stat")).ok());
    let to_child = |stat: String| {
        let (head, tail) = stat.rsplit_once(')')?;
        // After the name: state, parent, …
        let fields: Vec<&str> = tail.split_whitespace().collect();
        let ticks = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
        (fields[1] == own).then(|| ChildProcess {
            command: head.split_once('(').map_or_else(String::new, |(_, command)| command.to_owned()),
            state: fields[0].to_owned(),
            cpu_time: Duration::from_millis(ticks * 10),
        })
    };
    stats.filter_map(to_child).collect()
}
