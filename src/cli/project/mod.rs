//! `vigie project`: checks SoapUI projects, without sending anything.

mod check;
mod command;

pub(super) use command::{Args, run};
