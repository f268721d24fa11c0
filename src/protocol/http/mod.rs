//! One HTTP exchange over a stream that somebody else opened (RFC 9110, 9112, 9113).
//!
//! hyper speaks the protocol; what it does is polled in the caller's task, so that dropping the exchange
//! ends everything that belongs to it. A `recorder` between hyper and the stream notes when bytes moved.

mod body;
pub mod client;
mod coding;
mod connection;
mod driver;
mod exchange;
mod fault;
mod limits;
mod quic;
mod recorder;
mod unanswered;

pub use body::{BodyContent, BodyRetention, ResponseBody};
pub use coding::ACCEPT_ENCODING;
pub use connection::{Http1Connection, MultiplexedConnection};
pub use driver::ConnectionDriver;
pub use exchange::{HttpProtocol, ResponseHead, send_request};
pub use limits::{HeaderLimit, MAX_HEAD_BYTES, MAX_HEADER_FIELDS};
pub use quic::send_http3_request;
pub use unanswered::{RequestError, RetryReason};
