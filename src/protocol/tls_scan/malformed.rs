//! The error of a message that breaks the rules of TLS.

/// Names the part of an answer that is not as TLS has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} of the answer is not as TLS has it")]
pub struct Malformed(pub &'static str);
