//! `vigie collection check`: lists what of a collection cannot be run.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::super::input_file::{in_file, read_monitor_file, require_existing};
use super::super::output;
use super::super::plural::count_with_noun;
use crate::collection::{Collection, parse_collection};

/// List what of Postman collections cannot be run
///
/// Prints each thing that this build does not support on a line as `file:line:column: item: reason`, and the requests,
/// scripts and variables of collections without any. Sends nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie collection check shop.postman_collection.json

Exit codes: 0 everything can be run, 1 something cannot, 2 wrong use.")]
pub(super) struct Args {
    /// Collections of format 2.0 or 2.1, as `vigie help formats` describes them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    for file in &args.files {
        require_existing(file)?;
    }
    let mut is_failed = false;
    for file in &args.files {
        let (text, can_run) = check_file(file);
        output::print(&text)?;
        is_failed |= !can_run;
    }
    Ok(ExitCode::from(u8::from(is_failed)))
}

/// Checks `file`; returns the text to print, and whether it can be run.
fn check_file(file: &Path) -> (String, bool) {
    let name = file.display().to_string();
    let text = match read_monitor_file(file) {
        Ok(text) => text,
        Err(error) => return (format!("{error}\n"), false),
    };
    match parse_collection(&text) {
        Err(error) => (format!("{}\n", in_file(file, error.position, &error.message)), false),
        Ok(collection) if collection.requests.is_empty() => (format!("{name}: it has no request\n"), false),
        Ok(collection) if collection.unsupported.is_empty() => (summarize(&name, &collection), true),
        Ok(collection) => {
            let mut report = String::new();
            for item in &collection.unsupported {
                let text = format!("`{}`: {}", item.place, item.reason);
                // Writing to a string cannot fail.
                let _ = writeln!(report, "{}", in_file(file, item.position, &text));
            }
            (report, false)
        }
    }
}

fn summarize(name: &str, collection: &Collection) -> String {
    let mut text =
        format!("{name}: `{}`, {}\n", collection.name, count_with_noun(collection.requests.len(), "request"));
    for (index, item) in collection.requests.iter().enumerate() {
        let method = item.request["method"].as_str().unwrap_or("GET");
        let names: Vec<&str> = item.folders.iter().chain([&item.name]).map(String::as_str).collect();
        let scripts = item.prerequest_scripts.len() + item.test_scripts.len();
        let scripts =
            if scripts == 0 { String::new() } else { format!(", {}", count_with_noun(scripts, "script")) };
        let _ = writeln!(text, "  {}. {}: {method}{scripts}", index + 1, names.join(" / "));
    }
    let names: Vec<&str> = collection.variables.iter().map(|(name, _)| name.as_str()).collect();
    if !names.is_empty() {
        let _ = writeln!(text, "  variables: {}", names.join(", "));
    }
    text
}
