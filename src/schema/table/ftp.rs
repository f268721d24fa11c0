//! `ftp` and `ftp-ssl` (interface.md 2.2).

use super::super::field::{Field, Preset, Table};
use super::shared::{
    CLIENT_CERTIFICATE, IDENTITY, IPV4_ADDRESS, PORT, REPORTED, RUNNING, SSL_VERSION, TRUST,
};
use crate::syntax::format::TextFormat;

/// Schemes of an FTP host.
pub const FTP_SCHEMES: &[&str] = &["ftp", "ftps"];

static OWN: &[Field] = &[
    Field::formatted("hostname", 255, TextFormat::ServiceAddress(FTP_SCHEMES), "The server").required(),
    Field::flag("enable_ftp_upload", false, "Also upload, compare and delete a small file"),
    Field::text("ftp_username", 255, "User name; empty is anonymous").or(Preset::Text("")),
    Field::text("ftp_password", 255, "Password").secret(),
];

/// `ftp`.
pub static FTP: Table =
    Table::new("ftp", "An FTP session", &[IDENTITY, OWN, PORT, IPV4_ADDRESS, RUNNING, REPORTED]);

/// `ftp-ssl`.
pub static FTP_SSL: Table = Table::new(
    "ftp-ssl",
    "An FTP session over TLS",
    &[IDENTITY, OWN, PORT, IPV4_ADDRESS, CLIENT_CERTIFICATE, SSL_VERSION, TRUST, RUNNING, REPORTED],
);
