//! `email-imap`, `email-pop`, `email-smtp` and `email-round-trip` (interface.md 2.2, fields.md 2).

use super::super::field::{Field, FieldTable};
use super::shared::{
    DEPENDENCY_FIELDS, IDENTITY_FIELDS, PORT_FIELDS, READ_ONLY_FIELDS, RESOLUTION_FIELDS, REVOCATION_FIELDS,
    SCHEDULE_FIELDS, SHORT_INTERVAL_FIELDS, TRUST_FIELDS,
};
use crate::syntax::text_format::TextFormat;

/// Schemes of an IMAP host.
pub const IMAP_SCHEMES: &[&str] = &["imap", "imaps"];
/// Schemes of a POP3 host.
pub const POP_SCHEMES: &[&str] = &["pop3", "pop3s"];
/// Schemes of an SMTP host.
pub const SMTP_SCHEMES: &[&str] = &["smtp", "smtps"];

static SESSION_FIELDS: &[Field] = &[
    Field::flag("require_tls", false, "Fail when the server does not offer TLS").vigie_extension(),
    Field::choice("auth_method", &["auto", "plain", "login", "cram-md5", "xoauth2"], "How to log in")
        .vigie_extension(),
];

const fn hostname_field(schemes: &'static [&'static str]) -> Field {
    Field::text_with_format("hostname", 255, TextFormat::ServiceAddress(schemes), "The server").required()
}

static IMAP_FIELDS: &[Field] = &[
    hostname_field(IMAP_SCHEMES),
    Field::text("imap_username", 255, "User name; without it there is no login"),
    Field::text("imap_password", 255, "Password").secret(),
];

/// `email-imap`.
pub static IMAP: FieldTable = FieldTable::new(
    "email-imap",
    "An IMAP session",
    &[
        IDENTITY_FIELDS,
        IMAP_FIELDS,
        PORT_FIELDS,
        RESOLUTION_FIELDS,
        SESSION_FIELDS,
        TRUST_FIELDS,
        REVOCATION_FIELDS,
        SCHEDULE_FIELDS,
        SHORT_INTERVAL_FIELDS,
        DEPENDENCY_FIELDS,
        READ_ONLY_FIELDS,
    ],
);

static POP_FIELDS: &[Field] = &[
    hostname_field(POP_SCHEMES),
    Field::text("pop_username", 255, "User name; without it there is no login"),
    Field::text("pop_password", 255, "Password").secret(),
];

/// `email-pop`.
pub static POP: FieldTable = FieldTable::new(
    "email-pop",
    "A POP3 session",
    &[
        IDENTITY_FIELDS,
        POP_FIELDS,
        PORT_FIELDS,
        RESOLUTION_FIELDS,
        SESSION_FIELDS,
        TRUST_FIELDS,
        REVOCATION_FIELDS,
        SCHEDULE_FIELDS,
        SHORT_INTERVAL_FIELDS,
        DEPENDENCY_FIELDS,
        READ_ONLY_FIELDS,
    ],
);

static SMTP_FIELDS: &[Field] = &[
    hostname_field(SMTP_SCHEMES),
    Field::text("smtp_username", 255, "User name; without it there is no login"),
    Field::text("smtp_password", 255, "Password").secret(),
];

/// `email-smtp`.
pub static SMTP: FieldTable = FieldTable::new(
    "email-smtp",
    "An SMTP session",
    &[
        IDENTITY_FIELDS,
        SMTP_FIELDS,
        PORT_FIELDS,
        RESOLUTION_FIELDS,
        SESSION_FIELDS,
        TRUST_FIELDS,
        REVOCATION_FIELDS,
        SCHEDULE_FIELDS,
        SHORT_INTERVAL_FIELDS,
        DEPENDENCY_FIELDS,
        READ_ONLY_FIELDS,
    ],
);

static ROUND_TRIP_FIELDS: &[Field] = &[
    Field::text_with_format(
        "smtp_hostname",
        255,
        TextFormat::ServiceAddress(SMTP_SCHEMES),
        "Server that takes the message",
    )
    .required(),
    Field::text_with_format(
        "pop3_hostname",
        255,
        TextFormat::ServiceAddress(POP_SCHEMES),
        "Server of the mailbox",
    )
    .required(),
    Field::text_with_format(
        "email",
        255,
        TextFormat::Email,
        "Address that the message goes to and is read from",
    )
    .required(),
    Field::text("email_username", 255, "User name of the mailbox; empty is the address"),
    Field::text("email_password", 255, "Password of the mailbox").secret(),
];

/// `email-round-trip`.
pub static ROUND_TRIP: FieldTable = FieldTable::new(
    "email-round-trip",
    "A message sent by SMTP and fetched by POP3",
    &[
        IDENTITY_FIELDS,
        ROUND_TRIP_FIELDS,
        SESSION_FIELDS,
        TRUST_FIELDS,
        REVOCATION_FIELDS,
        SCHEDULE_FIELDS,
        SHORT_INTERVAL_FIELDS,
        DEPENDENCY_FIELDS,
        READ_ONLY_FIELDS,
    ],
);
