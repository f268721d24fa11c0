//! Processes that belong to a folder: what is left of browsers that lived there.
#![allow(dead_code, reason = "every test binary takes what it needs")]

use std::path::Path;

/// Processes, zombies too, that name `folder` in their command line or environment: `/proc/ID COMMAND`.
pub fn processes_of(folder: &Path) -> Vec<String> {
    let wanted = folder.display().to_string();
    let holds = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(&wanted);
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

/// Profiles and locks that are in the `folder` of a house.
pub fn profiles_in(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name != "turn").collect()
}
