//! `vigie export`: writes the monitors and hosts of a server as files that `vigie apply` reads.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use anyhow::Context;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::api_client::{ListResponse, ServerArgs};
use super::output::{self, UsageError};
use crate::domain::MonitorType;
use crate::schema::host_file::to_host_entry;
use crate::syntax::{MASK, yaml_writer};

/// Write the monitors and hosts of a server as files that `vigie apply` reads
///
/// Writes one file per type of monitor and one of hosts, with only the values that differ from the defaults, always in
/// the same order. Secrets are written as `********`: replace them by their values, or by `<field>_file` or
/// `<field>_env`, before applying the files.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie export                        all of them on standard output
  vigie export monitors/              files monitors/website.yaml, monitors/tcp.yaml, monitors/hosts.yaml, …
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
    /// `file` when monitor files of the server define it.
    origin: String,
    /// Its fields with key and type, as in a file of `vigie apply`.
    entry: Map<String, Value>,
}

pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let query: Vec<_> =
        args.monitor_type.iter().map(|monitor_type| ("type", monitor_type.name().to_owned())).collect();
    let (response, hosts) = super::process::build_single_threaded_runtime()?.block_on(async {
        let mut server = args.server.connect().await?;
        let response: ExportResponse = server.get("export", &query).await?;
        // Hosts have a file of their own, and no type of monitor.
        let hosts = if args.folder.is_some() && args.monitor_type.is_none() {
            server.get::<ListResponse<Map<String, Value>>>("hosts", &[]).await?.results
        } else {
            Vec::new()
        };
        anyhow::Ok((response, hosts))
    })?;
    let monitor_count = response.monitors.len();
    let file_managed_count = response.monitors.iter().filter(|monitor| monitor.origin == "file").count();
    if file_managed_count > 0 {
        output::print_note(&format!(
            "{file_managed_count} of them are managed by files on the server: applied to this server, they would be created a second time"
        ));
    }
    let entries_by_type = group_by_type_with_unique_keys(response.monitors);
    let Some(folder) = &args.folder else {
        let entries: Vec<_> = entries_by_type.into_values().flatten().collect();
        output::print(&yaml_writer::format_monitors(&entries))?;
        return Ok(ExitCode::SUCCESS);
    };
    let mut files: Vec<_> = entries_by_type
        .iter()
        .map(|(monitor_type, entries)| build_type_file(folder, monitor_type, entries))
        .collect();
    if !hosts.is_empty() {
        files.push(build_host_file(folder, &hosts));
    }
    let written_count = write_files(folder, &files, args.force)?;
    let masked_file_count = files.iter().filter(|(_, text)| text.contains(MASK)).count();
    let count_with_noun =
        |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    let (monitor_count_text, file_count_text) =
        (count_with_noun(monitor_count, "monitor"), count_with_noun(files.len(), "file"));
    let host_count_text = match hosts.len() {
        0 => String::new(),
        count => format!(" and {}", count_with_noun(count, "host")),
    };
    output::print(&format!(
        "{monitor_count_text}{host_count_text} in {file_count_text}, {written_count} of them written\n"
    ))?;
    if masked_file_count > 0 {
        output::print_note(&format!(
            "{masked_file_count} {} secrets as `{MASK}`: put their values in before applying them",
            if masked_file_count == 1 { "file holds" } else { "files hold" }
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Groups the entries by type and sorts them by key. A key that several origins assigned gets the id appended.
fn group_by_type_with_unique_keys(
    monitors: Vec<ExportedMonitor>,
) -> BTreeMap<String, Vec<Map<String, Value>>> {
    let mut used_keys = HashSet::new();
    let mut entries_by_type: BTreeMap<String, Vec<Map<String, Value>>> = BTreeMap::new();
    for ExportedMonitor { id, mut entry, .. } in monitors {
        let key = text_field(&entry, "key").to_owned();
        if !used_keys.insert(key.clone()) {
            entry.insert("key".to_owned(), Value::from(format!("{key}-{id}")));
        }
        entries_by_type.entry(text_field(&entry, "type").to_owned()).or_default().push(entry);
    }
    for entries in entries_by_type.values_mut() {
        entries.sort_by(|a, b| text_field(a, "key").cmp(text_field(b, "key")));
    }
    entries_by_type
}

fn text_field<'a>(entry: &'a Map<String, Value>, name: &str) -> &'a str {
    entry.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Returns path and text of the file of a type. The name comes from a known type, so that a server cannot choose it.
fn build_type_file(folder: &Path, type_name: &str, entries: &[Map<String, Value>]) -> (PathBuf, String) {
    let known_type_name =
        MonitorType::from_name(type_name).map_or("others", |monitor_type| monitor_type.name());
    let file_header =
        format!("# Monitors of type {known_type_name}, written by `vigie export`, read by `vigie apply`.\n");
    (folder.join(format!("{known_type_name}.yaml")), file_header + &yaml_writer::format_monitors(entries))
}

/// Returns path and text of the file of hosts, sorted by name.
fn build_host_file(folder: &Path, hosts: &[Map<String, Value>]) -> (PathBuf, String) {
    let mut entries: Vec<_> = hosts.iter().map(to_host_entry).collect();
    entries.sort_by(|a, b| text_field(a, "name").cmp(text_field(b, "name")));
    let header = "# Hosts, written by `vigie export`, read by `vigie apply`.\n".to_owned();
    (folder.join("hosts.yaml"), header + &yaml_writer::format_hosts(&entries))
}

/// Writes the files that differ and returns their number. Writes nothing when a file must not be replaced.
fn write_files(folder: &Path, files: &[(PathBuf, String)], force: bool) -> anyhow::Result<usize> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create the folder `{}`", folder.display()))?;
    let mut files_to_write = Vec::new();
    let mut conflicting_paths = Vec::new();
    for (path, text) in files {
        match fs::read(path) {
            Ok(existing) if existing == text.as_bytes() => {}
            Ok(_) if !force => conflicting_paths.push(format!("`{}`", path.display())),
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("`{}` cannot be read", path.display()));
            }
            _ => files_to_write.push((path, text)),
        }
    }
    if !conflicting_paths.is_empty() {
        let hint = Some("overwrite them with `--force`, or choose another folder".to_owned());
        return Err(UsageError::with_hint(
            format!("these files exist and differ: {}", conflicting_paths.join(", ")),
            hint,
        ));
    }
    for (path, text) in &files_to_write {
        let temporary_path = path.with_extension("yaml.new");
        fs::write(&temporary_path, text)
            .and_then(|()| fs::rename(&temporary_path, path))
            .with_context(|| format!("`{}` cannot be written", path.display()))?;
    }
    Ok(files_to_write.len())
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
        let entries_by_type = group_by_type_with_unique_keys(vec![
            exported(1, "b", "tcp"),
            exported(2, "a", "tcp"),
            exported(3, "b", "ping"),
        ]);
        let keys: Vec<_> =
            entries_by_type["tcp"].iter().map(|entry| text_field(entry, "key").to_owned()).collect();
        assert_eq!(
            (keys, text_field(&entries_by_type["ping"][0], "key")),
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
