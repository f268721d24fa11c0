//! Log setup: text or JSON lines on standard error.

use std::io::{IsTerminal, Write};
use std::str::FromStr;

use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};
use tracing_subscriber::{EnvFilter, fmt};

use crate::redaction::scope::redact_in_scope;

/// Every field name that a log line may contain, with its meaning. Names include the unit; secrets and bodies are never
/// logged.
pub const LOG_FIELDS: &[(&str, &str)] = &[
    ("added", "monitors added by a reload"),
    ("address", "socket address"),
    ("agent_id", "id of an agent on another host"),
    ("agents", "number of agents"),
    ("back_s", "how far the clock was set back, in seconds"),
    ("behind_ms", "by how much the clock of the host is behind that of the control plane, in milliseconds"),
    ("browser", "browser, as `browser_type` names it"),
    ("browsers", "number of browsers"),
    ("bytes", "size in bytes"),
    ("captures", "number of captured files"),
    ("changed", "monitors with a new version"),
    ("check_id", "id of a check"),
    ("customer_id", "id of an account"),
    ("dropped", "number of items that were dropped"),
    ("duration_s", "duration in seconds"),
    ("error", "error message"),
    ("error_kind", "stable name of an error kind"),
    ("event", "kind of an event"),
    ("fault", "one error of a configuration, file:line:column: message"),
    ("faults", "number of errors"),
    ("file", "path of a file"),
    ("folder", "path of a folder"),
    ("from_files", "monitors that files manage"),
    ("gap_s", "how long the process or its clock stalled, in seconds"),
    ("host_id", "id of a host that reports metrics"),
    ("job", "name of a calendar job"),
    ("left", "checks still in progress"),
    ("location_id", "id of a location"),
    ("login", "login of the caller"),
    ("method", "HTTP method of a request to Vigie"),
    ("monitor_id", "id of a monitor"),
    ("monitors", "number of monitors"),
    ("most", "maximum number at the same time"),
    ("outcome", "outcome of a check"),
    ("panic", "panic message"),
    ("path", "path of a request to Vigie"),
    ("place", "source location of the panic"),
    ("profile", "name of the profile of a browser"),
    ("reason", "what the settings do not allow, and which setting does"),
    ("refused", "number of monitors that cannot be checked"),
    ("removed", "monitors removed by a reload"),
    ("request_id", "id of a request, as in `X-Request-Id` of its response"),
    ("results", "number of results"),
    ("revision", "revision of the assignments of a location"),
    ("rows", "number of rows"),
    ("secrets", "number of sealed secrets"),
    ("setting", "name of a setting"),
    ("signal", "name of a signal"),
    ("status", "status code of a response or a check"),
    ("task", "name of a long-running task"),
    ("total_us", "duration, in microseconds"),
    ("type", "monitor type"),
    ("unchanged", "monitors unchanged by a reload"),
    ("until", "until when something is valid"),
    ("updates", "number of changes of assignments"),
    ("urls", "addresses of NATS servers"),
    ("version", "version of Vigie"),
    ("via", "interface that a call came through"),
    ("what", "part of the bus"),
    ("why", "why a login failed"),
];

/// Format of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// For people; with colours only on a terminal.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

impl LogFormat {
    /// Name of every format, as in settings.
    pub const NAMES: [&str; 2] = ["text", "json"];
}

impl FromStr for LogFormat {
    type Err = LogSetupError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            _ => Err(LogSetupError::UnknownFormat(name.to_owned())),
        }
    }
}

/// Log format and filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogOptions {
    /// Format of log lines.
    pub format: LogFormat,
    /// A level (`info`), or levels by module (`info,vigie::net=debug`).
    pub filter: String,
}

impl Default for LogOptions {
    fn default() -> Self {
        Self { format: LogFormat::Text, filter: "info".to_owned() }
    }
}

/// Error of the log setup.
#[derive(Debug, thiserror::Error)]
pub enum LogSetupError {
    /// The format is unknown.
    #[error("`{0}` is not a log format; use `text` or `json`")]
    UnknownFormat(String),
    /// The filter is invalid.
    #[error(
        "`{filter}` is not a log level: {reason}; use `error`, `warn`, `info`, `debug` or `trace`, or levels by module such as `info,vigie::net=debug`"
    )]
    InvalidFilter {
        /// The filter.
        filter: String,
        /// Why it is invalid.
        reason: String,
    },
    /// A logger is already installed in the process.
    #[error("logging is set up already: {0}")]
    AlreadyInitialized(#[from] TryInitError),
}

/// Directives that silence the messages of libraries which do not help; suppaftp warns about errors that the
/// check reports.
const DEFAULT_DIRECTIVES: &str = "tokio_cron_scheduler=warn,async_nats=warn,suppaftp=off";

/// Libraries that log network traffic, passwords and cookies included, at `debug` or `trace`.
const SECRET_LOGGING_CRATES: [&str; 7] =
    ["async_imap", "cookie_store", "lettre", "suppaftp", "tokio_tungstenite", "tungstenite", "fantoccini"];

/// Parses a level, or levels by module.
pub fn parse_log_filter(filter: &str) -> Result<EnvFilter, LogSetupError> {
    let level_names = ["off", "error", "warn", "info", "debug", "trace"];
    let filter_error =
        |reason: &str| LogSetupError::InvalidFilter { filter: filter.to_owned(), reason: reason.to_owned() };
    for directive in filter.split(',').map(str::trim) {
        if SECRET_LOGGING_CRATES.iter().any(|name| directive.starts_with(name)) {
            return Err(filter_error(&format!("`{directive}` would write passwords into the log")));
        }
        // The library takes a misspelt level for the name of a module, and then logs nothing.
        if !directive.contains('=') && !level_names.contains(&directive.to_ascii_lowercase().as_str()) {
            return Err(filter_error(&format!("`{directive}` is not a level")));
        }
    }
    let secret_directives = SECRET_LOGGING_CRATES.map(|name| format!("{name}=info")).join(",");
    let own_directives = filter.split(',').map(|directive| without_library_debug_logs(directive.trim()));
    let own_directives = own_directives.collect::<Vec<_>>().join(",");
    EnvFilter::try_new(format!("{DEFAULT_DIRECTIVES},{own_directives},{secret_directives}"))
        .map_err(|error| filter_error(&error.to_string()))
}

/// Returns `directive`, one of Vigie alone if it is `debug` or `trace`: what libraries write at these levels may change
/// with each of their versions, and has to be asked for by name.
fn without_library_debug_logs(directive: &str) -> String {
    match directive.to_ascii_lowercase().as_str() {
        level @ ("debug" | "trace") => format!("info,vigie={level}"),
        _ => directive.to_owned(),
    }
}

/// Standard error. The secrets of the check or delivery that writes a line are masked in it.
#[derive(Clone, Copy)]
struct RedactedStderr;

impl Write for RedactedStderr {
    /// Writes a whole line: the log layers call this once for each.
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        std::io::stderr().write_all(redact_in_scope(&text).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stderr().flush()
    }
}

/// Sends the logs of the whole process to standard error.
pub fn init_logging(options: &LogOptions) -> Result<(), LogSetupError> {
    let registry = tracing_subscriber::registry().with(parse_log_filter(&options.filter)?);
    match options.format {
        LogFormat::Text => {
            let log_layer =
                fmt::layer().with_writer(|| RedactedStderr).with_ansi(std::io::stderr().is_terminal());
            registry.with(log_layer.with_target(false)).try_init()?;
        }
        LogFormat::Json => {
            // `span` contains the id of the request that a line belongs to.
            let log_layer = fmt::layer().json().flatten_event(true).with_span_list(false);
            registry.with(log_layer.with_writer(|| RedactedStderr)).try_init()?;
        }
    }
    Ok(())
}

/// Makes every panic a single log line, without a backtrace on standard error. Panics of checks are caught, and their
/// output would break a log of JSON lines.
pub fn install_panic_hook() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        let panic = redact_in_scope(info.payload_as_str().unwrap_or("no message"));
        tracing::error!(panic = &*panic, place, "a task panicked; this is a bug in Vigie, please report it");
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_parsed_and_a_misspelt_one_is_named() {
        for valid in ["info", "warn,vigie::net=debug", "vigie=trace", "off", "INFO"] {
            assert!(parse_log_filter(valid).is_ok(), "{valid}");
        }
        for invalid in ["inof", "", "info,loud", "vigie=loud"] {
            let error = parse_log_filter(invalid).expect_err(invalid).to_string();
            assert!(error.contains(&format!("`{invalid}`")) && error.contains("`debug`"), "{error}");
        }
    }

    #[test]
    fn no_level_lets_a_library_log_passwords() {
        let subscriber = tracing_subscriber::registry().with(parse_log_filter("trace").unwrap());
        tracing::subscriber::with_default(subscriber, || {
            assert!(tracing::enabled!(target: "vigie::wire", tracing::Level::TRACE));
            assert!(!tracing::enabled!(target: "async_imap::imap_stream", tracing::Level::TRACE));
            assert!(!tracing::enabled!(target: "suppaftp::sync_ftp", tracing::Level::DEBUG));
            assert!(!tracing::enabled!(target: "cookie_store::cookie_store", tracing::Level::DEBUG));
            assert!(!tracing::enabled!(target: "tungstenite::protocol", tracing::Level::TRACE));
            assert!(!tracing::enabled!(target: "a_new_library", tracing::Level::DEBUG));
            assert!(tracing::enabled!(target: "a_new_library", tracing::Level::INFO));
        });
        for filter in
            ["async_imap=trace", "info,async_imap::imap_stream=trace", "suppaftp=debug", "tungstenite=trace"]
        {
            let error = parse_log_filter(filter).unwrap_err().to_string();
            assert!(error.contains("would write passwords"), "{error}");
        }
        let subscriber = tracing_subscriber::registry().with(parse_log_filter("DEBUG,rustls=trace").unwrap());
        tracing::subscriber::with_default(subscriber, || {
            assert!(tracing::enabled!(target: "rustls::conn", tracing::Level::TRACE));
            assert!(tracing::enabled!(target: "vigie::net", tracing::Level::DEBUG));
            assert!(!tracing::enabled!(target: "vigie::net", tracing::Level::TRACE));
        });
    }

    #[test]
    fn formats_are_parsed_and_an_unknown_one_is_named() {
        assert_eq!("json".parse::<LogFormat>().unwrap(), LogFormat::Json);
        let error = "xml".parse::<LogFormat>().unwrap_err().to_string();
        assert_eq!(error, "`xml` is not a log format; use `text` or `json`");
    }

    #[test]
    fn field_names_are_sorted_and_unique() {
        assert!(LOG_FIELDS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
