//! Reads the monitors of a suite.

use std::path::PathBuf;

use crate::app::{config_files, is_host_file, read_monitors};
use crate::cli::config::contains_settings;
use crate::cli::input_file::require_existing;
use crate::cli::output::{InvalidInput, UsageError};
use crate::domain::MonitorType;
use crate::schema::monitor_file::FileMonitor;
use crate::settings::Settings;
use crate::syntax::closest_match;

/// Which monitors of the files run. Without any, all do.
#[derive(Debug, Default)]
pub(super) struct MonitorFilter {
    /// Keys or names.
    pub(super) keys: Vec<String>,
    pub(super) types: Vec<MonitorType>,
}

/// Returns the monitors of the files and folders in `paths` that pass `filter`, by file and position. Files of
/// settings and hosts in folders are left out.
///
/// # Errors
/// [`InvalidInput`] with all errors in the files; [`UsageError`] when a path does not exist, or no monitor passes.
pub(super) fn load_monitors(
    paths: &[PathBuf],
    filter: &MonitorFilter,
    settings: &mut Settings,
) -> anyhow::Result<Vec<FileMonitor>> {
    settings.monitor_paths = monitor_files(paths)?;
    settings.monitor_paths_are_set = true;
    let mut monitors = read_monitors(settings).map_err(InvalidInput)?;
    for key in &filter.keys {
        if !monitors.iter().any(|monitor| is_called(monitor, key)) {
            return Err(unknown_key_error(key, &monitors));
        }
    }
    let total = monitors.len();
    monitors.retain(|monitor| {
        let has_key = filter.keys.is_empty() || filter.keys.iter().any(|key| is_called(monitor, key));
        let has_type = filter.types.is_empty() || filter.types.contains(&monitor.document.monitor_type());
        has_key && has_type
    });
    match (monitors.is_empty(), total) {
        (false, _) => Ok(monitors),
        (true, 0) => Err(UsageError::with_hint("the files hold no monitor", None)),
        (true, total) => Err(UsageError::with_hint(
            format!("none of the {total} monitors has the key and the type"),
            Some("leave out `--key` or `--type`".to_owned()),
        )),
    }
}

/// Returns the files in `paths`, each once: the files named, and those of monitors in the folders named.
fn monitor_files(paths: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = Vec::new();
    for path in paths {
        require_existing(path)?;
        let found = if path.is_dir() {
            let found = config_files(path).map_err(InvalidInput)?;
            found.into_iter().filter(|file| !contains_settings(file) && !is_host_file(file)).collect()
        } else {
            vec![path.clone()]
        };
        if found.is_empty() {
            let message = format!("`{}` holds no monitor files (*.yaml, *.yml, *.json)", path.display());
            return Err(UsageError::with_hint(message, None));
        }
        for file in found {
            if !files.contains(&file) {
                files.push(file);
            }
        }
    }
    Ok(files)
}

fn is_called(monitor: &FileMonitor, key: &str) -> bool {
    monitor.key == key || monitor.document.name() == key
}

fn unknown_key_error(key: &str, monitors: &[FileMonitor]) -> anyhow::Error {
    let known = monitors.iter().flat_map(|monitor| [monitor.key.as_str(), monitor.document.name()]);
    let hint = closest_match(key, known).map(|closest| format!("did you mean `{closest}`?"));
    UsageError::with_hint(format!("no monitor has the key or name `{key}`"), hint)
}
