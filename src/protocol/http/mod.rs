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

pub use body::{Body, Content, Keep};
pub use coding::ACCEPT_ENCODING;
pub use connection::{Serial, Shared};
pub use driver::Driver;
pub use exchange::{Head, Protocol, open};
pub use limits::{HEAD_BYTES, HEAD_FIELDS, Room};
pub use quic::open_quic;
pub use unanswered::{Again, Unanswered};
