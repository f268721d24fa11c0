//! Settings of the PostgreSQL database.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::{Clock, SystemClock};

/// How connections use TLS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TlsMode {
    /// Never.
    Disable,
    /// If the server offers it; neither its certificate nor its name is verified.
    #[default]
    Prefer,
    /// Always; neither certificate nor name is verified.
    Require,
    /// Always; the certificate is verified.
    VerifyCa,
    /// Always; certificate and name are verified.
    VerifyFull,
}

/// Settings of the database.
#[derive(Clone)]
pub struct PostgresSettings {
    /// Host name, address, or the folder of a socket (starts with `/`).
    pub host: String,
    /// Port.
    pub port: u16,
    /// Name of the database.
    pub database: String,
    /// User.
    pub user: String,
    /// Password, if the server asks for one.
    pub password: Option<String>,
    /// How connections use TLS.
    pub tls: TlsMode,
    /// File with the certificates (PEM) that are trusted; `None` for those of the system.
    pub root_certificates: Option<PathBuf>,
    /// Most connections.
    pub max_connections: u32,
    /// How long a call waits for a connection.
    pub connect_timeout: Duration,
    /// Longest duration of a statement.
    pub query_timeout: Duration,
    /// This host's clock, which that of the database must not differ from by more than a minute.
    pub clock: Arc<dyn Clock>,
}

impl PostgresSettings {
    /// Settings with default limits for the database `database` of `user` on `host`.
    #[must_use]
    pub fn new(host: &str, port: u16, database: &str, user: &str) -> Self {
        Self {
            host: host.to_owned(),
            port,
            database: database.to_owned(),
            user: user.to_owned(),
            password: None,
            tls: TlsMode::default(),
            root_certificates: None,
            max_connections: 16,
            connect_timeout: Duration::from_secs(10),
            query_timeout: Duration::from_secs(30),
            clock: Arc::new(SystemClock),
        }
    }

    /// Returns the URL without the password, for messages.
    #[must_use]
    pub fn display_url(&self) -> String {
        let Self { host, port, database, user, .. } = self;
        if host.starts_with('/') {
            format!("postgres://{user}@/{database}?host={host}&port={port}")
        } else if host.contains(':') {
            format!("postgres://{user}@[{host}]:{port}/{database}")
        } else {
            format!("postgres://{user}@{host}:{port}/{database}")
        }
    }
}

impl std::fmt::Debug for PostgresSettings {
    /// Writes the URL, which has no password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresSettings").field("url", &self.display_url()).finish_non_exhaustive()
    }
}
