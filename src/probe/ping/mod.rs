//! `ping`: a series of ICMP echo requests (behaviour.md 4).

mod figures;
mod probe;

pub(super) use probe::build;
