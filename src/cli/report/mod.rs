//! `vigie report`: runs, durations, phases and browser figures of a monitor over time.

mod command;
mod render;

pub(super) use command::{Args, run};
