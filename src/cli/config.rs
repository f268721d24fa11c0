//! `vigie config check`: lists the errors in settings and monitor files.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Subcommand;

use super::input_file::require_existing;
use super::output;
use super::settings::SettingsArgs;
use crate::app::{config_files, find_stored_config_problems, is_host_file, read_host_files, read_monitors};
use crate::schema::monitor_file::FileMonitor;
use crate::settings::{SETTINGS, Settings, read_config_text};
use crate::syntax::ValidationError;
use crate::syntax::node::{Node, NodeValue};

/// Check the configuration
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(CheckArgs),
}

/// List all errors in the settings and the monitor files
///
/// Prints each error on a line as `file:line:column: message`, with a hint below it if there is one. Starts nothing
/// and contacts no target.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie config check                           the settings, and the monitors that they name
  vigie config check /etc/vigie/vigie.yaml     another settings file, and its monitors
  vigie config check monitors/                 a folder with files of monitors, hosts and settings
  vigie config check monitors/shop.yaml        one of them

Exit codes: 0 no errors, 1 errors, 2 wrong use.")]
struct CheckArgs {
    /// A file of settings, monitors or hosts, or a folder of them
    path: Option<PathBuf>,
    #[command(flatten)]
    settings: SettingsArgs,
}

pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let Command::Check(args) = args.command;
    args.path.as_deref().map_or(Ok(()), require_existing)?;
    let check_result = check_config(&args);
    let (text, code) = match &check_result {
        Ok(Checked { settings, monitors, host_count }) => {
            (render_success(monitors, *host_count) + &stored_warnings(settings)?, ExitCode::SUCCESS)
        }
        Err(errors) => (render_errors(errors), ExitCode::from(1)),
    };
    output::print(&text)?;
    Ok(code)
}

/// What was checked, and has no errors.
struct Checked {
    settings: Settings,
    monitors: Vec<FileMonitor>,
    /// Hosts in files for `vigie apply`.
    host_count: usize,
}

fn check_config(args: &CheckArgs) -> Result<Checked, Vec<ValidationError>> {
    let mut host_files = Vec::new();
    let settings = match &args.path {
        None => args.settings.load_from(None)?,
        Some(path) if path.is_dir() => load_folder_settings(args, path, &mut host_files)?,
        Some(path) if is_host_file(path) => {
            host_files.push(path.clone());
            let mut settings = args.settings.load_from(None)?;
            (settings.monitor_paths, settings.monitor_paths_are_set) = (Vec::new(), true);
            settings
        }
        Some(path) if contains_monitors(path) => {
            let mut settings = args.settings.load_from(None)?;
            (settings.monitor_paths, settings.monitor_paths_are_set) = (vec![path.clone()], true);
            settings
        }
        Some(path) => args.settings.load_from(Some(path))?,
    };
    let hosts = read_host_files(&host_files);
    match (read_monitors(&settings), hosts) {
        (Ok(monitors), Ok(hosts)) => Ok(Checked { settings, monitors, host_count: hosts.len() }),
        (monitors, hosts) => Err([monitors.err(), hosts.err()].into_iter().flatten().flatten().collect()),
    }
}

/// Returns the settings to check the monitor files of `folder` with: those of its settings file, if it has one. Fails
/// with the errors of all its settings files. Adds its files of hosts to `host_files`.
fn load_folder_settings(
    args: &CheckArgs,
    folder: &Path,
    host_files: &mut Vec<PathBuf>,
) -> Result<Settings, Vec<ValidationError>> {
    let (settings_files, other_files): (Vec<PathBuf>, Vec<PathBuf>) =
        config_files(folder)?.into_iter().partition(|file| contains_settings(file));
    let (folder_host_files, monitor_files) = other_files.into_iter().partition(|file| is_host_file(file));
    *host_files = folder_host_files;
    let mut errors = Vec::new();
    let mut first_settings = None;
    for file in &settings_files {
        match args.settings.load_from(Some(file)) {
            Ok(settings) => drop(first_settings.get_or_insert(settings)),
            Err(file_errors) => errors.extend(file_errors),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut settings = match first_settings {
        Some(settings) => settings,
        None => args.settings.load_from(None)?,
    };
    (settings.monitor_paths, settings.monitor_paths_are_set) = (monitor_files, true);
    Ok(settings)
}

/// Whether the file at `path` contains settings: a map with a section of the settings and without a type.
pub(super) fn contains_settings(path: &Path) -> bool {
    let node = read_config_text(path).ok().and_then(|text| Node::from_yaml(&text).ok());
    node.is_some_and(|node| {
        node.get("type").is_none()
            && SETTINGS
                .iter()
                .any(|setting| node.get(setting.path.split('.').next().unwrap_or_default()).is_some())
    })
}

/// Returns a line for each stored monitor and recipient that does not work under `settings`.
fn stored_warnings(settings: &Settings) -> anyhow::Result<String> {
    let problems =
        super::process::build_single_threaded_runtime()?.block_on(find_stored_config_problems(settings));
    let problems =
        problems.unwrap_or_else(|error| vec![format!("the stored monitors cannot be read: {error}")]);
    let lines: Vec<String> = problems.iter().map(|reason| format!("warning: {reason}\n")).collect();
    Ok(lines.concat())
}

/// Whether the file at `path` contains monitors: a list, or a map with a type.
fn contains_monitors(path: &Path) -> bool {
    let node = read_config_text(path).ok().and_then(|text| Node::from_yaml(&text).ok());
    node.is_some_and(|node| matches!(node.value, NodeValue::List(_)) || node.get("type").is_some())
}

fn render_errors(errors: &[ValidationError]) -> String {
    let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let count_text =
        if errors.len() == 1 { "1 error".to_owned() } else { format!("{} errors", errors.len()) };
    format!("{}\n{count_text}\n", lines.join("\n"))
}

fn render_success(monitors: &[FileMonitor], host_count: usize) -> String {
    let warning_lines = |monitor: &FileMonitor| {
        let position_text = format!("{}:{}:{}", monitor.file, monitor.position.line, monitor.position.column);
        monitor
            .warnings
            .iter()
            .map(move |warning| format!("{position_text}: warning: {warning}\n"))
            .collect::<Vec<_>>()
    };
    let warnings: Vec<String> = monitors.iter().flat_map(warning_lines).collect();
    let count_text =
        if monitors.len() == 1 { "1 monitor".to_owned() } else { format!("{} monitors", monitors.len()) };
    let hosts_text = match host_count {
        0 => String::new(),
        1 => " and 1 host".to_owned(),
        count => format!(" and {count} hosts"),
    };
    format!("{}no errors in the settings and {count_text}{hosts_text}\n", warnings.concat())
}
