//! Converts errors of PostgreSQL to errors that an operator can act on.

use std::time::Duration;

use sqlx::postgres::PgDatabaseError;

use crate::store::contract::StoreError;
use crate::store::rows::decode::DecodeError;

/// Why a call failed.
pub(super) enum PgError {
    /// The server, the connection or the pool.
    Sql(sqlx::Error),
    /// A stored value cannot be decoded; with the names that PostgreSQL has.
    Undecodable(DecodeError),
    /// The store refuses the call.
    Rejected(StoreError),
    /// There was no reply within this time.
    NoReply(Duration),
}

/// What a call returns.
pub(super) type PgResult<T> = Result<T, PgError>;

impl From<sqlx::Error> for PgError {
    fn from(error: sqlx::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<DecodeError> for PgError {
    fn from(error: DecodeError) -> Self {
        Self::Undecodable(error.with_postgres_names())
    }
}

impl From<StoreError> for PgError {
    fn from(error: StoreError) -> Self {
        Self::Rejected(error)
    }
}

impl PgError {
    /// The error code (SQLSTATE) of the server, if it is an error of the server.
    pub(super) fn sql_state(&self) -> Option<&str> {
        match self {
            Self::Sql(sqlx::Error::Database(error)) => {
                error.try_downcast_ref::<PgDatabaseError>().map(PgDatabaseError::code)
            }
            _ => None,
        }
    }

    /// Whether the server may have done what it was asked for, since its reply is missing.
    pub(super) fn is_reply_lost(&self) -> bool {
        match self {
            Self::NoReply(_)
            | Self::Sql(sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed) => true,
            Self::Sql(sqlx::Error::Database(_)) => {
                self.sql_state().is_some_and(|code| code.starts_with("08") || code.starts_with("57P"))
            }
            _ => false,
        }
    }

    /// Whether the partition of a row does not exist (any more). Constraints of tables have names, unlike this one.
    pub(super) fn is_missing_partition(&self) -> bool {
        match self {
            Self::Sql(sqlx::Error::Database(error)) => {
                error.code().as_deref() == Some("23514") && error.constraint().is_none()
            }
            _ => false,
        }
    }

    /// Whether no connection became free or could be made in time.
    pub(super) const fn is_pool_timeout(&self) -> bool {
        matches!(self, Self::Sql(sqlx::Error::PoolTimedOut))
    }
}

/// Returns the value of `decoded`, or `None` for a row that cannot be decoded, which is logged.
pub(super) fn skip_undecodable<T>(decoded: PgResult<T>) -> PgResult<Option<T>> {
    match decoded {
        Ok(value) => Ok(Some(value)),
        Err(PgError::Undecodable(error)) => {
            let error = error.to_store_error();
            tracing::error!(error_kind = error.kind(), "row skipped: {error}");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Converts errors of one database.
#[derive(Clone, Debug)]
pub(super) struct ErrorMapper {
    /// The URL of the database, without password.
    pub(super) url: String,
}

impl ErrorMapper {
    /// Converts `error` to a store error.
    pub(super) fn to_store_error(&self, error: &PgError) -> StoreError {
        match error {
            PgError::Rejected(error) => error.clone(),
            PgError::Undecodable(error) => error.to_store_error(),
            PgError::Sql(error) => self.sql_to_store_error(error),
            PgError::NoReply(limit) => self.unavailable_error(&format!(
                "no reply within {} s; check the server and the network between",
                limit.as_secs()
            )),
        }
    }

    fn sql_to_store_error(&self, error: &sqlx::Error) -> StoreError {
        match error {
            sqlx::Error::Database(error) => match error.try_downcast_ref::<PgDatabaseError>() {
                Some(error) => self.server_error(error),
                None => self.unusable_error(&error.to_string()),
            },
            sqlx::Error::Io(error) if is_tls_error(error) => self.tls_error(error),
            sqlx::Error::Tls(error) => self.tls_error(error),
            sqlx::Error::Io(error) => self.unavailable_error(&format!(
                "{error}; check that the server runs and that this host reaches it"
            )),
            sqlx::Error::PoolTimedOut => self.unavailable_error(
                "no connection became free in time; check that the server runs, or raise `store.max_connections`",
            ),
            sqlx::Error::PoolClosed => StoreError::Closed,
            sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed => {
                self.unavailable_error(&format!("the connection broke: {error}"))
            }
            sqlx::Error::Encode(_) => StoreError::Rejected(self.describe(&error.to_string())),
            _ => self.unusable_error(&error.to_string()),
        }
    }

    /// Converts an error of the server by its code (PostgreSQL manual, appendix A).
    fn server_error(&self, error: &PgDatabaseError) -> StoreError {
        let message = match error.detail() {
            Some(detail) => format!("{} ({detail})", error.message()),
            None => error.message().to_owned(),
        };
        let (class, code) = (error.code().get(..2).unwrap_or_default(), error.code());
        match (class, code) {
            (_, "53100") => StoreError::DiskFull(self.describe(&message)),
            (_, "57014") => StoreError::QueryTimeout,
            ("40", _) | (_, "55P03") => StoreError::Locked(self.describe(&message)),
            (_, "53300") => self.unavailable_error(&format!(
                "{message}; lower `store.max_connections`, or raise `max_connections` of the server"
            )),
            ("08" | "53" | "58", _) | (_, "57P01" | "57P02" | "57P03") => self.unavailable_error(&message),
            (_, "25006") => self.unusable_error(&format!(
                "{message}; it is a standby or set to read-only: name the primary server"
            )),
            ("28", _) => {
                self.unusable_error(&format!("{message}; check user and password (`store.password_file`)"))
            }
            (_, "3D000") => self.unusable_error(&format!(
                "{message}; create it: `createdb --encoding=UTF8 --owner=USER DATABASE`"
            )),
            (_, "42501") => self.unusable_error(&format!(
                "{message}; make the user the owner of the database and its tables"
            )),
            ("22" | "23" | "54", _) => StoreError::Rejected(self.describe(&message)),
            _ => self.unusable_error(&format!("{message} (code {code})")),
        }
    }

    fn tls_error(&self, error: &dyn std::fmt::Display) -> StoreError {
        self.unusable_error(&format!(
            "TLS: {error}; name the certificates to trust with `sslrootcert`, or choose another `sslmode`"
        ))
    }

    /// Returns the error that the database cannot be used for the given `reason`.
    pub(super) fn unusable_error(&self, reason: &str) -> StoreError {
        StoreError::Unusable(self.describe(reason))
    }

    /// Returns the error that the database cannot be reached for the given `reason`.
    pub(super) fn unavailable_error(&self, reason: &str) -> StoreError {
        StoreError::Unavailable(self.describe(reason))
    }

    fn describe(&self, reason: &str) -> String {
        format!("`{}`: {reason}", self.url)
    }
}

/// Whether `error` is one of a handshake, such as a certificate that is not trusted.
fn is_tls_error(error: &std::io::Error) -> bool {
    error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<rustls::Error>)
}
