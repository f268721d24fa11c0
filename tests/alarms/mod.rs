//! The way of an alert, from a result to the message in the outbox: the loop that takes results over a real store,
//! with a clock that is moved by hand and locations that answer as told.

mod many;
mod news;
mod outages;
mod pages;
mod restart;
mod second;
mod world;
