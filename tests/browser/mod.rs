//! Tests browser scripts in real browsers against a site of their own (behaviour.md 8).

mod acts;
mod base_urls;
mod check;
mod devices;
mod fields;
mod firefox;
mod flipped_fields;
mod misbehaviour;
mod network;
mod objects;
mod site;
mod statuses;
mod table;
mod tracing;
mod waiting;
