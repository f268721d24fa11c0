//! `vigie export`: writes the monitors of a server as files that `vigie apply` reads.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use anyhow::Context;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::api_client::ServerArgs;
use super::output::{self, UsageError};
use crate::domain::MonitorType;
use crate::syntax::{MASK, yaml_writer};

/// Write the monitors of a server as files that `vigie apply` reads
///
/// Writes one file per type, with only the values that differ from the defaults, always in the same order. Secrets
/// are written as `********`: replace them by their values, or by `<field>_file` or `<field>_env`, before applying
/// the files.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie export                        all of them on standard output
  vigie export monitors/              files monitors/website.yaml, monitors/tcp.yaml, …
  vigie export monitors/ --force      over files that differ
  vigie export --type website         of one type")]
pub(super) struct Args {
    /// Folder for the files; created if missing
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Only monitors of this type
    #[arg(long = "type", value_name = "TYPE", value_parser = super::monitor_type::parse_monitor_type)]
    monitor_type: Option<MonitorType>,
    /// Overwrite files that differ
    #[arg(long, requires = "folder")]
    force: bool,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Deserialize)]
struct ExportResponse {
    monitors: Vec<ExportedMonitor>,
}

#[derive(Debug, Deserialize)]
struct ExportedMonitor {
    id: i64,
    origin: String,
    entry: Map<String, Value>,
}

pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let query: Vec<_> = args.monitor_type.iter().map(|kind| ("type", kind.name().to_owned())).collect();
    let response: ExportResponse = super::process::build_runtime(false)?
        .block_on(async { args.server.connect().await?.get("export", &query).await })?;
    let count = response.monitors.len();
    let file_defined = response.monitors.iter().filter(|monitor| monitor.origin == "file").count();
    if file_defined > 0 {
        output::print_note(&format!(
            "{file_defined} of them are managed by files on the server: applied to this server, they would be created a second time"
        ));
    }
    let types = group_by_type(response.monitors);
    let Some(folder) = &args.folder else {
        let all: Vec<_> = types.into_values().flatten().collect();
        output::print(&yaml_writer::format_monitors(&all))?;
        return Ok(ExitCode::SUCCESS);
    };
    let files: Vec<_> = types.iter().map(|(kind, entries)| build_type_file(folder, kind, entries)).collect();
    let written = write_files(folder, &files, args.force)?;
    let masked = files.iter().filter(|(_, text)| text.contains(MASK)).count();
    let with_unit = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let (monitors, all) = (with_unit(count, "monitor"), with_unit(files.len(), "file"));
    output::print(&format!("{monitors} in {all}, {written} of them written\n"))?;
    if masked > 0 {
        output::print_note(&format!(
            "{masked} {} secrets as `{MASK}`: put their values in before applying them",
            if masked == 1 { "file holds" } else { "files hold" }
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Groups the entries by type and sorts them by key. A key that several origins assigned gets the id appended.
fn group_by_type(monitors: Vec<ExportedMonitor>) -> BTreeMap<String, Vec<Map<String, Value>>> {
    let mut seen = HashSet::new();
    let mut types: BTreeMap<String, Vec<Map<String, Value>>> = BTreeMap::new();
    for ExportedMonitor { id, mut entry, .. } in monitors {
        let key = text_field(&entry, "key").to_owned();
        if !seen.insert(key.clone()) {
            entry.insert("key".to_owned(), Value::from(format!("{key}-{id}")));
        }
        types.entry(text_field(&entry, "type").to_owned()).or_default().push(entry);
    }
    for entries in types.values_mut() {
        entries.sort_by(|a, b| text_field(a, "key").cmp(text_field(b, "key")));
    }
    types
}

fn text_field<'a>(entry: &'a Map<String, Value>, name: &str) -> &'a str {
    entry.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Returns path and text of the file of a type. The name comes from a known type, so that a server cannot choose it.
fn build_type_file(folder: &Path, kind: &str, entries: &[Map<String, Value>]) -> (PathBuf, String) {
    let name = MonitorType::from_name(kind).map_or("others", |kind| kind.name());
    let head = format!("# Monitors of type {name}, written by `vigie export`, read by `vigie apply`.\n");
    (folder.join(format!("{name}.yaml")), head + &yaml_writer::format_monitors(entries))
}

/// Writes the files that differ and returns their number. Writes nothing when a file must not be replaced.
fn write_files(folder: &Path, files: &[(PathBuf, String)], force: bool) -> anyhow::Result<usize> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create the folder `{}`", folder.display()))?;
    let mut changed = Vec::new();
    let mut conflicting = Vec::new();
    for (path, text) in files {
        match fs::read(path) {
            Ok(existing) if existing == text.as_bytes() => {}
            Ok(_) if !force => conflicting.push(format!("`{}`", path.display())),
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("`{}` cannot be read", path.display()));
            }
            _ => changed.push((path, text)),
        }
    }
    if !conflicting.is_empty() {
        let hint = Some("overwrite them with `--force`, or choose another folder".to_owned());
        return Err(UsageError::with_hint(
            format!("these files exist and differ: {}", conflicting.join(", ")),
            hint,
        ));
    }
    for (path, text) in &changed {
        let temporary = path.with_extension("yaml.new");
        fs::write(&temporary, text)
            .and_then(|()| fs::rename(&temporary, path))
            .with_context(|| format!("`{}` cannot be written", path.display()))?;
    }
    Ok(changed.len())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn exported(id: i64, key: &str, kind: &str) -> ExportedMonitor {
        ExportedMonitor {
            id,
            origin: "api".to_owned(),
            entry: json!({"key": key, "type": kind}).as_object().unwrap().clone(),
        }
    }

    #[test]
    fn entries_are_grouped_by_type_sorted_by_key_and_a_duplicate_key_gets_the_id() {
        let types =
            group_by_type(vec![exported(1, "b", "tcp"), exported(2, "a", "tcp"), exported(3, "b", "ping")]);
        let keys: Vec<_> = types["tcp"].iter().map(|entry| text_field(entry, "key").to_owned()).collect();
        assert_eq!(
            (keys, text_field(&types["ping"][0], "key")),
            (vec!["a".to_owned(), "b".to_owned()], "b-3")
        );
        assert_eq!(build_type_file(Path::new("d"), "../x", &[]).0, Path::new("d/others.yaml"));
    }

    #[test]
    fn existing_files_are_overwritten_only_with_force() {
        let folder = tempfile::tempdir().unwrap();
        let files = |text: &str| {
            vec![
                (folder.path().join("a.yaml"), "same".to_owned()),
                (folder.path().join("b.yaml"), text.to_owned()),
            ]
        };
        assert_eq!(write_files(folder.path(), &files("one"), false).unwrap(), 2);
        assert_eq!(write_files(folder.path(), &files("one"), false).unwrap(), 0);
        let error = write_files(folder.path(), &files("two"), false).unwrap_err().to_string();
        assert!(
            error.contains("b.yaml`") && !error.contains("a.yaml") && error.contains("--force"),
            "{error}"
        );
        assert_eq!(fs::read_to_string(folder.path().join("b.yaml")).unwrap(), "one");
        assert_eq!(write_files(folder.path(), &files("two"), true).unwrap(), 1);
    }
}
