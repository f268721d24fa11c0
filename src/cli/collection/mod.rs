//! `vigie collection`: checks Postman collections, without sending anything.

mod check;
mod command;
mod convert;

pub(super) use command::{Args, run};
