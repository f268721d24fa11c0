//! The requests of checks that make several of them, each as a step of the result: API steps, collections and API
//! projects.

mod redact_step;
mod step_in_progress;
mod step_runner;
mod test_limit;

pub(in crate::probe) use step_in_progress::{StepInProgress, StepResponse};
pub(in crate::probe) use step_runner::{RequestOptions, StepRunner};
pub(in crate::probe) use test_limit::TestLimit;
