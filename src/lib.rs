//! Vigie, a self-hosted synthetic monitoring system.
//!
//! The modules in reading order, lowest floor first; `tests/architecture.rs` holds who may import whom.
//!
//! | Floor | Modules |
//! |---|---|
//! | 0 | [`model`] the words of the field and their rules, [`clock`] time as a trait, [`sync`] locks |
//! | 1 | [`judge`], [`schedule`], [`alert`] pure decisions; [`net`], [`wire`] sockets and protocols, [`page`] over them the objects of a web page; [`browser`] real browsers and their drivers; [`telemetry`] logs and metrics; [`vault`] secrets at rest |
//! | 2 | [`probe`] one check of each kind; [`notify`] one way to tell somebody each; [`store`] what is kept |
//! | 3 | [`engine`] attempts, retries, limits and the runner |
//! | 4 | [`control`] use cases: accounts, monitors and their files, results, alarms and their delivery, housekeeping |
//! | 5 | [`api`], [`web`] what is served |
//! | 6 | [`app`], [`cli`] wiring and words for people; [`responder`] built-in targets for demo and load |

pub mod clock;
pub mod model;
pub mod sync;

pub mod alert;
pub mod browser;
pub mod judge;
pub mod net;
pub mod page;
pub mod schedule;
pub mod telemetry;
pub mod vault;
pub mod wire;

pub mod notify;
pub mod probe;
pub mod store;

pub mod engine;

pub mod control;

pub mod api;
pub mod web;

pub mod app;
pub mod cli;
pub mod responder;
