//! Fields of every monitor type (interface.md 2.1), and groups of fields that several types share.

use super::super::field::{Access, DefaultValue, Field, FieldType, LegacyEncoding};
use super::ids::ID;
use super::sub_objects::{CUSTOM_PROPERTY, LOCATION};
use crate::syntax::text_format::TextFormat;

/// Allowed minutes between two runs (interface.md 2.1).
pub const INTERVALS: &[i64] = &[1, 2, 3, 4, 5, 6, 10, 15, 20, 30, 60, 120];

/// Allowed seconds of a timeout (interface.md 2.1).
pub const TIMEOUTS: &[i64] =
    &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 45, 60, 75, 90, 120, 150, 180, 240, 300];

/// Allowed minutes between two full pages; −1 is never (interface.md 2.2).
pub const FULLPAGE_INTERVALS: &[i64] = &[-1, 1, 2, 3, 4, 5, 6, 10, 15, 20, 30, 60, 120];

/// Modes; the default first (interface.md 2.1).
pub const LOCATION_MODES: &[&str] =
    &["Global Verify", "Primary", "Global Notify", "Round Robin", "SLA (MultiPOP)"];

/// Codes of the modes in the legacy API (behaviour.md 2).
pub const LOCATION_MODE_CODES: &[(&str, &str)] = &[
    ("P", "Primary"),
    ("G", "Global Notify"),
    ("V", "Global Verify"),
    ("R", "Round Robin"),
    ("S", "SLA (MultiPOP)"),
];

static LOCATION_ITEM: FieldType = FieldType::Object(&LOCATION);
static PROPERTY_ITEM: FieldType = FieldType::Object(&CUSTOM_PROPERTY);

/// Id, billing plan and name.
pub static IDENTITY_FIELDS: &[Field] = &[
    Field::new("id", ID, "Id, assigned by Vigie").read_only(),
    Field::text("billing_plancode", 255, "Plan that its checks are counted under").required(),
    Field::name("name", 255, "What people call it").required(),
];

/// How the monitor runs; a bulk edit sets the same fields (interface.md 2.5).
pub static SCHEDULE_FIELDS: &[Field] = &[
    Field::flag("enabled", true, "Whether runs are planned; tests on demand stay possible without"),
    Field::new("interval", FieldType::IntEnum(INTERVALS), "Minutes between two runs")
        .with_default(DefaultValue::Int(5)),
    Field::choice("mode", LOCATION_MODES, "How many locations check a run, and when that alerts")
        .legacy(LegacyEncoding::Coded(LOCATION_MODE_CODES)),
    Field::flag("rotate_locations", false, "Each run takes the next locations of the pool")
        .legacy(LegacyEncoding::Omitted),
    Field::int("monitor_location_count", 0, 1000, "Locations of a run; 0 for the default of the mode")
        .with_default(DefaultValue::Int(0)),
    Field::flag("notify_on_error", true, "Notify on errors, clears, missing data and traceroutes"),
    Field::new("home_location", ID, "First location, and the one that alerts in mode Primary"),
    Field::flag("retry_on_failure", true, "A second attempt at once, at the same location"),
    Field::flag("allow_internal_testing", true, "Permits checks outside of the schedule"),
    Field::flag("traceroute_on_error", true, "A traceroute when the target cannot be reached"),
    Field::new("timeout", FieldType::IntEnum(TIMEOUTS), "Seconds that one attempt may take as a whole")
        .with_default(DefaultValue::Int(30)),
    Field::text("alert_note", 1000, "Text that goes into every alert"),
    Field::text("note", 1000, "Note for people who view the monitor"),
    Field::list("custom_properties", &PROPERTY_ITEM, 100, "Values of the account's properties, to filter by"),
    Field::list("locations", &LOCATION_ITEM, 1000, "Its pool of locations; empty is the account's defaults"),
];

/// Values of `interval_seconds`.
const INTERVAL_SECONDS: &[i64] = &[5, 10, 15, 20, 30];

/// Intervals below a minute: for types that use the network alone.
pub static SHORT_INTERVAL_FIELDS: &[Field] = &[Field::new(
    "interval_seconds",
    FieldType::IntEnum(INTERVAL_SECONDS),
    "Seconds between two runs, instead of `interval`, which is 1 then",
)
.vigie_extension()];

/// Most monitors that one may depend on.
pub const MAX_PARENTS: usize = 20;

/// What a monitor depends on.
pub static DEPENDENCY_FIELDS: &[Field] = &[Field::list(
    "depends_on",
    &ID,
    MAX_PARENTS,
    "Monitors without which it cannot work: while one is down, errors of this one open no outage",
)
.vigie_extension()];

/// Fields that Vigie sets (interface.md 2.1, ro).
pub static READ_ONLY_FIELDS: &[Field] = &[
    Field::new("access_type", FieldType::TextEnum(&["View", "Edit"]), "Whether the caller may edit it now")
        .read_only(),
    Field::new(
        "blackout_ids",
        FieldType::List { item_type: &ID, min: 0, max: 10_000 },
        "Its blackouts that are not past",
    )
    .read_only(),
    Field::new("customer_id", ID, "The account that owns it").read_only(),
    Field::new("has_active_performance_alerts", FieldType::Bool, "A performance alert is raised now")
        .read_only(),
    Field::new("has_performance_alerts", FieldType::Bool, "It has a performance alert").read_only(),
    Field::new("has_sla", FieldType::Bool, "It has a service level agreement").read_only(),
    Field::text("paused_until", 32, "End of its pause, UTC; null when it is not paused")
        .read_only()
        .vigie_extension(),
    Field::new("monitor_uses_own_locations", FieldType::Bool, "It has locations of its own").read_only(),
    Field::new("sla_id", ID, "Its service level agreement").read_only(),
];

/// Whether the host name is resolved, or else the address to use instead (interface.md 2.2).
pub static RESOLUTION_FIELDS: &[Field] = &[
    Field::text_with_format(
        "ipv4",
        15,
        TextFormat::Ipv4,
        "Address to connect to when `resolve_dns` is false",
    ),
    Field::flag("resolve_dns", true, "Resolve the name afresh for each attempt"),
];

/// The port of the service.
pub static PORT_FIELDS: &[Field] =
    &[Field::int("port", 1, 65535, "Port of the service; without it that of the protocol")];

/// How a TLS certificate is verified.
pub static TRUST_FIELDS: &[Field] = &[
    Field::flag("verify_certificate", true, "Whether chain, name and dates of the certificate must hold")
        .vigie_extension(),
    Field::new("ca_cert_id", ID, "A private authority that is trusted beside the system's").vigie_extension(),
];

/// Whether revoked certificates are looked for. Browsers have rules of their own.
pub static REVOCATION_FIELDS: &[Field] = &[Field::flag(
    "check_revocation",
    false,
    "Asks the authorities by OCSP and revocation lists whether a certificate of the chain is revoked",
)
.vigie_extension()];

/// TLS versions that can be pinned; 2 and 3 are SSL, 10 to 12 TLS 1.0 to 1.2 (interface.md 2.2).
pub const SSL_VERSIONS: &[&str] = &["", "2", "3", "10", "11", "12", "13"];

/// Client certificate (interface.md 2.2, FTPS and browserscript).
pub static CLIENT_CERTIFICATE_FIELDS: &[Field] = &[
    Field::new("ssl_cert_id", ID, "Client certificate that is presented"),
    Field::text("ssl_cert_format", 32, "Format of that certificate").read_only(),
    Field::text("ssl_cert_name", 255, "Name of that certificate").read_only(),
    Field::flag("use_client_ssl_cert", false, "Whether the client certificate is shown"),
];

/// Version of TLS (interface.md 2.2, FTPS).
pub static TLS_VERSION_FIELDS: &[Field] = &[Field::choice(
    "use_ssl_version",
    SSL_VERSIONS,
    "The one version to speak; empty is the best of 1.2 and 1.3",
)];

/// The keyword (behaviour.md 4; interface.md 2.2, browserscript).
pub static KEYWORD_FIELDS: &[Field] = &[
    Field::text("keyword_string", 255, "What has to be in the page; empty is nothing")
        .with_default(DefaultValue::Text("")),
    Field::choice("keyword_match_type", &["Plain Text", "Regular Expression"], "How the keyword is read")
        .legacy(LegacyEncoding::InputAliases(&[
            ("PlainText", "Plain Text"),
            ("RegularExpression", "Regular Expression"),
        ])),
    Field::flag("keyword_match_invert", false, "Finding the keyword is the error")
        .legacy(LegacyEncoding::EnabledDisabled),
    Field::flag("keyword_match_case", true, "Upper and lower case differ"),
    Field::flag("keyword_match_whole_word", true, "Only whole words are found"),
    Field::flag("keyword_allow_line_wrap", true, "A space in the keyword also fits a line break"),
    Field::flag("keyword_normalize_spaces", true, "A run of white space counts as one space"),
];

/// The full page: objects of the page, and their changes (fields.md 3).
pub static FULL_PAGE_FIELDS: &[Field] = &[
    Field::new(
        "interval_fullpage",
        FieldType::IntEnum(FULLPAGE_INTERVALS),
        "Minutes between full pages; -1 is never",
    )
    .with_default(DefaultValue::Int(-1)),
    Field::new(
        "fullpage_object_timeout",
        FieldType::IntEnum(TIMEOUTS),
        "Seconds that one object of the page may take",
    )
    .with_default(DefaultValue::Int(10)),
    Field::flag("check_fullpage_missing_objects", false, "A change of the set of objects is judged"),
    Field::flag("check_fullpage_object_sizes", false, "A change of the sizes of objects is judged"),
    Field::flag("notify_on_fullpage_errors", false, "Problems of the full page are errors, not warnings"),
    Field::flag("notify_on_content_change", false, "Notify on changes of the page; the outcome stays"),
];

/// Address families (fields.md 3).
pub static ADDRESS_FAMILY_FIELDS: &[Field] = &[Field::choice(
    "ipv6_enabled",
    &["Disabled", "Preferred", "Enforced"],
    "Disabled is IPv4 only, Preferred IPv6 and then IPv4, Enforced IPv6 only",
)];

/// A forward proxy of the settings.
pub static PROXY_FIELDS: &[Field] =
    &[Field::new("proxy_id", ID, "Proxy that the check goes through").vigie_extension()];

/// Creates a field that only Vigie sets.
pub(super) const fn read_only_field(
    name: &'static str,
    field_type: FieldType,
    description: &'static str,
) -> Field {
    Field::new(name, field_type, description).access(Access::ReadOnly)
}
