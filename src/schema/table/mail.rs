//! `email-imap`, `email-pop`, `email-smtp` and `email-round-trip` (interface.md 2.2, fields.md 2).

use super::super::field::{Field, Table};
use super::shared::{IDENTITY, IPV4_ADDRESS, PORT, REPORTED, RUNNING, TRUST};
use crate::syntax::format::TextFormat;

/// Schemes of an IMAP host.
pub const IMAP_SCHEMES: &[&str] = &["imap", "imaps"];
/// Schemes of a POP3 host.
pub const POP_SCHEMES: &[&str] = &["pop3", "pop3s"];
/// Schemes of an SMTP host.
pub const SMTP_SCHEMES: &[&str] = &["smtp", "smtps"];

static SESSION: &[Field] = &[
    Field::flag("require_tls", false, "No TLS on offer is an error").extension(),
    Field::choice("auth_method", &["auto", "plain", "login", "cram-md5", "xoauth2"], "How to log in")
        .extension(),
];

const fn server(schemes: &'static [&'static str]) -> Field {
    Field::formatted("hostname", 255, TextFormat::ServiceAddress(schemes), "The server").required()
}

static IMAP_OWN: &[Field] = &[
    server(IMAP_SCHEMES),
    Field::text("imap_username", 255, "User name; without it there is no login"),
    Field::text("imap_password", 255, "Password").secret(),
];

/// `email-imap`.
pub static IMAP: Table = Table::new(
    "email-imap",
    "An IMAP session",
    &[IDENTITY, IMAP_OWN, PORT, IPV4_ADDRESS, SESSION, TRUST, RUNNING, REPORTED],
);

static POP_OWN: &[Field] = &[
    server(POP_SCHEMES),
    Field::text("pop_username", 255, "User name; without it there is no login"),
    Field::text("pop_password", 255, "Password").secret(),
];

/// `email-pop`.
pub static POP: Table = Table::new(
    "email-pop",
    "A POP3 session",
    &[IDENTITY, POP_OWN, PORT, IPV4_ADDRESS, SESSION, TRUST, RUNNING, REPORTED],
);

static SMTP_OWN: &[Field] = &[
    server(SMTP_SCHEMES),
    Field::text("smtp_username", 255, "User name; without it there is no login"),
    Field::text("smtp_password", 255, "Password").secret(),
];

/// `email-smtp`.
pub static SMTP: Table = Table::new(
    "email-smtp",
    "An SMTP session",
    &[IDENTITY, SMTP_OWN, PORT, IPV4_ADDRESS, SESSION, TRUST, RUNNING, REPORTED],
);

static TRIP: &[Field] = &[
    Field::formatted(
        "smtp_hostname",
        255,
        TextFormat::ServiceAddress(SMTP_SCHEMES),
        "Server that takes the message",
    )
    .required(),
    Field::formatted("pop3_hostname", 255, TextFormat::ServiceAddress(POP_SCHEMES), "Server of the mailbox")
        .required(),
    Field::formatted("email", 255, TextFormat::Email, "Address that the message goes to and is read from")
        .required(),
    Field::text("email_username", 255, "User name of the mailbox; empty is the address"),
    Field::text("email_password", 255, "Password of the mailbox").secret(),
];

/// `email-round-trip`.
pub static ROUND_TRIP: Table = Table::new(
    "email-round-trip",
    "A message sent by SMTP and fetched by POP3",
    &[IDENTITY, TRIP, SESSION, TRUST, RUNNING, REPORTED],
);
