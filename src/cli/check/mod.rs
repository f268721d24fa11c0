//! `vigie check`: runs one check now, without a server.

mod capture_folder;
mod check_timeout;
mod command;
mod file_subject;
mod har;
mod measurement;
mod nagios;
mod output_format;
mod run;
mod sarif;
mod subject;
mod threshold_range;
mod thresholds;
mod variables;
mod worst_outcome;

pub(super) use command::{Args, run};
pub(super) use nagios::{render_nagios_error, render_nagios_result};
pub(super) use variables::split_variables;
pub(super) use worst_outcome::exit_code;
