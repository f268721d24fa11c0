//! What people see in a terminal: the built binary and the words that it draws.

mod apply;
mod check;
mod config;
mod load;
mod queries;
mod render;
mod support;
mod traceroute;
