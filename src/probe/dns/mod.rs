//! `name-server`: one question to one name server (behaviour.md 4).

mod call;
mod datagram;
mod https;
mod inquiry;
mod judge;
mod probe;
mod stream;

pub(super) use probe::build;
