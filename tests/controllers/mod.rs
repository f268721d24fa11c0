//! Several controllers over one PostgreSQL and one NATS, as their users run them.

mod demo;
mod fail_over;
pub mod kit;
mod lead;
mod lease;
mod standby;
