//! The command line parser, and the dispatch to commands.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

use super::check::render_nagios_error;
use super::command_hint::explain_unknown_word;
use super::output;
use super::plugin_name::expand_plugin_name;
use crate::app::TaskFailure;

/// Exit code for wrong use of any command but `check`.
const USAGE_EXIT_CODE: u8 = 2;

/// Exit code for wrong use of `check`, where 2 means that the target failed.
const CHECK_USAGE_EXIT_CODE: u8 = 3;

/// Self-hosted synthetic monitoring: scheduled checks, verified failures, kept evidence
#[derive(Debug, Parser)]
#[command(name = "vigie", version, arg_required_else_help = true, max_term_width = 110, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  vigie serve --demo                              look around, no network needed
  vigie check website-ssl https://example.com/    check something now, and see why it fails
  vigie test monitors/                            check the monitors of a folder in CI
  vigie fields website                            every field of a type, with rule and default
  vigie config check                              find errors in settings and monitors

`vigie help COMMAND` shows the options and examples of a command, `vigie help SUBJECT` a page of the
manual, such as alerting or website; `vigie help manual` lists the pages.";

#[derive(Debug, Subcommand)]
enum Command {
    Serve(super::serve::Args),
    Controller(super::controller::Args),
    Cluster(super::cluster::Args),
    Check(super::check::Args),
    Test(super::suite::Args),
    Traceroute(super::traceroute::Args),
    Config(super::config::Args),
    Results(super::results::Args),
    Report(super::report::Args),
    Monitors(super::monitors::Args),
    Locations(super::locations::Args),
    Agents(super::agents::Args),
    Hosts(super::hosts::Args),
    PushToken(super::hosts::PushTokenArgs),
    Usage(super::usage::Args),
    Event(super::event::Args),
    Apply(super::apply::Args),
    Export(super::export::Args),
    Fields(super::fields::Args),
    Script(super::script::Args),
    Collection(super::collection::Args),
    Project(super::project::Args),
    Load(super::load::Args),
    User(super::user::Args),
    Customer(super::customer::Args),
    Key(super::key::Args),
    Nats(super::nats::Args),
    Agent(super::agent::Args),
    #[command(name = "hostagent")]
    HostAgent(super::hostagent::Args),
    Run(super::run_command::Args),
    Store(super::store::Args),
    BrowserHost(super::browser_host::Args),
    Open(super::open::Args),
    #[command(name = "self")]
    SelfTools(super::self_command::Args),
    Login(super::login::Args),
    Logout(super::login::LogoutArgs),
    #[command(hide = true)]
    ScriptHost(super::script_host::Args),
    #[command(hide = true)]
    Responder(super::responder::Args),
    #[command(hide = true)]
    LoadAgents(super::load::AgentsArgs),
}

/// Runs the command line `args`, program name first, and returns its exit code. A program name such as `check_vigie_tcp`
/// is that of a plugin of Nagios.
#[must_use]
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args = expand_plugin_name(args.into_iter().collect());
    let error_style = ErrorStyle::for_command_line(&args);
    if let [_, help, subject] = args.as_slice()
        && help == "help"
        && let Some(subject) = subject.to_str().filter(|subject| !is_command_or_flag(subject))
    {
        return to_exit_code(super::manual::run(subject, &Cli::command()), error_style);
    }
    let result = match Cli::try_parse_from(&args) {
        Ok(cli) => dispatch(cli.command),
        Err(error) => return report_parser_error(&error, &args, error_style),
    };
    to_exit_code(result, error_style)
}

/// How errors of a command line are printed, and the exit code of wrong use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ErrorStyle {
    /// `check` and `results` as a plugin of Nagios: to standard output.
    Plugin,
    Check,
    Other,
}

impl ErrorStyle {
    fn for_command_line(args: &[OsString]) -> Self {
        let is_plugin = args.iter().any(|argument| argument == "--format=nagios")
            || args.windows(2).any(|pair| pair[0] == "--format" && pair[1] == "nagios");
        match args.get(1).and_then(|command| command.to_str()) {
            Some("check" | "results") if is_plugin => Self::Plugin,
            Some("check") => Self::Check,
            _ => Self::Other,
        }
    }

    const fn usage_exit_code(self) -> u8 {
        match self {
            Self::Plugin | Self::Check => CHECK_USAGE_EXIT_CODE,
            Self::Other => USAGE_EXIT_CODE,
        }
    }
}

/// Prints help, the version, or what is wrong with the command line.
fn report_parser_error(error: &clap::Error, args: &[OsString], error_style: ErrorStyle) -> ExitCode {
    let words: Vec<String> = args.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let is_help_or_version = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if is_help_or_version {
        // If the message cannot be written, there is no other way to report it.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let explanation = explain_unknown_word(error, &words, &Cli::command());
    if error_style == ErrorStyle::Plugin {
        // As above.
        let _ = output::print(&render_nagios_error(&error.to_string()));
    } else if let Some(explanation) = explanation {
        output::print_note(&format!("error: {explanation}"));
    } else {
        // As above.
        let _ = error.print();
    }
    ExitCode::from(error_style.usage_exit_code())
}

/// Returns the parser of the command line, with every command and flag.
#[must_use]
pub fn clap_command() -> clap::Command {
    Cli::command()
}

fn is_command_or_flag(name: &str) -> bool {
    name == "help" || name.starts_with('-') || Cli::command().find_subcommand(name).is_some()
}

fn to_exit_code(result: anyhow::Result<ExitCode>, error_style: ErrorStyle) -> ExitCode {
    result.unwrap_or_else(|error| {
        if error_style == ErrorStyle::Plugin {
            // If it cannot be written, the exit code still says that the state is unknown.
            let _ = output::print(&render_nagios_error(&output::format_error(&error)));
        } else {
            output::print_error(&error);
        }
        let is_usage_error = error.is::<output::UsageError>()
            || error.is::<output::InvalidInput>()
            || error_style != ErrorStyle::Other;
        let default_code = if error.is::<TaskFailure>() { TaskFailure::EXIT_CODE } else { 1 };
        ExitCode::from(if is_usage_error { error_style.usage_exit_code() } else { default_code })
    })
}

fn dispatch(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Serve(args) => super::serve::run(args),
        Command::Controller(args) => super::controller::run(args),
        Command::Cluster(args) => super::cluster::run(args),
        Command::Check(args) => super::check::run(args),
        Command::Test(args) => super::suite::run(args),
        Command::Traceroute(args) => super::traceroute::run(args),
        Command::Config(args) => super::config::run(args),
        Command::Results(args) => super::results::run(args),
        Command::Report(args) => super::report::run(args),
        Command::Monitors(args) => super::monitors::run(args),
        Command::Locations(args) => super::locations::run(args),
        Command::Agents(args) => super::agents::run(args),
        Command::Hosts(args) => super::hosts::run(args),
        Command::PushToken(args) => super::hosts::run_push_token(args),
        Command::Usage(args) => super::usage::run(args),
        Command::Event(args) => super::event::run(args),
        Command::Apply(args) => super::apply::run(args),
        Command::Export(args) => super::export::run(args),
        Command::Fields(args) => super::fields::run(args),
        Command::Script(args) => super::script::run(args),
        Command::Collection(args) => super::collection::run(args),
        Command::Project(args) => super::project::run(args),
        Command::Load(args) => super::load::run(args),
        Command::User(args) => super::user::run(args),
        Command::Customer(args) => super::customer::run(args),
        Command::Key(args) => super::key::run(args),
        Command::Nats(args) => super::nats::run(args),
        Command::Agent(args) => super::agent::run(args),
        Command::HostAgent(args) => super::hostagent::run(args),
        Command::Run(args) => super::run_command::run(args),
        Command::Store(args) => super::store::run(args),
        Command::BrowserHost(args) => super::browser_host::run(args),
        Command::Open(args) => super::open::run(args),
        Command::SelfTools(args) => super::self_command::run(args, clap_command()),
        Command::Login(args) => super::login::run(args),
        Command::Logout(args) => super::login::run_logout(args),
        Command::ScriptHost(args) => super::script_host::run(&args),
        Command::Responder(args) => super::responder::run(args),
        Command::LoadAgents(args) => super::load::run_agents(args),
    }
}
