//! The bus over a NATS server of Debian's package: assignments, results, captures, orders, members, the clock.

mod agents;
mod assignments;
mod backlog;
mod clock;
mod deliveries;
mod fixture;
mod hostile;
mod snapshots;
