//! The command line: one file per sub-command, words for people, exit codes.
//!
//! | Code | `check` | other commands |
//! |---|---|---|
//! | 0 | ok | done |
//! | 1 | warning | it did not work; `config check` and `script check` found faults, `script import` had losses |
//! | 2 | error | wrong use |
//! | 3 | unknown, or wrong use | – |

mod apply;
mod check;
mod config;
mod customer;
mod desk;
mod export;
mod fields;
mod key;
mod kinds;
mod load;
mod login;
mod moment;
mod monitors;
mod output;
mod password;
mod remote;
pub mod render;
mod responder;
mod results;
mod script;
mod serve;
mod settings;
mod source;
pub mod style;
mod table;
mod token;
mod traceroute;
mod trust;
mod user;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

/// Wrong use of any command but `check`.
const WRONG_USE: u8 = 2;
/// Wrong use of `check`, whose 2 means that the target failed.
const WRONG_CHECK: u8 = 3;

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
  vigie fields website                            every field of a type, with rule and default
  vigie config check                              find the faults of settings and monitors

`vigie help COMMAND` shows the options and examples of a command.";

#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::Args),
    Check(check::Args),
    Traceroute(traceroute::Args),
    Config(config::Args),
    Results(results::Args),
    Monitors(monitors::Args),
    Apply(apply::Args),
    Export(export::Args),
    Fields(fields::Args),
    Script(script::Args),
    Load(load::Args),
    User(user::Args),
    Customer(customer::Args),
    Key(key::Args),
    Login(login::Args),
    Logout(login::LogoutArgs),
    #[command(hide = true)]
    Responder(responder::Args),
}

/// Runs the command line `args`, program name first, and answers its exit code.
#[must_use]
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let wrong_use = if args.get(1).is_some_and(|word| word == "check") { WRONG_CHECK } else { WRONG_USE };
    let outcome = match Cli::try_parse_from(&args) {
        Ok(cli) => dispatch(cli.command),
        Err(refusal) => {
            // Nothing is left to do when even this cannot be written.
            let _ = refusal.print();
            let asked = matches!(refusal.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            return if asked { ExitCode::SUCCESS } else { ExitCode::from(wrong_use) };
        }
    };
    outcome.unwrap_or_else(|error| {
        output::complain(&error);
        let wrong =
            error.is::<output::WrongUse>() || error.is::<output::Faults>() || wrong_use == WRONG_CHECK;
        ExitCode::from(if wrong { wrong_use } else { 1 })
    })
}

fn dispatch(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Serve(args) => serve::run(args),
        Command::Check(args) => check::run(args),
        Command::Traceroute(args) => traceroute::run(args),
        Command::Config(args) => config::run(args),
        Command::Results(args) => results::run(args),
        Command::Monitors(args) => monitors::run(args),
        Command::Apply(args) => apply::run(args),
        Command::Export(args) => export::run(args),
        Command::Fields(args) => fields::run(args),
        Command::Script(args) => script::run(args),
        Command::Load(args) => load::run(args),
        Command::User(args) => user::run(args),
        Command::Customer(args) => customer::run(args),
        Command::Key(args) => key::run(args),
        Command::Login(args) => login::run(args),
        Command::Logout(args) => login::run_logout(args),
        Command::Responder(args) => responder::run(args),
    }
}

/// An environment variable that says something: an empty one is as good as none, which `clap` denies.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// A runtime for one command: all on this thread, or on one thread per core.
fn runtime(threads: bool) -> anyhow::Result<tokio::runtime::Runtime> {
    let mut builder = if threads {
        tokio::runtime::Builder::new_multi_thread()
    } else {
        tokio::runtime::Builder::new_current_thread()
    };
    Ok(builder.enable_all().build()?)
}

/// Lets this process open as many descriptors as the system allows it.
fn raise_descriptor_limit() {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < hard
    {
        // Refused only where a policy of the host stands against it; the old limit holds then.
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}
