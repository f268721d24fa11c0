//! `vigie script`: browser scripts without a browser.

mod check;
mod command;
mod counted;
mod import;

pub(super) use command::{Args, run};
