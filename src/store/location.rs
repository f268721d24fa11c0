//! Where the store of an installation is.

use std::fmt;
use std::path::PathBuf;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use zeroize::Zeroizing;

/// Characters that a part of a URL cannot contain as they are.
const ESCAPED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'&')
    .add(b'/')
    .add(b':')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'@')
    .add(b'[')
    .add(b']');

/// Characters that a parameter of a URL cannot contain as they are.
const ESCAPED_PARAMETER: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'%').add(b'&').add(b'+');

/// Where a store is (setting `store.url`). Its `Display` is the path of the file, or the URL without its password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreLocation {
    /// An SQLite file.
    Sqlite(PathBuf),
    /// A database of a PostgreSQL server.
    Postgres(PostgresLocation),
}

/// A database of a PostgreSQL server, and who connects to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostgresLocation {
    /// Name or address of the server, without brackets; the folder of its socket when it begins with a slash.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Name of the database.
    pub database: String,
    /// Name of the user.
    pub user: String,
    /// Password of the user, if one is known.
    pub password: Option<StorePassword>,
    /// Whether the connection is encrypted.
    pub tls: PostgresTls,
    /// PEM file of the certificate authorities that may have signed the certificate of the server; `None` for those
    /// of the operating system.
    pub ca_file: Option<PathBuf>,
}

/// Encryption of the connection to a PostgreSQL server, with the names of libpq (PostgreSQL manual 32.19).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PostgresTls {
    /// No TLS.
    Disable,
    /// TLS when the server offers it; its certificate is not checked.
    Prefer,
    /// TLS; the certificate is not checked.
    Require,
    /// TLS with a trusted certificate, for whatever name.
    VerifyCa,
    /// TLS with a trusted certificate for the name of the server.
    VerifyFull,
}

impl PostgresTls {
    /// Every mode with its name in a URL.
    pub const NAMES: [(&'static str, Self); 5] = [
        ("disable", Self::Disable),
        ("prefer", Self::Prefer),
        ("require", Self::Require),
        ("verify-ca", Self::VerifyCa),
        ("verify-full", Self::VerifyFull),
    ];

    /// Returns its name in a URL.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, mode)| *mode == self).map_or("disable", |(name, _)| name)
    }
}

/// The password of a store, which `Debug` does not print.
#[derive(Clone, PartialEq, Eq)]
pub struct StorePassword(Zeroizing<String>);

impl StorePassword {
    /// Creates it.
    #[must_use]
    pub fn new(password: impl Into<String>) -> Self {
        Self(Zeroizing::new(password.into()))
    }

    /// Returns the password itself.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for StorePassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StorePassword(…)")
    }
}

impl StoreLocation {
    /// Returns the name of its engine, for people.
    #[must_use]
    pub const fn engine_name(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "SQLite",
            Self::Postgres(_) => "PostgreSQL",
        }
    }
}

impl PostgresLocation {
    /// Whether the server is reached by a socket in a folder.
    #[must_use]
    pub fn is_socket(&self) -> bool {
        self.host.starts_with('/')
    }
}

impl fmt::Display for StoreLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => path.display().fmt(f),
            Self::Postgres(postgres) => postgres.fmt(f),
        }
    }
}

impl fmt::Display for PostgresLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let user = utf8_percent_encode(&self.user, ESCAPED);
        let database = utf8_percent_encode(&self.database, ESCAPED);
        let (host, port) = (&self.host, self.port);
        if self.is_socket() {
            let folder = utf8_percent_encode(host, ESCAPED_PARAMETER);
            return write!(f, "postgres://{user}@/{database}?host={folder}&port={port}");
        }
        let is_ipv6 = host.contains(':');
        let (open, close) = if is_ipv6 { ("[", "]") } else { ("", "") };
        write!(f, "postgres://{user}@{open}{host}{close}:{port}/{database}?sslmode={}", self.tls.name())?;
        if let Some(file) = &self.ca_file {
            write!(
                f,
                "&sslrootcert={}",
                utf8_percent_encode(&file.display().to_string(), ESCAPED_PARAMETER)
            )?;
        }
        Ok(())
    }
}
