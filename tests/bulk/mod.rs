//! Bulk edits, copies, conversions and `vigie apply`, over a real store.

mod apply;
mod copies;
mod fields;
mod first_checks;
mod many;
mod passwords;
mod scripts;
mod support;
