//! Files of hosts: telling them from monitor files, and reading them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::schema::host_file::{FileHost, duplicate_name_errors, holds_hosts, parse_host_file};
use crate::settings::read_config_text;
use crate::syntax::ValidationError;
use crate::syntax::node::Node;

/// Whether the file at `path` holds hosts. A file that cannot be read holds none: its reader says why.
#[must_use]
pub fn is_host_file(path: &Path) -> bool {
    let Ok(text) = read_config_text(path) else { return false };
    // Nearly all files are of monitors, and parsing takes long: the key is there as it is, or with an escape.
    let may_hold_hosts = text.contains("hosts") || text.contains('\\');
    may_hold_hosts && Node::from_yaml(&text).is_ok_and(|node| holds_hosts(&node))
}

/// Reads the hosts of files for which [`is_host_file`] holds.
///
/// # Errors
/// All errors of all files.
pub fn read_host_files(files: &[PathBuf]) -> Result<Vec<FileHost>, Vec<ValidationError>> {
    let (mut hosts, mut errors) = (Vec::new(), Vec::new());
    for path in files {
        let Some(node) = read_node(path) else { continue };
        match parse_host_file(&Arc::from(path.display().to_string()), &node) {
            Ok(file_hosts) => hosts.extend(file_hosts),
            Err(file_errors) => errors.extend(file_errors),
        }
    }
    errors.extend(duplicate_name_errors(&hosts));
    if errors.is_empty() { Ok(hosts) } else { Err(errors) }
}

fn read_node(path: &Path) -> Option<Node> {
    Node::from_yaml(&read_config_text(path).ok()?).ok()
}
