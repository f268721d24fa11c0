//! One DNS query and its response (RFC 1035), without sockets.

mod query;
mod record_text;
mod response;

pub use query::{DnsQuery, MAX_UDP_PAYLOAD, Mismatch, ReplyMatch};
pub use response::{AliasError, DnsResponse, MAX_ALIASES, rcode_name};
