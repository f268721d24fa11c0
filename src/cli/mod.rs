//! The command line: one file per sub-command, words for people, exit codes.

pub mod render;
pub mod style;
