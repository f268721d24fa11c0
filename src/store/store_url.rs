//! Parses the URL of a store (src/manual/database.md, "The URL"). No error contains a part that may be a password.

use std::path::PathBuf;

use percent_encoding::percent_decode_str;

use super::location::{PostgresLocation, PostgresTls, StoreLocation, StorePassword};

/// Port of a PostgreSQL server.
const POSTGRES_PORT: u16 = 5432;
/// Longest scheme that an error shows.
const MAX_SHOWN_SCHEME_CHARS: usize = 20;
/// Parameters of a URL of PostgreSQL.
const PARAMETERS: &str = "`host`, `port`, `sslmode` and `sslrootcert`";

/// Why a text is no URL of a store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreUrlError {
    /// It begins with no scheme.
    #[error("must begin with a scheme; use `sqlite:PATH` or `postgres://USER@HOST:PORT/DATABASE`")]
    MissingScheme,
    /// No store has this scheme.
    #[error("has the unknown scheme `{0}`; use `sqlite:PATH` or `postgres://USER@HOST:PORT/DATABASE`")]
    UnknownScheme(String),
    /// A part is missing or wrong; the text continues the sentence and says what to do.
    #[error("{0}")]
    Invalid(&'static str),
    /// A parameter that is not known.
    #[error("has the unknown parameter `{0}`; use {PARAMETERS}")]
    UnknownParameter(String),
    /// A parameter is given twice.
    #[error("has the parameter `{0}` twice; leave one out")]
    DuplicateParameter(&'static str),
}

impl StoreLocation {
    /// Parses `sqlite:PATH` or `postgres://USER:PASSWORD@HOST:PORT/DATABASE?PARAMETERS`.
    ///
    /// # Errors
    /// Fails with what is wrong and what to do; the text follows the name of the setting or option.
    pub fn parse(text: &str) -> Result<Self, StoreUrlError> {
        let scheme = text.split_once(':').filter(|(scheme, _)| is_scheme(scheme));
        let Some((scheme, rest)) = scheme else { return Err(StoreUrlError::MissingScheme) };
        match scheme {
            "sqlite" => parse_sqlite_path(rest).map(Self::Sqlite),
            "postgres" | "postgresql" => parse_postgres(rest).map(Self::Postgres),
            other => Err(StoreUrlError::UnknownScheme(other.chars().take(MAX_SHOWN_SCHEME_CHARS).collect())),
        }
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

/// Parses the path, which is not percent-encoded.
fn parse_sqlite_path(rest: &str) -> Result<PathBuf, StoreUrlError> {
    let path = match rest.strip_prefix("//") {
        Some(path) if path.starts_with('/') => path,
        Some(_) => {
            return Err(StoreUrlError::Invalid(
                "names a host, which a file does not have; use `sqlite:PATH` or `sqlite:///ABSOLUTE/PATH`",
            ));
        }
        None => rest,
    };
    let problem = if path.trim().is_empty() {
        "names no file; use `sqlite:PATH`, such as `sqlite:/var/lib/vigie/vigie.db`"
    } else if path == ":memory:" {
        "must name a file: a database in memory would be lost at the end of the process"
    } else if path.contains('?') {
        "takes no parameters after `?`; the settings of section `store` set what SQLite has"
    } else if path.contains('\0') {
        "contains a NUL character, which no path has"
    } else {
        return Ok(PathBuf::from(path));
    };
    Err(StoreUrlError::Invalid(problem))
}

/// Parameters of a URL of PostgreSQL, decoded.
#[derive(Default)]
struct Parameters {
    host: Option<String>,
    port: Option<String>,
    tls: Option<String>,
    ca_file: Option<String>,
}

fn parse_postgres(rest: &str) -> Result<PostgresLocation, StoreUrlError> {
    let rest = rest.strip_prefix("//").ok_or(StoreUrlError::Invalid(
        "needs `//` after the scheme; use `postgres://USER@HOST:PORT/DATABASE`",
    ))?;
    let (address, query) = rest.split_once('?').unwrap_or((rest, ""));
    let parameters = parse_parameters(query)?;
    let (authority, database) = address.split_once('/').unwrap_or((address, ""));
    let (user_info, host_and_port) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (user, password) =
        user_info.split_once(':').map_or((user_info, None), |(user, password)| (user, Some(password)));
    let (url_host, url_port) = split_port(host_and_port)?;
    let url_host = decode(url_host)?;
    let host = match (url_host.is_empty(), parameters.host) {
        (false, Some(_)) => {
            return Err(StoreUrlError::Invalid("names a host twice; leave the parameter `host` out"));
        }
        (_, Some(host)) => host,
        (_, None) => url_host,
    };
    check_host(&host)?;
    let port = match (url_port, &parameters.port) {
        (Some(_), Some(_)) => {
            return Err(StoreUrlError::Invalid("names a port twice; leave the parameter `port` out"));
        }
        (Some(port), None) => parse_port(port)?,
        (None, Some(port)) => parse_port(port)?,
        (None, None) => POSTGRES_PORT,
    };
    let (database, user) = (decode(database)?, decode(user)?);
    if database.is_empty() {
        return Err(StoreUrlError::Invalid("names no database; use `postgres://USER@HOST:PORT/DATABASE`"));
    }
    if database.contains('/') {
        return Err(StoreUrlError::Invalid(
            "has more than one `/` after the host; the name of the database follows the first one",
        ));
    }
    if user.is_empty() {
        return Err(StoreUrlError::Invalid("names no user; use `postgres://USER@HOST:PORT/DATABASE`"));
    }
    let password = password.map(decode).transpose()?.filter(|password| !password.is_empty());
    let ca_file = parameters.ca_file.map(PathBuf::from);
    let tls = choose_tls(parameters.tls.as_deref(), &host, ca_file.is_some())?;
    let password = password.map(StorePassword::new);
    Ok(PostgresLocation { host, port, database, user, password, tls, ca_file })
}

/// Splits the port from a host; an IPv6 address is in brackets, which are removed.
fn split_port(host_and_port: &str) -> Result<(&str, Option<&str>), StoreUrlError> {
    if let Some(rest) = host_and_port.strip_prefix('[') {
        let (address, rest) = rest.split_once(']').unwrap_or((rest, "]"));
        let is_address = address.parse::<std::net::Ipv6Addr>().is_ok();
        return match rest.strip_prefix(':') {
            Some(port) if is_address => Ok((address, Some(port))),
            None if is_address && rest.is_empty() => Ok((address, None)),
            _ => Err(StoreUrlError::Invalid("has brackets around what is no IPv6 address")),
        };
    }
    match host_and_port.split_once(':') {
        Some((_, port)) if port.contains(':') => Err(StoreUrlError::Invalid(
            "has several `:` in the host; put an IPv6 address in brackets, and encode a `:` or `@` of a password as `%3A` or `%40`",
        )),
        Some((host, port)) => Ok((host, Some(port))),
        None => Ok((host_and_port, None)),
    }
}

fn parse_port(text: &str) -> Result<u16, StoreUrlError> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|port| is_number && *port > 0).ok_or(StoreUrlError::Invalid(
        "has a port that is no number from 1 to 65535; encode a `/` of a password as `%2F`",
    ))
}

fn check_host(host: &str) -> Result<(), StoreUrlError> {
    let problem = if host.is_empty() {
        "names no host; use `postgres://USER@HOST:PORT/DATABASE`, or `?host=/run/postgresql` for a socket"
    } else if host.contains(',') {
        "names several hosts; name the one that accepts writes"
    } else if !host.starts_with('/')
        && host.parse::<std::net::Ipv6Addr>().is_err()
        && url::Host::parse(host).is_err()
    {
        "has a host that is neither a name nor an address"
    } else {
        return Ok(());
    };
    Err(StoreUrlError::Invalid(problem))
}

fn parse_parameters(query: &str) -> Result<Parameters, StoreUrlError> {
    let mut parameters = Parameters::default();
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let (name, slot) = match name {
            "host" => ("host", &mut parameters.host),
            "port" => ("port", &mut parameters.port),
            "sslmode" => ("sslmode", &mut parameters.tls),
            "sslrootcert" => ("sslrootcert", &mut parameters.ca_file),
            other => {
                // A password may contain a `?`: only a plain name is shown.
                let is_name = other.len() <= 30
                    && other.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                    && parameter.contains('=');
                return Err(if is_name {
                    StoreUrlError::UnknownParameter(other.to_owned())
                } else {
                    StoreUrlError::Invalid(
                        "has an unknown parameter after `?`; use `host`, `port`, `sslmode` and `sslrootcert`, and encode a `?` or `/` of a password as `%3F` or `%2F`",
                    )
                });
            }
        };
        let value = decode(value)?;
        if value.is_empty() {
            return Err(StoreUrlError::Invalid("has a parameter without a value; leave it out"));
        }
        if slot.replace(value).is_some() {
            return Err(StoreUrlError::DuplicateParameter(name));
        }
    }
    Ok(parameters)
}

/// Returns the mode of `name`; without one, a certificate is verified unless the server is on this host.
fn choose_tls(name: Option<&str>, host: &str, has_ca_file: bool) -> Result<PostgresTls, StoreUrlError> {
    let is_socket = host.starts_with('/');
    let is_loopback =
        host == "localhost" || host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback());
    let mode = match name {
        Some(name) => {
            let known = PostgresTls::NAMES.iter().find(|(known, _)| *known == name);
            known.map(|(_, mode)| *mode).ok_or(StoreUrlError::Invalid(
                "has an unknown `sslmode`; use `disable`, `prefer`, `require`, `verify-ca` or `verify-full`",
            ))?
        }
        None if is_socket => PostgresTls::Disable,
        None if is_loopback && !has_ca_file => PostgresTls::Prefer,
        None => PostgresTls::VerifyFull,
    };
    match mode {
        PostgresTls::Require | PostgresTls::VerifyCa | PostgresTls::VerifyFull if is_socket => {
            Err(StoreUrlError::Invalid("asks for TLS on a socket, which has none; leave `sslmode` out"))
        }
        PostgresTls::Prefer if is_socket => Ok(PostgresTls::Disable),
        PostgresTls::VerifyCa | PostgresTls::VerifyFull => Ok(mode),
        _ if has_ca_file => Err(StoreUrlError::Invalid(
            "has `sslrootcert`, which only `sslmode=verify-full` and `verify-ca` use; change `sslmode` or leave one out",
        )),
        _ => Ok(mode),
    }
}

/// Decodes percent-encoding.
fn decode(text: &str) -> Result<String, StoreUrlError> {
    let bytes = text.as_bytes();
    for (index, _) in text.match_indices('%') {
        let digits = bytes.get(index + 1..index + 3);
        if !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
            return Err(StoreUrlError::Invalid(
                "has a `%` without two hexadecimal digits; encode a percent sign as `%25`",
            ));
        }
    }
    let decoded = percent_decode_str(text).decode_utf8();
    let decoded = decoded.map_err(|_| StoreUrlError::Invalid("is percent-encoded, but not as UTF-8"))?;
    if decoded.chars().any(char::is_control) {
        return Err(StoreUrlError::Invalid("contains a control character"));
    }
    Ok(decoded.into_owned())
}
