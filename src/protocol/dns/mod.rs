//! One question to one name server (RFC 1035), without sockets.

mod answer;
mod message;
mod value;

pub use answer::{AliasError, DnsResponse, MAX_ALIASES, rcode_name};
pub use message::{DnsQuery, MAX_UDP_PAYLOAD, Mismatch, ReplyMatch};
