//! Tables of the records of an account except monitors (behaviour.md 1): users, locations, properties, certificates,
//! the account itself; and responses about it: audit entries, tests on demand, tokens.

use super::super::field::{DefaultValue, Field, FieldTable, FieldType};
use super::alerting::LANGUAGES;
use super::ids::ID;
use super::shared::read_only_field;
use super::sub_objects::LOCATION;
use crate::domain::{Role, TokenScope};
use crate::syntax::text_format::TextFormat;

const SHORT_TEXT: FieldType = FieldType::Text { min: 0, max: 255, format: TextFormat::Any };
const TIMESTAMP: FieldType = FieldType::Text { min: 0, max: 32, format: TextFormat::Any };
const COUNT: FieldType = FieldType::Int { min: 0, max: i64::MAX };
static CERTIFICATE_NAME_ITEM: FieldType = SHORT_TEXT;

/// Maximum length of a password in characters, the same as in a login.
const MAX_PASSWORD_CHARS: usize = 1024;

/// A user of the account.
pub static USER: FieldTable = FieldTable::new(
    "User",
    "A user",
    &[&[
        read_only_field("id", ID, "Id"),
        Field::text("login", 255, "What the user logs in as; unique over all accounts").required(),
        Field::name("name", 255, "What people call the user").with_default(DefaultValue::Text("")),
        Field::new("role", FieldType::TextEnum(&Role::NAMES), "What the user may do").required(),
        Field::flag("enabled", true, "Whether the user may log in"),
        Field::flag("locked", false, "Locked by an admin; like not enabled, but distinct in the legacy API"),
        Field::text("password", MAX_PASSWORD_CHARS, "Never shown; a new one ends all tokens and sessions")
            .required()
            .secret(),
        Field::text(
            "current_password",
            MAX_PASSWORD_CHARS,
            "Only to change one's own password: the one until now; not kept",
        )
        .secret(),
        read_only_field("customer_id", ID, "The account"),
        read_only_field("created_at", TIMESTAMP, "When it was made, UTC"),
        read_only_field("created_by", SHORT_TEXT, "Login of who made it"),
    ]],
);

/// The state of the agents of a location.
pub static LOCATION_HEALTH: FieldTable = FieldTable::new(
    "LocationHealth",
    "The agents of a location",
    &[&[
        read_only_field(
            "agents",
            COUNT,
            "Agents that are enrolled and not revoked; 1 for a location of the settings",
        ),
        read_only_field("alive", COUNT, "Agents that are online now and not cut off from their network"),
        read_only_field(
            "state",
            FieldType::TextEnum(&["alive", "away"]),
            "Away: nothing runs checks there, or what does is cut off from its network",
        ),
    ]],
);

/// A monitoring location as shown to accounts.
pub static LOCATION_RECORD: FieldTable = FieldTable::new(
    "LocationRecord",
    "A monitoring location and the health of its agents",
    &[&[
        read_only_field("id", ID, "Id"),
        Field::name("name", 255, "Display name").required(),
        Field::new("region", FieldType::Int { min: 0, max: 1_000_000 }, "Code of its region")
            .with_default(DefaultValue::Int(0)),
        Field::flag("private", false, "For this account alone; those of accounts other than 1 always are"),
        Field::flag("verifies", false, "It verifies failures of monitors that do not run there too"),
        Field::object("health", &LOCATION_HEALTH, "Its agents").read_only(),
        read_only_field(
            "managed",
            FieldType::Bool,
            "Defined in the settings of the server, and changed there",
        ),
    ]],
);

/// Fields that only the response to a new location has.
pub static LOCATION_ENROLMENT: FieldTable = FieldTable::new(
    "LocationSecret",
    "The secret with which an agent of a new location enrols; shown this once",
    &[&[
        Field::text("enrolment_secret", 255, "The secret, which works once").read_only(),
        read_only_field("enrolment_expires_at", TIMESTAMP, "Until when it works, UTC"),
    ]],
);

/// A value of a property.
pub static PROPERTY_VALUE: FieldTable = FieldTable::new(
    "PropertyValue",
    "A value of a property",
    &[&[
        Field::new("id", ID, "Id; without it the number of the same text, or a new one"),
        Field::text("value", 1000, "Its text").required(),
    ]],
);

static PROPERTY_VALUE_ITEM: FieldType = FieldType::Object(&PROPERTY_VALUE);

/// A custom property of the account with its values.
pub static PROPERTY: FieldTable = FieldTable::new(
    "Property",
    "A custom property that monitors can have a value of",
    &[&[
        read_only_field("id", ID, "Id"),
        Field::name("name", 255, "Its name; unique in the account").required(),
        Field::list(
            "values",
            &PROPERTY_VALUE_ITEM,
            1000,
            "Its values; those that a monitor has cannot be removed",
        ),
    ]],
);

/// Purposes of a certificate.
pub const CERTIFICATE_KINDS: &[&str] = &["client", "authority"];

/// A client certificate, or an authority that servers are verified against.
pub static CERTIFICATE: FieldTable = FieldTable::new(
    "Certificate",
    "A client certificate with its key (`ssl_cert_id`), or a private authority (`ca_cert_id`)",
    &[&[
        read_only_field("id", ID, "Id"),
        Field::name("name", 255, "Display name").required(),
        Field::new("kind", FieldType::TextEnum(CERTIFICATE_KINDS), "What it is for").required(),
        Field::text("pem", 500_000, "Certificates, and for a client its key, as PEM; never shown").secret(),
        Field::text_with_format("pkcs12", 500_000, TextFormat::Base64, "The same as PKCS#12; never shown")
            .secret(),
        Field::text("password", MAX_PASSWORD_CHARS, "Opens the PKCS#12; not kept").secret(),
        read_only_field("format", FieldType::TextEnum(&["PEM", "PKCS#12"]), "Format of the upload"),
        read_only_field("subject", LONG_TEXT, "Subject"),
        read_only_field("issuer", LONG_TEXT, "Issuer"),
        read_only_field("not_before", TIMESTAMP, "From when it is valid, UTC"),
        read_only_field("not_after", TIMESTAMP, "Until when it is valid, UTC"),
        read_only_field(
            "names",
            FieldType::List { item_type: &CERTIFICATE_NAME_ITEM, min: 0, max: 100 },
            "Host names and addresses in it",
        ),
        read_only_field("fingerprint", SHORT_TEXT, "SHA-256 of the certificate, hexadecimal"),
        read_only_field("key_type", SHORT_TEXT, "Kind and size of its key"),
        read_only_field("certificates", COUNT, "How many certificates there are, with the chain"),
    ]],
);

const LONG_TEXT: FieldType = FieldType::Text { min: 0, max: 4096, format: TextFormat::Any };

static LOCATION_ITEM: FieldType = FieldType::Object(&LOCATION);

/// The account of the caller.
pub static ACCOUNT: FieldTable = FieldTable::new(
    "Account",
    "The account of the caller",
    &[&[
        read_only_field("id", ID, "Id"),
        read_only_field("name", SHORT_TEXT, "Display name"),
        Field::text("time_zone", 64, "Zone of window times, such as `Europe/Paris`")
            .with_default(DefaultValue::Text("UTC")),
        Field::list(
            "default_locations",
            &LOCATION_ITEM,
            1000,
            "Locations of monitors without their own, the home location first; empty: that of the server",
        ),
        Field::choice(
            "multipop_threshold",
            &["2", "1", "3", "all"],
            "Locations that have to fail before a monitor of mode SLA (MultiPOP) alerts",
        ),
        Field::text("brand", 64, "Name at the start of alerts").with_default(DefaultValue::Text("Vigie")),
        Field::choice("language", LANGUAGES, "Language of messages without a template").vigie_extension(),
        Field::int(
            "certificate_days",
            1,
            3650,
            "Days before the end of a certificate at which warnings begin; without it the server's setting",
        ),
    ]],
);

/// An account, for callers who may see several.
pub static ACCOUNT_SUMMARY: FieldTable = FieldTable::new(
    "Customer",
    "An account",
    &[&[read_only_field("id", ID, "Id"), Field::name("name", 255, "Display name").required()]],
);

/// An entry of the audit trail.
pub static AUDIT_ENTRY: FieldTable = FieldTable::new(
    "AuditEntry",
    "Who changed what",
    &[&[
        read_only_field("id", ID, "Id; later entries have higher ones"),
        read_only_field("at", TIMESTAMP, "When, UTC"),
        read_only_field("login", SHORT_TEXT, "Login of who did it"),
        read_only_field("address", SHORT_TEXT, "Address of the caller; empty on the host itself"),
        read_only_field("via", SHORT_TEXT, "Interface, such as `v3`, `legacy`, `apply`"),
        read_only_field("action", SHORT_TEXT, "What was done, such as `create`, `change`, `delete`"),
        read_only_field("object", SHORT_TEXT, "Kind of object, such as `monitor`"),
        read_only_field("object_id", ID, "Id of the object; null for none"),
        read_only_field("object_name", LONG_TEXT, "Its name then"),
        read_only_field("before", FieldType::Any, "The fields that changed, as they were; without secrets"),
        read_only_field("after", FieldType::Any, "The same as they became"),
    ]],
);

/// A test on demand.
pub static ON_DEMAND_TEST: FieldTable = FieldTable::new(
    "Test",
    "A check out of schedule; it stays out of history, alerts and agreements",
    &[&[
        read_only_field("id", ID, "Id"),
        read_only_field("monitor_id", ID, "The monitor; null for a new one that is not saved"),
        read_only_field(
            "draft",
            FieldType::Bool,
            "The monitor was checked as it was sent, not as it is stored",
        ),
        read_only_field("location_id", ID, "The location"),
        read_only_field("progress", FieldType::IntEnum(&[1, 2, 3]), "1 running, 2 succeeded, 3 failed"),
        read_only_field("result_url", LONG_TEXT, "URL of this test"),
        read_only_field("login", SHORT_TEXT, "Who ordered it"),
        read_only_field("ordered_at", TIMESTAMP, "When it was ordered, UTC"),
        read_only_field("ended_at", TIMESTAMP, "When it ended, UTC; null while it runs"),
        read_only_field("error", SHORT_TEXT, "Why there is no result; null otherwise"),
        read_only_field("result", FieldType::Any, "The result, as in /results; null while it runs"),
    ]],
);

/// The response to a login.
pub static ACCESS_TOKEN: FieldTable = FieldTable::new(
    "AccessToken",
    "Access token for version 3, valid for an hour",
    &[&[
        read_only_field("access_token", SHORT_TEXT, "The token, for `Authorization: Bearer`"),
        read_only_field("expires_in", COUNT, "Lifetime in seconds"),
        read_only_field("token_type", FieldType::TextEnum(&["Bearer"]), "How it is sent"),
    ]],
);

static SCOPE_ITEM: FieldType = FieldType::TextEnum(&TokenScope::NAMES);

/// Kinds of tokens.
pub const TOKEN_KINDS: &[&str] = &["access", "legacy-session", "page-session"];

/// A token as its owner sees it.
pub static TOKEN_INFO: FieldTable = FieldTable::new(
    "TokenInfo",
    "A token or session of the caller, without the token itself",
    &[&[
        read_only_field("id", ID, "Id"),
        read_only_field("kind", FieldType::TextEnum(TOKEN_KINDS), "What it is valid for"),
        read_only_field("name", SHORT_TEXT, "Name of the program that it is for; empty for a login"),
        read_only_field(
            "scopes",
            FieldType::List { item_type: &SCOPE_ITEM, min: 0, max: 4 },
            "What it may do; null for all that its user may",
        ),
        read_only_field("created_at", TIMESTAMP, "When it was made, UTC"),
        read_only_field("expires_at", TIMESTAMP, "When it expires, UTC"),
        read_only_field("last_used_at", TIMESTAMP, "When it was used last, UTC"),
        read_only_field("address", SHORT_TEXT, "From where it was used last"),
    ]],
);

/// A link that signs in to the pages.
pub static SIGN_IN_LINK: FieldTable = FieldTable::new(
    "SignInLink",
    "Link that signs in to the pages once",
    &[&[
        read_only_field("path", SHORT_TEXT, "Path and query below the address of the server"),
        read_only_field("expires_in", COUNT, "Lifetime in seconds"),
    ]],
);
