//! Browser scripts, played in real browsers on a site of the tests' own (behaviour.md 8).

mod acts;
mod bad;
mod bases;
mod check;
mod devices;
mod fields;
mod firefox;
mod flips;
mod objects;
mod patience;
mod secured;
mod site;
mod statuses;
mod table;
mod tracing;
