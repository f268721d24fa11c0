//! `vigie script check`: lists the errors in browser scripts.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::super::input_file::{read_monitor_file, require_existing};
use super::super::output;
use super::super::plural::count_with_noun;
use crate::script::DEFAULT_MAX_STEPS;
use crate::script::language::Script;

/// List all errors in browser scripts
///
/// Prints each error on a line as `file:line:column: message`, with a hint below it if there is one. Prints the
/// steps, actions and variables of scripts without errors. Starts no browser.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie script check login.xml                 one script
  vigie script check config/scripts/*.xml      several

Exit codes: 0 no errors, 1 errors, 2 wrong use.")]
pub(super) struct Args {
    /// Scripts: XML, as `vigie help browser-scripts-reference` describes it
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    for file in &args.files {
        require_existing(file)?;
    }
    let mut total_errors = 0;
    for file in &args.files {
        let (text, error_count) = check_file(file);
        output::print(&text)?;
        total_errors += error_count;
    }
    if total_errors > 0 {
        output::print(&format!("{}\n", count_with_noun(total_errors, "error")))?;
    }
    Ok(ExitCode::from(u8::from(total_errors > 0)))
}

/// Checks `file`; returns the text to print, and the number of errors.
fn check_file(file: &Path) -> (String, usize) {
    let name = file.display();
    let text = match read_monitor_file(file) {
        Ok(text) => text,
        Err(error) => return (format!("{error}\n"), 1),
    };
    match Script::parse(&text) {
        Ok(script) => (summarize_script(&name.to_string(), &script), 0),
        Err(errors) => {
            let mut report = String::new();
            for error in &errors {
                let (line, column) = (error.position.line, error.position.column);
                // Writing to a string cannot fail.
                let _ = writeln!(report, "{name}:{line}:{column}: {}", error.message);
                if let Some(hint) = &error.hint {
                    let _ = writeln!(report, "  hint: {hint}");
                }
            }
            (report, errors.len())
        }
    }
}

/// Describes the contents of a script without errors.
fn summarize_script(name: &str, script: &Script) -> String {
    let action_count = script.steps.iter().map(|step| step.actions.len()).sum();
    let mut text = format!(
        "{name}: {}, {}",
        count_with_noun(script.steps.len(), "step"),
        count_with_noun(action_count, "action")
    );
    if !script.variables.is_empty() {
        let protected_count = script.variables.iter().filter(|variable| variable.protected).count();
        let _ = write!(text, ", {}", count_with_noun(script.variables.len(), "variable"));
        if protected_count > 0 {
            let _ = write!(text, " ({protected_count} protected)");
        }
    }
    text.push('\n');
    for (index, step) in script.steps.iter().enumerate() {
        let names: Vec<&str> = step.actions.iter().map(|action| action.kind.name()).collect();
        let _ = writeln!(text, "  {}. {}: {}", index + 1, step.name, shorten_list(&names));
    }
    for variable in &script.variables {
        let protection_note = if variable.protected { ", protected" } else { "" };
        let _ = writeln!(text, "  variable {}{protection_note}", variable.name);
    }
    if i64::try_from(script.steps.len()).is_ok_and(|steps| steps > DEFAULT_MAX_STEPS) {
        let _ = writeln!(
            text,
            "{name}: warning: more than {DEFAULT_MAX_STEPS} steps: checks end with status 94 unless an admin allows more"
        );
    }
    if let Some(action) = script.first_relative_open() {
        let (line, column) = (action.position.line, action.position.column);
        let _ = writeln!(
            text,
            "{name}:{line}:{column}: warning: a relative URL needs `base` of the script or `url` of the monitor"
        );
    }
    text
}

/// Lists the actions of a step; of a long step only the first ones.
fn shorten_list(names: &[&str]) -> String {
    const MAX_LISTED: usize = 12;
    match names.len().checked_sub(MAX_LISTED) {
        None | Some(0) => names.join(", "),
        Some(more) => format!("{}, and {more} more", names[..MAX_LISTED].join(", ")),
    }
}
