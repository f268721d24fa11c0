//! Monitor files: finding, reading and fingerprinting them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::host_files::{is_host_file, read_host_files};
use super::validation_context::KnownReferences;
use crate::domain::CustomerId;
use crate::schema::duplicate_errors::duplicate_errors;
use crate::schema::file_dependencies::dependency_errors;
use crate::schema::host_file::FileHost;
use crate::schema::monitor_file::{FileMonitor, KeyPolicy, parse_monitor_files};
use crate::schema::reader::SecretSource;
use crate::schema::validation_context::ValidationContext;
use crate::service::DesiredMonitor;
use crate::settings::{Settings, read_config_text, read_secret};
use crate::syntax::node::Position;
use crate::syntax::{ValidationError, ValidationErrorKind};

/// Extensions of monitor files.
pub const MONITOR_FILE_EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];

/// Levels of nested directories that are searched.
const MAX_FOLDER_DEPTH: usize = 8;

/// Identifies a version of a file by its metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileStamp {
    inode: u64,
    bytes: u64,
    modified_at: (i64, i64),
    status_changed_at: (i64, i64),
}

/// The stamps of all files of the configuration.
pub(super) type Fingerprint = BTreeMap<PathBuf, Option<FileStamp>>;

/// Returns the stamps of the settings file, of all monitor files and of the files with `secret_files` that they name;
/// cheap, since no file is read.
pub(super) fn fingerprint(
    settings_file: Option<&Path>,
    monitor_paths: &[PathBuf],
    secret_files: &[PathBuf],
) -> Fingerprint {
    let file_stamp = |file: &Path| {
        let metadata = fs::metadata(file).ok()?;
        Some(FileStamp {
            inode: metadata.ino(),
            bytes: metadata.len(),
            modified_at: (metadata.mtime(), metadata.mtime_nsec()),
            status_changed_at: (metadata.ctime(), metadata.ctime_nsec()),
        })
    };
    let mut files: Vec<PathBuf> = settings_file.map(Path::to_path_buf).into_iter().collect();
    files.extend_from_slice(secret_files);
    for path in monitor_paths {
        match collect_files(path) {
            Ok(found) => files.extend(found),
            Err(_) => files.push(path.clone()),
        }
    }
    files.into_iter().map(|file| (file.clone(), file_stamp(&file))).collect()
}

/// Reads and validates every monitor file of `settings`. Returns the monitors with their warnings, or all errors when
/// there are any.
pub fn read_monitors(settings: &Settings) -> Result<Vec<FileMonitor>, Vec<ValidationError>> {
    read_monitors_and_secret_paths(settings).0
}

/// Like [`read_monitors`], also with the secret files that the monitors name, whether they exist or not.
pub(super) fn read_monitors_and_secret_paths(
    settings: &Settings,
) -> (Result<Vec<FileMonitor>, Vec<ValidationError>>, Vec<PathBuf>) {
    let mut errors = Vec::new();
    let mut texts = Vec::new();
    for path in &settings.monitor_paths {
        if !settings.monitor_paths_are_set && !path.exists() {
            continue;
        }
        match collect_files(path) {
            Ok(files) => texts.extend(files.iter().filter_map(|file| read_or_push_error(file, &mut errors))),
            Err(message) => errors.push(file_error(path, message)),
        }
    }
    let references = KnownReferences::from_settings(settings);
    let mut monitors = Vec::new();
    let secret_files = RefCell::new(BTreeSet::new());
    for (file, text) in texts {
        // Each file separately, since the secret files that it names are relative to it.
        let folder = file.parent().unwrap_or(Path::new("")).to_owned();
        let read_secret_at = |source: SecretSource<'_>| {
            if let SecretSource::File(path) = source {
                secret_files.borrow_mut().insert(folder.join(path));
            }
            read_secret(&folder, source)
        };
        let named_text = [(file.display().to_string(), text)];
        let parsed = parse_monitor_files(
            &named_text,
            KeyPolicy::Required,
            &references.validation_context(),
            &read_secret_at,
        );
        monitors.extend(parsed.monitors);
        errors.extend(parsed.errors);
    }
    errors.extend(duplicate_key_errors(&monitors));
    errors.extend(plan_quota_errors(settings, &monitors));
    // Monitors that are left out because of other errors would seem to be missing.
    if errors.is_empty() {
        errors.extend(dependency_errors(&monitors));
    }
    errors.sort_by(|a, b| (&a.file, a.position).cmp(&(&b.file, b.position)));
    let parsed = if errors.is_empty() { Ok(monitors) } else { Err(errors) };
    (parsed, secret_files.into_inner().into_iter().collect())
}

/// Reads the files at `path` with monitors and hosts for `vigie apply`, without the rules on accounts, which the server
/// checks. Secret files are relative to each monitor file. Returns all errors when there are any.
pub fn read_files_for_apply(path: &Path) -> Result<(Vec<FileMonitor>, Vec<FileHost>), Vec<ValidationError>> {
    let files = collect_files(path).map_err(|message| vec![file_error(path, message)])?;
    let (host_files, monitor_files): (Vec<_>, Vec<_>) =
        files.iter().cloned().partition(|file| is_host_file(file));
    let mut errors = Vec::new();
    let mut monitors = Vec::new();
    let hosts = read_host_files(&host_files).unwrap_or_else(|host_errors| {
        errors.extend(host_errors);
        Vec::new()
    });
    for (file, text) in
        monitor_files.iter().filter_map(|file| read_or_push_error(file, &mut errors)).collect::<Vec<_>>()
    {
        let folder = file.parent().unwrap_or(Path::new("")).to_owned();
        let read_secret_at = |source: SecretSource<'_>| read_secret(&folder, source);
        let named_text = [(file.display().to_string(), text)];
        let parsed = parse_monitor_files(
            &named_text,
            KeyPolicy::Required,
            &ValidationContext::default(),
            &read_secret_at,
        );
        monitors.extend(parsed.monitors);
        errors.extend(parsed.errors);
    }
    errors.extend(duplicate_key_errors(&monitors));
    errors.extend(monitors.iter().filter(|monitor| monitor.customer != CustomerId::OPERATOR).map(
        |monitor| {
            let message = "`customer` is for files on the server; here the token determines the account";
            ValidationError::new(ValidationErrorKind::Conflict, "customer", monitor.position, message)
                .with_file(&monitor.file)
                .with_hint("remove it")
        },
    ));
    if files.is_empty() {
        errors.push(file_error(path, "contains no monitor files (*.yaml, *.yml, *.json)".to_owned()));
    }
    errors.sort_by(|a, b| (&a.file, a.position).cmp(&(&b.file, b.position)));
    if errors.is_empty() { Ok((monitors, hosts)) } else { Err(errors) }
}

/// Converts the monitors for provisioning.
pub(super) fn into_desired_monitors(monitors: Vec<FileMonitor>) -> Vec<DesiredMonitor> {
    let to_desired = |monitor: FileMonitor| DesiredMonitor {
        key: monitor.key.into(),
        file_name: file_name(&monitor.file).into(),
        customer: monitor.customer,
        document: Arc::new(monitor.document),
        parent_keys: monitor.parent_keys.into_iter().map(|parent| parent.key.into()).collect(),
    };
    monitors.into_iter().map(to_desired).collect()
}

/// Returns the last part of a path, so that accounts do not see directories of the host.
fn file_name(file: &str) -> &str {
    Path::new(file).file_name().and_then(|name| name.to_str()).unwrap_or(file)
}

/// Returns errors for monitors beyond the quota of their plan, which cannot be checked for a single document.
fn plan_quota_errors(settings: &Settings, monitors: &[FileMonitor]) -> Vec<ValidationError> {
    let mut count_by_plan: HashMap<&str, usize> = HashMap::new();
    let mut errors = Vec::new();
    for monitor in monitors {
        let code = monitor.document.billing_plancode();
        let count = count_by_plan.entry(code).or_default();
        *count += 1;
        let max =
            settings.billing_plans.iter().find(|plan| plan.code == code).and_then(|plan| plan.max_monitors);
        if let Some(max) = max.filter(|max| *count > *max) {
            let message = format!("plan `{code}` is full with {max} monitors");
            let error = ValidationError::new(
                ValidationErrorKind::Conflict,
                "billing_plancode",
                monitor.position,
                message,
            );
            errors.push(error.with_file(&monitor.file));
        }
    }
    errors
}

/// Returns errors for keys used in several files; the reader finds duplicates within one file.
fn duplicate_key_errors(monitors: &[FileMonitor]) -> Vec<ValidationError> {
    let uses = monitors.iter().map(|monitor| (monitor.key.as_str(), &monitor.file, monitor.position));
    duplicate_errors("key", "keys are unique over all files", uses)
}

fn read_or_push_error(file: &Path, errors: &mut Vec<ValidationError>) -> Option<(PathBuf, String)> {
    match read_config_text(file) {
        Ok(text) => Some((file.to_owned(), text)),
        Err(message) => {
            errors.push(file_error(file, message));
            None
        }
    }
}

fn file_error(path: &Path, message: String) -> ValidationError {
    let file: Arc<str> = path.display().to_string().into();
    ValidationError::new(ValidationErrorKind::Syntax, "", Position::default(), message).with_file(&file)
}

/// Returns the files of settings and monitors in `folder` and below it, sorted.
pub fn config_files(folder: &Path) -> Result<Vec<PathBuf>, Vec<ValidationError>> {
    collect_files(folder).map_err(|message| vec![file_error(folder, message)])
}

/// Returns the monitor files at `path`, sorted: the file itself, or those of the directory and its subdirectories.
/// Skips hidden files, which editors create while they write.
fn collect_files(path: &Path) -> Result<Vec<PathBuf>, String> {
    let metadata = fs::metadata(path).map_err(|error| format!("cannot be read: {error}"))?;
    if !metadata.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    collect_files_in(path, MAX_FOLDER_DEPTH, &mut files)?;
    files.sort();
    Ok(files)
}

fn collect_files_in(folder: &Path, remaining_depth: usize, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let unreadable =
        |error: std::io::Error| format!("the folder `{}` cannot be read: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let is_hidden = path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
        if is_hidden {
            continue;
        }
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        if path.is_dir() {
            if remaining_depth == 0 {
                return Err(format!(
                    "folders are nested more than {MAX_FOLDER_DEPTH} deep at `{}`",
                    path.display()
                ));
            }
            collect_files_in(&path, remaining_depth - 1, files)?;
        } else if MONITOR_FILE_EXTENSIONS.contains(&extension) {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn monitor_files_are_sorted_and_exclude_editor_files() {
        let folder = tempfile::tempdir().unwrap();
        let path_of = |name: &str| folder.path().join(name);
        fs::create_dir(path_of("sub")).unwrap();
        for name in ["b.yaml", "a.yml", "sub/c.json", ".b.yaml.swp", ".hidden.yaml", "b.yaml~", "README.md"] {
            fs::write(path_of(name), "").unwrap();
        }
        assert_eq!(
            collect_files(folder.path()).unwrap(),
            [path_of("a.yml"), path_of("b.yaml"), path_of("sub/c.json")]
        );
        assert_eq!(collect_files(&path_of("b.yaml")).unwrap(), [path_of("b.yaml")]);
        assert!(collect_files(&path_of("gone")).unwrap_err().contains("cannot be read"));
    }

    #[test]
    fn a_fingerprint_changes_on_writes_renames_and_removals() {
        let folder = tempfile::tempdir().unwrap();
        let path_of = |name: &str| folder.path().join(name);
        let current_fingerprint = || fingerprint(None, &[folder.path().to_owned()], &[path_of("secret")]);
        let mut last = current_fingerprint();
        let mut assert_fingerprint_changed = |what: &str| {
            let now = current_fingerprint();
            assert_ne!(now, last, "{what}");
            last = now;
        };
        fs::write(path_of("a.yaml"), "1").unwrap();
        assert_fingerprint_changed("a new file");
        fs::write(path_of("a.yaml"), "22").unwrap();
        assert_fingerprint_changed("a longer file");
        fs::write(path_of(".a.tmp"), "33").unwrap();
        fs::rename(path_of(".a.tmp"), path_of("a.yaml")).unwrap();
        assert_fingerprint_changed("a renamed file of the same length");
        fs::remove_file(path_of("a.yaml")).unwrap();
        assert_fingerprint_changed("a removed file");
        fs::write(path_of("secret"), "s3cret").unwrap();
        assert_fingerprint_changed("a secret that was missing");
    }
}
