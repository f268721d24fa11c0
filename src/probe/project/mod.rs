//! `api`: the steps of a case of a SoapUI project (behaviour.md 4).

mod assertions;
mod call;
mod options;
mod probe;
mod project_run;
mod request_builder;
mod request_step;
mod resolver;
mod run_state;
mod step_budget;
mod transfers;

pub use probe::build;
