//! `ping`: a series of ICMP echo requests (behaviour.md 4).

mod probe;
mod statistics;

pub(super) use probe::build;
