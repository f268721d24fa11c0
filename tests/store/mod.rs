//! The store: one suite over its traits, tests of SQLite alone, and the services that work on a store.

mod alerting;
mod captures;
mod concurrent_writes;
mod config;
mod copy;
mod copy_postgres;
mod counts;
mod faults;
mod first_checks;
mod housekeeping;
mod ingestor;
mod killed;
mod maintenance;
mod missed_runs;
mod monitors;
mod outbox;
mod postgres_faults;
mod postgres_maintenance;
mod provisioning;
mod results;
mod rollups;
mod samples;
mod suite;
mod throttles;
mod tokens;
mod url;
