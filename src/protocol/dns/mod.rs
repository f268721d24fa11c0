//! One question to one name server (RFC 1035), without sockets.

mod answer;
mod message;
mod value;

pub use answer::{Answer, Endless, MOST_ALIASES, rcode_name};
pub use message::{Heard, Question, Stray, UDP_PAYLOAD};
