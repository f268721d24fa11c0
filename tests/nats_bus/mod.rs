//! The bus over a NATS server of Debian's package: assignments, results, captures, orders, members.

mod agents;
mod assignments;
mod deliveries;
mod fixture;
