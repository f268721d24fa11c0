//! `name-server`: one query to one name server (behaviour.md 4).

mod evaluate;
mod https;
mod probe;
mod query_plan;
mod server_query;
mod stream;
mod udp;

pub(super) use probe::build;
