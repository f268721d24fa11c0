//! Full pages: what is found in HTML and CSS, and how it is loaded.
#![allow(clippy::print_stdout, clippy::format_collect)]

mod check;
mod http2;
mod loading;
mod memory;
mod nginx;
mod objects;
mod site;
