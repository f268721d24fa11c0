//! `ftp` and `ftp-ssl` (interface.md 2.2).

use super::super::field::{DefaultValue, Field, FieldTable};
use super::shared::{
    CLIENT_CERTIFICATE_FIELDS, DEPENDENCY_FIELDS, IDENTITY_FIELDS, PORT_FIELDS, READ_ONLY_FIELDS,
    RESOLUTION_FIELDS, REVOCATION_FIELDS, SCHEDULE_FIELDS, SHORT_INTERVAL_FIELDS, TLS_VERSION_FIELDS,
    TRUST_FIELDS,
};
use crate::syntax::text_format::TextFormat;

/// Schemes of an FTP host.
pub const FTP_SCHEMES: &[&str] = &["ftp", "ftps"];

static FTP_FIELDS: &[Field] = &[
    Field::text_with_format("hostname", 255, TextFormat::ServiceAddress(FTP_SCHEMES), "The server")
        .required(),
    Field::flag("enable_ftp_upload", false, "Also upload, compare and delete a small file").required_in_v3(),
    Field::text("ftp_username", 255, "User name; empty is anonymous").with_default(DefaultValue::Text("")),
    Field::text("ftp_password", 255, "Password").secret(),
];

/// `ftp`.
pub static FTP: FieldTable = FieldTable::new(
    "ftp",
    "An FTP session",
    &[
        IDENTITY_FIELDS,
        FTP_FIELDS,
        PORT_FIELDS,
        RESOLUTION_FIELDS,
        SCHEDULE_FIELDS,
        SHORT_INTERVAL_FIELDS,
        DEPENDENCY_FIELDS,
        READ_ONLY_FIELDS,
    ],
);

/// `ftp-ssl`.
pub static FTP_SSL: FieldTable = FieldTable::new(
    "ftp-ssl",
    "An FTP session over TLS",
    &[
        IDENTITY_FIELDS,
        FTP_FIELDS,
        PORT_FIELDS,
        RESOLUTION_FIELDS,
        CLIENT_CERTIFICATE_FIELDS,
        TLS_VERSION_FIELDS,
        TRUST_FIELDS,
        REVOCATION_FIELDS,
        SCHEDULE_FIELDS,
        SHORT_INTERVAL_FIELDS,
        DEPENDENCY_FIELDS,
        READ_ONLY_FIELDS,
    ],
);
