//! What an account has beside monitors (behaviour.md 1): users, locations, properties, certificates, the
//! account itself; and what is answered about it: audit entries, tests on demand, tokens.

use super::super::field::{Field, Kind, Preset, Table};
use super::ids::ID;
use super::parts::LOCATION;
use super::shared::reported;
use crate::domain::Role;
use crate::syntax::format::TextFormat;

const WORD: Kind = Kind::Text { min: 0, max: 255, format: TextFormat::Any };
const MOMENT: Kind = Kind::Text { min: 0, max: 32, format: TextFormat::Any };
const COUNT: Kind = Kind::Int { min: 0, max: i64::MAX };
static A_NAME: Kind = WORD;

/// Characters of a password at most, as of a login.
const PASSWORD: usize = 1024;

/// A user of the account.
pub static USER: Table = Table::new(
    "User",
    "Who logs in",
    &[&[
        reported("id", ID, "Its number"),
        Field::text("login", 255, "What the user logs in as; unique over all accounts").required(),
        Field::text("name", 255, "What people call the user").or(Preset::Text("")),
        Field::new("role", Kind::TextOf(&Role::NAMES), "What the user may do").required(),
        Field::flag("enabled", true, "Whether the user may log in"),
        Field::flag(
            "locked",
            false,
            "Locked by an admin; as if not enabled, but told apart in the legacy API",
        ),
        Field::text("password", PASSWORD, "Never shown; a new one ends all tokens and sessions")
            .required()
            .secret(),
        reported("customer_id", ID, "The account"),
        reported("created_at", MOMENT, "When it was made, UTC"),
        reported("created_by", WORD, "Login of who made it"),
    ]],
);

/// How the agents of a location are.
pub static LOCATION_HEALTH: Table = Table::new(
    "LocationHealth",
    "The agents of a location",
    &[&[
        reported("agents", COUNT, "Agents that were ever enrolled"),
        reported("alive", COUNT, "Those that are heard of now"),
        reported(
            "state",
            Kind::TextOf(&["alive", "away"]),
            "Away: nothing runs checks there, or what does is cut off from its network",
        ),
    ]],
);

/// A monitoring location as accounts see it.
pub static LOCATION_RECORD: Table = Table::new(
    "LocationRecord",
    "A monitoring location and the health of its agents",
    &[&[
        reported("id", ID, "Its number"),
        Field::text("name", 255, "What people call it").required(),
        Field::new("region", Kind::Int { min: 0, max: 1_000_000 }, "Code of its region").or(Preset::Int(0)),
        Field::flag("private", false, "For this account alone; those of accounts other than 1 always are"),
        Field::object("health", &LOCATION_HEALTH, "Its agents").read_only(),
        reported("managed", Kind::Flag, "It stands in the settings of the server, and is changed there"),
    ]],
);

/// What only the answer to a new location shows.
pub static LOCATION_SECRET: Table = Table::new(
    "LocationSecret",
    "The secret with which an agent of a new location enrols; shown this once",
    &[&[Field::text("enrolment_secret", 255, "The secret").read_only()]],
);

/// A value of a property.
pub static PROPERTY_VALUE: Table = Table::new(
    "PropertyValue",
    "A value of a property",
    &[&[
        Field::new("id", ID, "Its number; without it the number of the same text, or a new one"),
        Field::text("value", 1000, "Its text").required(),
    ]],
);

static VALUES: Kind = Kind::Object(&PROPERTY_VALUE);

/// A custom property of the account with its values.
pub static PROPERTY: Table = Table::new(
    "Property",
    "A custom property that monitors can have a value of",
    &[&[
        reported("id", ID, "Its number"),
        Field::text("name", 255, "Its name; unique in the account").required(),
        Field::list("values", &VALUES, 1000, "Its values; those that a monitor has cannot be removed"),
    ]],
);

/// What a certificate is for.
pub const CERTIFICATE_KINDS: &[&str] = &["client", "authority"];

/// A client certificate, or an authority that servers are checked against.
pub static CERTIFICATE: Table = Table::new(
    "Certificate",
    "A client certificate with its key (`ssl_cert_id`), or a private authority (`ca_cert_id`)",
    &[&[
        reported("id", ID, "Its number"),
        Field::text("name", 255, "What people call it").required(),
        Field::new("kind", Kind::TextOf(CERTIFICATE_KINDS), "What it is for").required(),
        Field::text("pem", 500_000, "Certificates, and for a client its key, as PEM; never shown").secret(),
        Field::formatted("pkcs12", 500_000, TextFormat::Base64, "The same as PKCS#12; never shown").secret(),
        Field::text("password", PASSWORD, "Opens the PKCS#12; not kept").secret(),
        reported("format", Kind::TextOf(&["PEM", "PKCS#12"]), "As it came in"),
        reported("subject", WORD_LONG, "Whom it is for"),
        reported("issuer", WORD_LONG, "Who vouches for it"),
        reported("not_before", MOMENT, "From when it is valid, UTC"),
        reported("not_after", MOMENT, "Until when it is valid, UTC"),
        reported("names", Kind::List { of: &A_NAME, min: 0, max: 100 }, "Host names and addresses in it"),
        reported("fingerprint", WORD, "SHA-256 of the certificate, hexadecimal"),
        reported("key_type", WORD, "Kind and size of its key"),
        reported("certificates", COUNT, "How many certificates there are, with the chain"),
    ]],
);

const WORD_LONG: Kind = Kind::Text { min: 0, max: 4096, format: TextFormat::Any };

static LOCATIONS: Kind = Kind::Object(&LOCATION);

/// The account of the caller.
pub static ACCOUNT: Table = Table::new(
    "Account",
    "The account of the caller",
    &[&[
        reported("id", ID, "Its number"),
        reported("name", WORD, "What people call it"),
        Field::text("time_zone", 64, "Zone of window times, such as `Europe/Paris`").or(Preset::Text("UTC")),
        Field::list(
            "default_locations",
            &LOCATIONS,
            1000,
            "Locations of monitors without their own, the home location first; empty: that of the server",
        ),
        Field::choice(
            "multipop_threshold",
            &["2", "1", "3", "all"],
            "Locations that have to fail before a monitor of mode SLA (MultiPOP) alerts",
        ),
        Field::text("brand", 64, "Name at the start of alerts").or(Preset::Text("Vigie")),
        Field::int(
            "certificate_days",
            1,
            3650,
            "Days before the end of a certificate at which warnings begin; without it the server's setting",
        ),
    ]],
);

/// An account, to those who may see several.
pub static CUSTOMER: Table = Table::new(
    "Customer",
    "An account",
    &[&[reported("id", ID, "Its number"), Field::text("name", 255, "What people call it").required()]],
);

/// An entry of the audit trail.
pub static AUDIT_ENTRY: Table = Table::new(
    "AuditEntry",
    "Who changed what",
    &[&[
        reported("id", ID, "Its number; later entries have higher ones"),
        reported("at", MOMENT, "When, UTC"),
        reported("login", WORD, "Login of who did it"),
        reported("address", WORD, "From where; empty on the host itself"),
        reported("via", WORD, "Through which door, such as `v3`, `legacy`, `apply`"),
        reported("action", WORD, "What was done, such as `create`, `change`, `delete`"),
        reported("object", WORD, "To what kind of thing, such as `monitor`"),
        reported("object_id", ID, "To which one; null when to none"),
        reported("object_name", WORD_LONG, "Its name then"),
        reported("before", Kind::Any, "The fields that changed, as they were; without secrets"),
        reported("after", Kind::Any, "The same as they became"),
    ]],
);

/// A test on demand.
pub static TEST: Table = Table::new(
    "Test",
    "A check out of schedule; it stays out of history, alerts and agreements",
    &[&[
        reported("id", ID, "Its number"),
        reported("monitor_id", ID, "The monitor"),
        reported("location_id", ID, "The location"),
        reported("progress", Kind::IntOf(&[1, 2, 3]), "1 running, 2 succeeded, 3 failed"),
        reported("result_url", WORD_LONG, "Where this is found"),
        reported("login", WORD, "Who ordered it"),
        reported("ordered_at", MOMENT, "When it was ordered, UTC"),
        reported("ended_at", MOMENT, "When it ended, UTC; null while it runs"),
        reported("error", WORD, "Why there is no result; null when there is none to tell"),
        reported("result", Kind::Any, "What the check came to, as in /results; null while it runs"),
    ]],
);

/// The answer to a login.
pub static ACCESS_TOKEN: Table = Table::new(
    "AccessToken",
    "What opens version 3 for an hour",
    &[&[
        reported("access_token", WORD, "The token, for `Authorization: Bearer`"),
        reported("expires_in", COUNT, "Seconds that it lives"),
        reported("token_type", Kind::TextOf(&["Bearer"]), "How it is sent"),
    ]],
);
