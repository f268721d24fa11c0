//! Connects to the database, and checks that it can be used.

use std::time::Duration;

use base64::Engine as _;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions, PgSslMode};
use sqlx::{ConnectOptions, Connection, PgConnection, PgPool};

use crate::domain::Timestamp;
use crate::store::contract::StoreError;
use crate::store::location::{PostgresLocation, PostgresTls};

use super::error::{ErrorMapper, PgError, PgResult};
use super::migrations;
use super::settings::PostgresSettings;

/// The oldest version that can be used: it detaches partitions without blocking readers.
const OLDEST_SERVER_VERSION: i32 = 140_000;
/// How the server names the sessions.
pub(super) const APPLICATION_NAME: &str = "vigie";
/// How it names those of the controller that leads.
pub(super) const LEADER_APPLICATION_NAME: &str = "vigie leader";
/// How far the clock of the database may be off.
const MAX_CLOCK_OFFSET: Duration = Duration::from_mins(1);
/// How long a statement waits for a lock.
const LOCK_TIMEOUT_MS: &str = "10000";

/// Opens the pool, after checks and migrations on a connection of its own; returns that too.
pub(super) async fn open_pool(
    settings: &PostgresSettings,
    error_mapper: &ErrorMapper,
) -> Result<(PgPool, PgConnection), StoreError> {
    let conn = open_checked(settings, error_mapper).await?;
    Ok((lazy_pool(settings, &[]), conn))
}

/// Connects, checks the server and brings its tables to the newest version.
pub(super) async fn open_checked(
    settings: &PostgresSettings,
    error_mapper: &ErrorMapper,
) -> Result<PgConnection, StoreError> {
    let to_store_error = |error: PgError| error_mapper.to_store_error(&error);
    let mut conn = connect_in_time(settings, error_mapper).await?;
    check_server(&mut conn, settings, error_mapper).await.map_err(to_store_error)?;
    migrations::migrate(&mut conn, error_mapper).await.map_err(to_store_error)?;
    if is_copy_target(&mut conn).await.map_err(to_store_error)? {
        let reason = "it is the target of a copy that is not complete; repeat `vigie store copy` with the same databases";
        return Err(error_mapper.unusable_error(reason));
    }
    Ok(conn)
}

/// Opens a pool for reading, after a check of the tables; changes nothing.
pub(super) async fn open_read_only_pool(
    settings: &PostgresSettings,
    error_mapper: &ErrorMapper,
) -> Result<PgPool, StoreError> {
    let mut conn = connect_in_time(settings, error_mapper).await?;
    let checked = migrations::check_version(&mut conn, error_mapper).await;
    checked.map_err(|error| error_mapper.to_store_error(&error))?;
    // Fails only when the server ended meanwhile, which the pool would notice too.
    let _ = conn.close().await;
    Ok(lazy_pool(settings, &[("default_transaction_read_only", "on")]))
}

/// Whether the database is the target of a copy that is not complete.
pub(super) async fn is_copy_target(conn: &mut PgConnection) -> PgResult<bool> {
    Ok(sqlx::query_scalar("SELECT to_regclass('copy_source') IS NOT NULL").fetch_one(conn).await?)
}

fn lazy_pool(settings: &PostgresSettings, options: &[(&str, &str)]) -> PgPool {
    let timeout_ms = settings.query_timeout.as_millis().to_string();
    let connect_options = connect_options(settings)
        .options([("statement_timeout", timeout_ms.as_str()), ("lock_timeout", LOCK_TIMEOUT_MS)])
        .options(options.iter().copied());
    PgPoolOptions::new()
        .max_connections(settings.max_connections.max(2))
        .acquire_timeout(settings.connect_timeout)
        .connect_lazy_with(connect_options)
}

/// Connects, within the time that the settings allow.
pub(super) async fn connect_in_time(
    settings: &PostgresSettings,
    error_mapper: &ErrorMapper,
) -> Result<PgConnection, StoreError> {
    let connecting = connect_once(settings, error_mapper);
    let Ok(connected) = tokio::time::timeout(settings.connect_timeout, connecting).await else {
        let seconds = settings.connect_timeout.as_secs();
        return Err(error_mapper.unavailable_error(&format!(
            "the server did not answer within {seconds} s; check that it runs and that this host reaches it"
        )));
    };
    connected.map_err(|error| error_mapper.to_store_error(&error))
}

async fn connect_once(settings: &PostgresSettings, error_mapper: &ErrorMapper) -> PgResult<PgConnection> {
    if let Some(path) = &settings.location.ca_file
        && let Err(error) = std::fs::File::open(path)
    {
        let reason = format!("cannot read the certificates in `{}`: {error}", path.display());
        return Err(error_mapper.unusable_error(&reason).into());
    }
    Ok(connect_options(settings).connect().await?)
}

fn connect_options(settings: &PostgresSettings) -> PgConnectOptions {
    let PostgresLocation { host, port, database, user, password, tls, ca_file } = &settings.location;
    let mut options = PgConnectOptions::new_without_pgpass()
        .port(*port)
        .username(user)
        .database(database)
        .application_name(if settings.leader_epoch.is_some() {
            LEADER_APPLICATION_NAME
        } else {
            APPLICATION_NAME
        })
        .ssl_mode(match tls {
            PostgresTls::Disable => PgSslMode::Disable,
            PostgresTls::Prefer => PgSslMode::Prefer,
            PostgresTls::Require => PgSslMode::Require,
            PostgresTls::VerifyCa => PgSslMode::VerifyCa,
            PostgresTls::VerifyFull => PgSslMode::VerifyFull,
        })
        // Whatever the server's defaults are: a commit that was acknowledged is on disk.
        .options([("synchronous_commit", "on"), ("timezone", "UTC"), ("jit", "off")])
        // A statement after a lock was waited for reads what the holder committed.
        .options([("default_transaction_isolation", "read committed")])
        // The server ends the session of a host that is gone, with its locks.
        .options([
            ("tcp_keepalives_idle", "20"),
            ("tcp_keepalives_interval", "10"),
            ("tcp_keepalives_count", "3"),
            ("tcp_user_timeout", "60000"),
        ])
        .disable_statement_logging();
    options = if settings.location.is_socket() { options.socket(host) } else { options.host(host) };
    if let Some(password) = password {
        options = options.password(password.expose());
    }
    match ca_file {
        Some(path) => options.ssl_root_cert(path),
        None if matches!(tls, PostgresTls::VerifyCa | PostgresTls::VerifyFull) => {
            options.ssl_root_cert_from_pem(system_certificates())
        }
        None => options,
    }
}

/// Returns the certificates that the operating system trusts, as PEM.
fn system_certificates() -> Vec<u8> {
    // Errors concern single files; without any certificate the connection is not trusted.
    let mut pem = String::new();
    for certificate in rustls_native_certs::load_native_certs().certs {
        pem.push_str("-----BEGIN CERTIFICATE-----\n");
        pem.push_str(&base64::engine::general_purpose::STANDARD.encode(&certificate));
        pem.push_str("\n-----END CERTIFICATE-----\n");
    }
    pem.into_bytes()
}

/// Checks version, encoding, clock, and that the database can be written.
pub(super) async fn check_server(
    conn: &mut PgConnection,
    settings: &PostgresSettings,
    error_mapper: &ErrorMapper,
) -> PgResult<()> {
    let (version, encoding, is_standby, is_read_only, clock_us): (i32, String, bool, String, i64) =
        sqlx::query_as(
            "SELECT current_setting('server_version_num')::int, current_setting('server_encoding'),
                 pg_is_in_recovery(), current_setting('transaction_read_only'),
                 (extract(epoch FROM clock_timestamp()) * 1000000)::bigint",
        )
        .fetch_one(conn)
        .await?;
    let unusable = |reason: String| Err(error_mapper.unusable_error(&reason).into());
    if version < OLDEST_SERVER_VERSION {
        return unusable(format!(
            "the server has version {}.{}; use PostgreSQL 14 or newer",
            version / 10_000,
            version % 10_000
        ));
    }
    if encoding != "UTF8" {
        return unusable(format!(
            "it has the encoding {encoding}; create another one with `createdb --encoding=UTF8 DATABASE`"
        ));
    }
    if is_standby || is_read_only == "on" {
        return unusable("it is a standby or set to read-only; name the primary server".to_owned());
    }
    let offset_us = clock_us - settings.clock.now().as_micros();
    if offset_us.unsigned_abs() > u64::try_from(MAX_CLOCK_OFFSET.as_micros()).unwrap_or(u64::MAX) {
        let direction = if offset_us > 0 { "ahead of" } else { "behind" };
        return unusable(format!(
            "its clock is {} s {direction} this host's ({} there); synchronise both, for example with NTP",
            offset_us.unsigned_abs() / 1_000_000,
            Timestamp::from_micros(clock_us)
        ));
    }
    Ok(())
}
