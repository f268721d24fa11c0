//! `vigie script import`: converts a project of Selenium IDE to browser scripts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;

use super::super::output::{self, UsageError};
use super::super::plural::count_with_noun;
use crate::script::language::Script;
use crate::script::selenium_ide::{ImportReport, SeleniumIdeProject};
use crate::settings::read_config_text;
use crate::syntax::closest_match;

/// Longest project file, in bytes.
const MAX_PROJECT_BYTES: usize = 64 * 1024 * 1024;

/// Turn a project of Selenium IDE into browser scripts
///
/// Each test becomes a script. Commands that cannot be converted are listed on standard error with test, command
/// number and reason; the script is written nevertheless and should be reviewed. Values typed into password fields
/// become protected variables.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie script import shop.side                       a project of one test, to standard output
  vigie script import shop.side --test 'Log in'       one of several tests
  vigie script import shop.side -o scripts/           every test, a file each
  vigie script import shop.side --test 'Log in' -o login.xml

Exit codes: 0 converted completely, 1 with losses, 2 wrong use or no such project.")]
pub(super) struct Args {
    /// The project: a file of Selenium IDE
    #[arg(value_name = "FILE.side")]
    file: PathBuf,
    /// File for one test, or folder for several [default: standard output]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Only the test of this name
    #[arg(long, value_name = "NAME")]
    test: Option<String>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let project = read_project(&args.file)?;
    let names: Vec<&str> = project.test_names().collect();
    let selected_indexes = select_tests(args, &names)?;
    let folder = args.output.as_deref().filter(|output| is_folder(output) || selected_indexes.len() > 1);
    if let Some(folder) = folder {
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot create the folder `{}`", folder.display()))?;
    }
    let mut is_complete = true;
    let mut used_names = Vec::new();
    for index in selected_indexes {
        let ImportReport { script, issues, notes } = project.import(index);
        let name = names.get(index).copied().unwrap_or_default();
        for issue in &issues {
            output::print_note(&format!("not converted: {issue}"));
        }
        for note in &notes {
            output::print_note(&format!("note: {note}"));
        }
        is_complete &= issues.is_empty() && script.is_some();
        let Some(script) = script else {
            output::print_note(&format!("not carried over: test `{name}`: nothing in it can be converted"));
            continue;
        };
        let output_file = match folder {
            Some(folder) => Some(folder.join(unique_file_name(name, &mut used_names))),
            None => args.output.clone(),
        };
        write_script(&script, output_file.as_deref())?;
    }
    Ok(ExitCode::from(u8::from(!is_complete)))
}

fn read_project(file: &Path) -> anyhow::Result<SeleniumIdeProject> {
    let name = file.display();
    let text =
        read_config_text(file).map_err(|error| UsageError::with_hint(format!("`{name}` {error}"), None))?;
    if text.len() > MAX_PROJECT_BYTES {
        return Err(UsageError::with_hint(
            format!("`{name}` is larger than {} MiB", MAX_PROJECT_BYTES >> 20),
            None,
        ));
    }
    SeleniumIdeProject::parse(&text).map_err(|error| {
        let position = error.position;
        let position_text = if position.is_known() {
            format!(":{}:{}", position.line, position.column)
        } else {
            String::new()
        };
        UsageError::with_hint(format!("{name}{position_text}: {}", error.message), None)
    })
}

/// Returns the indexes of the chosen tests.
fn select_tests(args: &Args, names: &[&str]) -> anyhow::Result<Vec<usize>> {
    let Some(test_name) = &args.test else {
        return match names.len() {
            0 => Err(UsageError::with_hint(format!("`{}` contains no test", args.file.display()), None)),
            2.. if args.output.is_none() => {
                let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                let message = format!(
                    "`{}` has {}: {}",
                    args.file.display(),
                    count_with_noun(names.len(), "test"),
                    quoted.join(", ")
                );
                let hint = "choose one with `--test NAME`, or give a folder for all of them with `-o DIR`";
                Err(UsageError::with_hint(message, Some(hint.to_owned())))
            }
            2.. if args.output.as_deref().is_some_and(Path::is_file) => {
                let hint = "several tests need a folder";
                Err(UsageError::with_hint("`-o` names a file".to_owned(), Some(hint.to_owned())))
            }
            _ => Ok((0..names.len()).collect()),
        };
    };
    let matching_indexes: Vec<usize> = (0..names.len()).filter(|index| names[*index] == test_name).collect();
    if matching_indexes.is_empty() {
        let lowercase_names: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
        let closest = closest_match(test_name, lowercase_names.iter().map(String::as_str));
        let closest = closest
            .and_then(|closest| lowercase_names.iter().position(|name| name == closest))
            .and_then(|index| names.get(index));
        let hint = closest.map(|closest| format!("did you mean `{closest}`?"));
        return Err(UsageError::with_hint(
            format!("`{}` has no test `{test_name}`", args.file.display()),
            hint,
        ));
    }
    Ok(matching_indexes.into_iter().take(1).collect())
}

fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.as_os_str().to_string_lossy().ends_with('/')
}

/// Returns a file name for the test `name` that is not in `used_names`, and adds it there.
fn unique_file_name(name: &str, used_names: &mut Vec<String>) -> String {
    let sanitize = |c: char| if c.is_alphanumeric() { c } else { '-' };
    let stem: String = name.to_lowercase().chars().map(sanitize).take(80).collect();
    let stem = stem.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-");
    let stem = if stem.is_empty() { "test".to_owned() } else { stem };
    let mut file = format!("{stem}.xml");
    let mut number = 2;
    while used_names.contains(&file) {
        file = format!("{stem}-{number}.xml");
        number += 1;
    }
    used_names.push(file.clone());
    file
}

fn write_script(script: &Script, output_file: Option<&Path>) -> anyhow::Result<()> {
    let text = script.to_xml();
    let Some(output_file) = output_file else { return Ok(output::print(&text)?) };
    fs::write(output_file, text).with_context(|| format!("`{}` cannot be written", output_file.display()))?;
    let action_count = script.steps.iter().map(|step| step.actions.len()).sum();
    let contents = format!(
        "{}, {}",
        count_with_noun(script.steps.len(), "step"),
        count_with_noun(action_count, "action")
    );
    output::print_note(&format!("wrote {}: {contents}", output_file.display()));
    Ok(())
}
