//! The pages in real browsers: a `vigie serve` of its own, and a person at a browser.

mod accessible;
mod actions;
mod browser;
mod forms;
mod keys;
mod live;
mod server;
mod shell;
