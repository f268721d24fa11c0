//! Tests full pages: objects found in HTML and CSS, and how they are loaded.
#![allow(clippy::print_stdout, clippy::format_collect)]

mod check;
mod http2;
mod loading;
mod memory;
mod nginx;
mod objects;
mod site;
