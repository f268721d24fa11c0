//! The objects of accounts other than monitors, over a real store.

mod account;
mod blackouts;
mod bulk;
mod certificates;
mod events;
mod groups;
pub mod kit;
mod locations;
mod performance;
mod properties;
mod recipients;
mod users;
mod views;
