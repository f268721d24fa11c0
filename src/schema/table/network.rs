//! `tcp`, `ping` and `name-server` (interface.md 2.2, fields.md 2).

use super::super::field::{DefaultValue, Field, FieldTable, FieldType};
use super::shared::{
    DEPENDENCY_FIELDS, IDENTITY_FIELDS, PORT_FIELDS, READ_ONLY_FIELDS, RESOLUTION_FIELDS, REVOCATION_FIELDS,
    SCHEDULE_FIELDS, SHORT_INTERVAL_FIELDS, TRUST_FIELDS,
};
use super::sub_objects::DIALOGUE_LINE;
use crate::syntax::text_format::TextFormat;

static DIALOGUE_LINE_ITEM: FieldType = FieldType::Object(&DIALOGUE_LINE);
static EXPECTED_ANSWER_ITEM: FieldType = FieldType::Text { min: 1, max: 1024, format: TextFormat::Any };

/// What `record_type` can be: a type that alone is queried, or `auto`.
pub const RECORD_TYPES: &[&str] =
    &["auto", "A", "AAAA", "CAA", "CNAME", "DNSKEY", "DS", "MX", "NS", "PTR", "SOA", "SRV", "TXT"];

static HOST_FIELDS: &[Field] =
    &[Field::text_with_format("hostname", 255, TextFormat::Host, "The host that is checked").required()];

static REQUIRED_PORT_FIELDS: &[Field] =
    &[Field::int("port", 1, 65535, "Port that is connected to").required()];

static TCP_FIELDS: &[Field] = &[
    Field::choice(
        "tls",
        &[
            "none",
            "implicit",
            "starttls-smtp",
            "starttls-imap",
            "starttls-pop3",
            "starttls-ftp",
            "starttls-postgres",
        ],
        "TLS at once, or after the protocol's STARTTLS command",
    )
    .vigie_extension(),
    Field::list("dialogue", &DIALOGUE_LINE_ITEM, 50, "Dialogue lines, in order").vigie_extension(),
];

/// `tcp`.
pub static TCP: FieldTable = FieldTable::new(
    "tcp",
    "A TCP connection, optionally with TLS and a dialogue",
    &[
        IDENTITY_FIELDS,
        HOST_FIELDS,
        REQUIRED_PORT_FIELDS,
        RESOLUTION_FIELDS,
        TCP_FIELDS,
        TRUST_FIELDS,
        REVOCATION_FIELDS,
        SCHEDULE_FIELDS,
        SHORT_INTERVAL_FIELDS,
        DEPENDENCY_FIELDS,
        READ_ONLY_FIELDS,
    ],
);

static PING_FIELDS: &[Field] = &[
    Field::int("ping_count", 1, 20, "Echo requests").with_default(DefaultValue::Int(5)).vigie_extension(),
    Field::int("ping_size", 8, 65_000, "Bytes of data in each")
        .with_default(DefaultValue::Int(56))
        .vigie_extension(),
    Field::int("loss_threshold", 1, 100, "Percent lost from which on it is an error")
        .with_default(DefaultValue::Int(100))
        .vigie_extension(),
];

/// `ping`.
pub static PING: FieldTable = FieldTable::new(
    "ping",
    "Echo requests",
    &[
        IDENTITY_FIELDS,
        HOST_FIELDS,
        RESOLUTION_FIELDS,
        PING_FIELDS,
        SCHEDULE_FIELDS,
        SHORT_INTERVAL_FIELDS,
        DEPENDENCY_FIELDS,
        READ_ONLY_FIELDS,
    ],
);

static NAME_SERVER_FIELDS: &[Field] = &[
    Field::text_with_format("name_to_resolve", 255, TextFormat::Host, "Name that is asked for"),
    Field::int("name_to_resolve_id", 0, 1_000_000, "A name of the settings; 0 is the default one")
        .with_default(DefaultValue::Int(0)),
    Field::choice(
        "record_type",
        RECORD_TYPES,
        "Type of record that is asked for; auto is A, then AAAA when there is none",
    )
    .vigie_extension(),
    Field::list("expected_answers", &EXPECTED_ANSWER_ITEM, 100, "Values that the answer has to have")
        .vigie_extension(),
    Field::choice(
        "transport",
        &["udp", "tcp", "tls", "https"],
        "How it is asked, at port 53; tls at 853, https at 443 and `/dns-query`",
    )
    .vigie_extension(),
    Field::flag(
        "require_dnssec",
        false,
        "The server has to vouch for the answer by DNSSEC (AD), as only a validating resolver does",
    )
    .vigie_extension(),
];

/// `name-server`.
pub static NAME_SERVER: FieldTable = FieldTable::new(
    "name-server",
    "A query to a name server",
    &[
        IDENTITY_FIELDS,
        HOST_FIELDS,
        NAME_SERVER_FIELDS,
        PORT_FIELDS,
        RESOLUTION_FIELDS,
        TRUST_FIELDS,
        REVOCATION_FIELDS,
        SCHEDULE_FIELDS,
        SHORT_INTERVAL_FIELDS,
        DEPENDENCY_FIELDS,
        READ_ONLY_FIELDS,
    ],
);
