//! Alerts from a result to the notification in the outbox: ingestion over a real store, with a fake clock and fake
//! locations.

mod captures;
mod content;
mod dependencies;
mod first_checks;
mod harness;
mod load;
mod outages;
mod pages;
mod restart;
mod security_scans;
mod verification;
