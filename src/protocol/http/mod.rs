//! One HTTP exchange over an existing stream (RFC 9110, 9112, 9113).
//!
//! hyper implements the protocol. Its connection is polled in the caller's task, so that dropping the exchange ends
//! everything that belongs to it. A `timings` stream below hyper records when bytes were transferred.

mod body;
pub mod client;
mod connection;
mod content_coding;
mod driver;
mod exchange;
mod failure;
mod frame_scanner;
mod http3;
mod limits;
mod post_client;
mod request_error;
mod retry_after;
mod site;
mod timings;
mod traceparent;
mod version_normalizer;

pub use body::{BodyContent, BodyRetention, ResponseBody};
pub use connection::{Http1Connection, MultiplexedConnection};
pub use content_coding::ACCEPT_ENCODING;
pub use driver::ConnectionDriver;
pub use exchange::{HttpProtocol, ResponseHead, send_request};
pub use http3::send_http3_request;
pub use limits::{HeaderLimit, MAX_HEAD_BYTES, MAX_HEADER_FIELDS};
pub use post_client::{PostClient, PostClientError, PostResponse};
pub use request_error::{RequestError, RetryReason};
pub use retry_after::retry_after;
pub use site::{is_same_site, site_of_url};
pub use traceparent::{TRACEPARENT, TRACESTATE, new_traceparent};
