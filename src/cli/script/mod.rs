//! `vigie script`: checks and converts browser scripts, without a browser.

mod check;
mod command;
mod import;

pub(super) use command::{Args, run};
