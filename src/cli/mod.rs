//! The command line: one file per subcommand, output for people, exit codes.
//!
//! | Code | `check` | other commands |
//! |---|---|---|
//! | 0 | ok | done |
//! | 1 | warning | failed; a monitor failed in `test`; `config check` and `script check` found errors, `script import` had losses |
//! | 2 | error | wrong use |
//! | 3 | unknown, or wrong use | – |

mod admin;
mod agent;
mod agents;
mod api_client;
mod apply;
mod browser_host;
mod check;
mod check_runner;
mod cluster;
mod collection;
mod command_hint;
mod config;
mod controller;
mod customer;
mod dispatch;
mod event;
mod export;
mod fields;
mod hostagent;
mod hosts;
mod input_file;
mod key;
mod load;
mod locations;
mod login;
mod manual;
mod monitor_type;
mod monitors;
mod nats;
mod open;
mod output;
mod password;
mod plugin_name;
mod plural;
mod process;
mod project;
pub mod render;
mod report;
mod responder;
mod results;
mod run_command;
mod script;
mod script_host;
mod self_command;
mod serve;
mod settings;
mod source;
mod steps_file;
mod stop_signals;
mod store;
pub mod style;
mod suite;
mod table;
mod test_report;
mod time_argument;
mod token;
mod traceroute;
mod trust;
mod usage;
mod user;

pub use dispatch::{clap_command, run};
