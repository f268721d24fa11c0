//! One DNS query and its response (RFC 1035), without sockets.

mod query;
mod response;
mod zone_file_format;

pub use query::{DnsQuery, MAX_UDP_PAYLOAD, ReplyMatch, ReplyMismatch};
pub use response::{AliasError, DnsResponse, MAX_ALIASES, rcode_name};
