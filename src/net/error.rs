//! Why a network cannot be used as configured.

/// Why a network cannot be used as configured.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// A certificate or key cannot be used.
    #[error("`{label}` cannot be used: {detail}")]
    Pem {
        /// Where it came from.
        label: String,
        /// What is wrong with it.
        detail: String,
    },
    /// The resolver cannot be set up.
    #[error("the resolver cannot be set up: {0}")]
    Resolver(String),
    /// TLS cannot be set up.
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
}

impl NetError {
    /// The stable word for this kind of error.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Pem { .. } => "pem",
            Self::Resolver(_) => "resolver",
            Self::Tls(_) => "tls",
        }
    }
}
