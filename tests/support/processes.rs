//! Processes that use a folder, to find what browsers leave behind.
#![allow(dead_code, reason = "every test binary takes what it needs")]

use std::path::Path;

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
