//! Parses `vigie self` and runs its commands.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;
use clap_complete::Shell;

use super::host_check;
use super::host_need::{Need, State};
use super::shipped_files;
use crate::cli::settings::LocationArgs;
use crate::cli::style::Style;
use crate::cli::{output, process};
use crate::domain::Outcome;

/// Check this host, and write what packages of Vigie contain
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(CheckArgs),
    /// Write the man pages of all commands into a folder
    Man {
        /// Folder for the pages; created if missing
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Print the completions of a shell
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: Shell,
    },
}

/// Show what this host lacks for checks, and how to get it
///
/// Looks at the sockets for ping, the clock, name servers, certificates, limits, the disk of the data folder, IPv6 and the
/// browsers. Sends nothing to the network, and changes nothing. Run it as the user of the server: `sudo -u USER`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie self check
  vigie self check --config /etc/vigie/vigie.yaml     with the folders, name servers and browsers of these settings
  vigie self check --json

Exit codes: 0 nothing that all installations need is lacking, 1 something is, 2 wrong use.")]
struct CheckArgs {
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    location: LocationArgs,
}

/// Runs a command; `cli` is the parser of the command line, which man pages and completions describe.
pub(in crate::cli) fn run(args: Args, cli: clap::Command) -> anyhow::Result<ExitCode> {
    match args.command {
        Command::Check(args) => check(&args),
        Command::Man { folder } => {
            let count = shipped_files::write_man_pages(cli, &folder)?;
            output::print(&format!("{count} man pages in `{}`\n", folder.display()))?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Completions { shell } => {
            output::print(&shipped_files::completions(cli, shell))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn check(args: &CheckArgs) -> anyhow::Result<ExitCode> {
    let (settings, location) = args.location.load_with_location()?;
    let needs = process::build_single_threaded_runtime()?.block_on(host_check::check(&settings, &location));
    let text = if args.json {
        serde_json::to_string_pretty(&needs)? + "\n"
    } else {
        render(&needs, Style::for_stdout())
    };
    output::print(&text)?;
    let is_lacking = needs.iter().any(|need| need.state == State::Lacking);
    Ok(if is_lacking { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Renders a line for each need, with a hint below it.
fn render(needs: &[Need], style: Style) -> String {
    let width = needs.iter().map(|need| need.name.len()).max().unwrap_or_default();
    let to_lines = |need: &Need| {
        let (word, outcome) = match need.state {
            State::Ready => ("ready  ", Outcome::Ok),
            State::Absent => ("absent ", Outcome::Unknown),
            State::Unknown => ("unknown", Outcome::Unknown),
            State::Lacking => ("lacking", Outcome::Error),
        };
        let word = style.in_outcome_color(outcome, word);
        let hint = need
            .hint
            .as_ref()
            .map_or_else(String::new, |hint| format!("{:width$}           hint: {hint}\n", ""));
        format!("{:width$}  {word}  {}\n{hint}", need.name, need.detail)
    };
    needs.iter().map(to_lines).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_need_has_a_line_and_its_hint_below() {
        let need = |name, state, hint: Option<&str>| Need {
            name,
            state,
            detail: "as it is".to_owned(),
            hint: hint.map(str::to_owned),
        };
        let needs = [need("ping", State::Ready, None), need("browsers", State::Absent, Some("install one"))];
        let expected = "ping      ready    as it is\nbrowsers  absent   as it is\n                   hint: install one\n";
        assert_eq!(render(&needs, Style::PLAIN), expected);
    }
}
