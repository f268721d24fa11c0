//! The way of an alert, from a result to the message in the outbox: the loop that takes results over a real store,
//! with a clock that is moved by hand and locations that answer as told.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod many;
mod news;
mod outages;
mod pages;
mod restart;
mod second;
mod world;
