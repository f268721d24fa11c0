//! Errors of setting up a network.

/// Why a network cannot be set up as configured.
#[derive(Debug, thiserror::Error)]
pub enum NetConfigError {
    /// A certificate or key cannot be used.
    #[error("`{label}` cannot be used: {detail}")]
    Pem {
        /// Where it came from.
        label: String,
        /// The reason.
        detail: String,
    },
    /// The resolver cannot be set up.
    #[error("the resolver cannot be set up: {0}")]
    Resolver(String),
    /// TLS cannot be set up.
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
}

impl NetConfigError {
    /// Returns the stable name of this kind of error.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Pem { .. } => "pem",
            Self::Resolver(_) => "resolver",
            Self::Tls(_) => "tls",
        }
    }
}
