//! The pages in real browsers: a `vigie serve` of its own, and a person at a browser.

mod accessible;
mod account;
mod actions;
mod apply;
mod browser;
mod charts;
mod editors;
mod forms;
mod history;
mod hostile;
mod keys;
mod languages;
mod list;
mod live;
mod many;
mod performance_alerts;
mod preferences;
mod results;
mod server;
mod shared_browsers;
mod shell;
mod slow;
mod users;
mod views;
mod walk;
