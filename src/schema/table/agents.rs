//! Tables of the agents of locations, their enrolment and their renewal.

use super::super::field::{Field, FieldTable, FieldType};
use super::ids::ID;
use super::shared::read_only_field;
use crate::syntax::text_format::TextFormat;

const SHORT_TEXT: FieldType = FieldType::Text { min: 0, max: 255, format: TextFormat::Any };
const LONG_TEXT: FieldType = FieldType::Text { min: 0, max: 65_535, format: TextFormat::Any };
const TIMESTAMP: FieldType = FieldType::Text { min: 0, max: 32, format: TextFormat::Any };
const KEY_NUMBER: FieldType = FieldType::Int { min: 0, max: u32::MAX as i64 };
const COUNT: FieldType = FieldType::Int { min: 0, max: i64::MAX };
/// Either sign: the clock of the agent may be ahead or behind.
const MILLISECONDS: FieldType = FieldType::Int { min: i64::MIN, max: i64::MAX };
static SHORT_TEXT_ITEM: FieldType = SHORT_TEXT;
/// Of an agent, which shortens its lists to 64 entries.
const NETWORK_TEXT: FieldType = FieldType::Text { min: 0, max: 300, format: TextFormat::Any };
static NETWORK_TEXT_ITEM: FieldType = NETWORK_TEXT;
const NETWORK_TEXTS: FieldType = FieldType::List { item_type: &NETWORK_TEXT_ITEM, min: 0, max: 64 };
const PROXY_IDS: FieldType = FieldType::List { item_type: &ID, min: 0, max: 64 };

/// States of an agent.
const AGENT_STATES: &[&str] = &["online", "draining", "offline", "revoked"];

/// An agent of a location on another host. What its heartbeats show is null until the first one after a start of the
/// server, and again after a day without one.
pub static AGENT: FieldTable = FieldTable::new(
    "Agent",
    "An agent of a location on another host",
    &[&[
        read_only_field("id", ID, "Id"),
        read_only_field("location_id", ID, "Its location"),
        Field::name("name", 255, "Display name").required(),
        read_only_field("public_key", SHORT_TEXT, "Its NATS key"),
        read_only_field("exchange_key", SHORT_TEXT, "Its X25519 key, for which data keys are wrapped"),
        read_only_field("version", SHORT_TEXT, "Version of its program, as it reported it last"),
        read_only_field(
            "data_key",
            KEY_NUMBER,
            "Number of the newest data key that it reported; 0 before that",
        ),
        read_only_field("enrolled_at", TIMESTAMP, "When it enrolled, UTC"),
        read_only_field(
            "enrolled_with",
            SHORT_TEXT,
            "Start of the SHA-256 of the secret that it enrolled with",
        ),
        read_only_field("revoked_at", TIMESTAMP, "When it was revoked, UTC; null for one that may connect"),
        read_only_field(
            "state",
            FieldType::TextEnum(AGENT_STATES),
            "Draining: it is shutting down; offline: no heartbeat for 15 s",
        ),
        read_only_field(
            "last_seen_at",
            TIMESTAMP,
            "When its last heartbeat came, UTC; this and what follows is null before the first one since the start of \
             the server, and after a day without one",
        ),
        read_only_field(
            "clock_offset_ms",
            MILLISECONDS,
            "By how many milliseconds the clock of the server is ahead of its own; null before it was measured",
        ),
        read_only_field(
            "lateness_ms",
            COUNT,
            "The latest start of a check after its planned time between its last two heartbeats, in milliseconds",
        ),
        read_only_field("planned_monitors", COUNT, "Monitors that it checks"),
        read_only_field(
            "running_checks",
            COUNT,
            "Checks that run, and those whose results wait for delivery",
        ),
        read_only_field("waiting_checks", COUNT, "Due checks that wait for free capacity"),
        read_only_field(
            "spooled_results",
            COUNT,
            "Results in its spool: not committed by the server, or committed in the last 10 minutes",
        ),
        read_only_field("waiting_results", COUNT, "Results in its spool that it still has to send"),
        read_only_field("spool_bytes", COUNT, "Size of its spool in bytes"),
        read_only_field("dropped_results", COUNT, "Results that its spool dropped since it started"),
        read_only_field("dropped_captures", COUNT, "Captures that its spool dropped since it started"),
        read_only_field("browser_capacity", COUNT, "Browsers that it may run at once"),
        read_only_field(
            "weight",
            COUNT,
            "Its share of the monitors of its location, compared with the others",
        ),
        read_only_field(
            "is_isolated",
            FieldType::Bool,
            "Whether it reached none of its `connectivity_targets` lately",
        ),
        read_only_field("source_addresses", NETWORK_TEXTS, "Source addresses of its connections"),
        read_only_field("interface", NETWORK_TEXT, "Network interface of its connections"),
        read_only_field("name_servers", NETWORK_TEXTS, "Its name servers; empty: those of its host"),
        read_only_field("proxy", NETWORK_TEXT, "Host and port of the proxy for its TCP connections"),
        read_only_field("proxy_ids", PROXY_IDS, "Ids of the proxies that monitors can refer to there"),
        read_only_field("egress_allow", NETWORK_TEXTS, "Networks that its checks may connect to"),
        read_only_field(
            "egress_deny",
            NETWORK_TEXTS,
            "Networks that its checks may not connect to, beside those that are always denied",
        ),
        read_only_field(
            "connectivity_targets",
            NETWORK_TEXTS,
            "Hosts and ports that tell whether it is cut off itself",
        ),
    ]],
);

/// A key that seals secrets for the agents of a location. No call shows one.
pub static LOCATION_KEY: FieldTable = FieldTable::new(
    "LocationKey",
    "A data key of a location",
    &[&[
        read_only_field("id", ID, "Id"),
        read_only_field("number", KEY_NUMBER, "Its number in the location"),
    ]],
);

/// What an agent enrols with.
pub static AGENT_ENROLMENT: FieldTable = FieldTable::new(
    "AgentEnrolment",
    "The secret of a location, and the public keys of a new agent",
    &[&[
        Field::text("secret", 255, "The enrolment secret, which works once").required().secret(),
        Field::name("name", 255, "Display name").required(),
        Field::text("public_key", 56, "NATS key of a user, `U…`").required(),
        Field::text("exchange_key", 56, "X25519 key of NATS, `X…`").required(),
        Field::text("version", 64, "Version of its program").required(),
    ]],
);

/// What an agent with an expired token renews it with.
pub static AGENT_RENEWAL: FieldTable = FieldTable::new(
    "AgentRenewal",
    "A request signed with the key of an agent",
    &[&[
        Field::text("time", 32, "When it was made, RFC 3339; 10 minutes off at most").required(),
        Field::text("nonce", 64, "Random text").required(),
        Field::text(
            "signature",
            128,
            "Ed25519 signature, as Base64 for URLs without padding, of `vigie-renew`, id, `time` and `nonce`, each \
             after a line break but the first",
        )
        .required(),
        Field::text("version", 64, "Version of its program").required(),
        Field::new("newest_data_key", KEY_NUMBER, "Number of the newest data key that it has; 0 for none")
            .required(),
    ]],
);

/// A data key, wrapped for an agent.
pub static WRAPPED_DATA_KEY: FieldTable = FieldTable::new(
    "WrappedDataKey",
    "A data key of the location in a box for the agent",
    &[&[
        read_only_field("id", KEY_NUMBER, "Its number"),
        read_only_field("wrapped", SHORT_TEXT, "The box, as Base64"),
    ]],
);

static WRAPPED_DATA_KEY_ITEM: FieldType = FieldType::Object(&WRAPPED_DATA_KEY);

/// What an agent gets when it enrols or renews.
pub static AGENT_GRANT: FieldTable = FieldTable::new(
    "AgentGrant",
    "The token of an agent, and what it needs to use it",
    &[&[
        read_only_field("agent_id", ID, "Id of the agent"),
        read_only_field("location_id", ID, "Its location"),
        read_only_field("jwt", LONG_TEXT, "Its token for NATS"),
        read_only_field("expires_at", TIMESTAMP, "When the token expires, UTC"),
        Field::list("nats_urls", &SHORT_TEXT_ITEM, 100, "URLs of the NATS servers").read_only(),
        read_only_field("nats_ca", LONG_TEXT, "Certificate of their authority, in PEM"),
        read_only_field("control_key", SHORT_TEXT, "X25519 key of the server, which wraps the data keys"),
        Field::list("data_keys", &WRAPPED_DATA_KEY_ITEM, 1000, "Data keys of the location").read_only(),
    ]],
);

/// A further enrolment secret of a location.
pub static ENROLMENT_SECRET: FieldTable = FieldTable::new(
    "EnrolmentSecret",
    "A secret with which one agent of the location enrols; shown this once",
    &[&[
        read_only_field("enrolment_secret", SHORT_TEXT, "The secret"),
        read_only_field("enrolment_expires_at", TIMESTAMP, "Until when it works, UTC"),
    ]],
);
