//! Scans of TLS servers: own `ClientHello`s on the wire, and what servers answer to them. Nothing is judged, no
//! handshake of an old version is completed, and nothing is sent that a client would not send.

mod alert_name;
mod answer_parser;
#[cfg(test)]
mod answer_parser_tests;
mod byte_reader;
mod certificates;
mod client_hello;
mod connector;
mod extensions;
mod features;
mod groups;
mod hello_template;
mod key_share;
mod malformed;
mod open_questions;
mod options;
mod scan;
mod server_flight;
mod server_hello;
mod suite_list;
mod suites;

pub use answer_parser::{AnswerExtent, AnswerParser, ServerAnswer};
pub use malformed::Malformed;
pub use options::TlsScanOptions;
pub use scan::scan_tls;
pub use server_flight::{ServerFlight, ServerKeyExchange};
pub use server_hello::ServerHello;
