//! `vigie report`: runs, durations, phases and browser figures of a monitor over time.

mod args;
mod render;

pub(super) use args::{Args, run};
