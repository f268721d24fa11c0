//! Vigie, a self-hosted synthetic monitoring system.
//!
//! The modules in reading order, lowest layer first. `tests/architecture` checks which module may import which.
//!
//! | Layer | Modules |
//! |---|---|
//! | 0 | [`domain`] ids, runs, results; [`clock`] time as a trait; [`sync`] locks; [`manual`] pages of the manual |
//! | 1 | [`syntax`] texts with positions; [`redaction`] masking of secrets; [`script`] browser scripts; [`project`] SoapUI projects; [`evaluate`] and [`schedule`] pure decisions; [`schema`] the field table and its forms; [`alerting`] the alert state of a monitor |
//! | 2 | [`telemetry`] logs and metrics; [`vault`] secrets at rest; [`net`] sockets; [`protocol`] exchanges over them; [`webpage`] objects of a page; [`forward_proxy`], [`subprocess`] and, built on them, [`browser`] |
//! | 3 | [`probe`] checks of each kind; [`notify`] notification channels; [`export`] results for other systems; [`store`] persistence; [`bus`] what goes between control plane and locations |
//! | 4 | [`agent`] attempts, retries, limits and the runner of a location |
//! | 5 | [`catalog`] read models; [`pipeline`] from results to alerts and their delivery; [`service`] use cases |
//! | 6 | [`api`], [`web`] HTTP APIs and web pages |
//! | 7 | [`settings`], [`app`], [`cli`] configuration, wiring and command line; [`targets`] built-in targets for demo and load |

pub mod clock;
pub mod domain;
pub mod manual;
pub mod sync;

pub mod alerting;
pub mod collection;
pub mod evaluate;
pub mod project;
pub mod redaction;
pub mod sandbox;
pub mod schedule;
pub mod schema;
pub mod script;
pub mod syntax;
pub mod texts;

pub mod browser;
pub mod forward_proxy;
pub mod net;
pub mod protocol;
pub mod spool;
pub mod subprocess;
pub mod telemetry;
pub mod vault;
pub mod webpage;

pub mod bus;
pub mod export;
pub mod notify;
pub mod probe;
pub mod store;

pub mod agent;
pub mod hostagent;

pub mod catalog;
pub mod pipeline;
pub mod service;

pub mod api;
pub mod web;

pub mod app;
pub mod cli;
pub mod settings;
pub mod targets;
