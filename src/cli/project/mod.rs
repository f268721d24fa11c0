//! `vigie project`: checks SoapUI projects and converts their cases, without sending anything.

mod check;
mod command;
mod convert;

pub(super) use command::{Args, run};
