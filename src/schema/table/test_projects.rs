//! `api`, `collection-api`, `selenium`, `security-scan` and `hostagent` (fields.md 2).

use super::super::field::{DefaultValue, Field, FieldTable, FieldType};
use super::browser::{CAPTURE_FIELDS, MAX_SCRIPT_CHARS};
use super::shared::{DEPENDENCY_FIELDS, IDENTITY_FIELDS, READ_ONLY_FIELDS, SCHEDULE_FIELDS};
use super::sub_objects::THRESHOLD;
use super::web::MAX_URL_CHARS;
use crate::syntax::text_format::TextFormat;

/// Maximum length of the Base64 text of a JAR of 50 MiB, in characters.
const MAX_JAR_CHARS: usize = 50 * 1024 * 1024 / 3 * 4 + 4;

/// Maximum length of the Base64 text of 10 MiB, in characters; all files together hold no more.
const MAX_FILE_CHARS: usize = 10 * 1024 * 1024 / 3 * 4 + 4;

static API_FIELDS: &[Field] = &[
    Field::text_with_format("script", MAX_SCRIPT_CHARS, TextFormat::Xml, "The project").required(),
    Field::text("test_suite", 255, "Suite that is run").required(),
    Field::text("test_case", 255, "Case that is run").required(),
];

/// `api`, called apiproject in the legacy API.
pub static API: FieldTable = FieldTable::new(
    "api",
    "An API test project",
    &[IDENTITY_FIELDS, API_FIELDS, CAPTURE_FIELDS, SCHEDULE_FIELDS, DEPENDENCY_FIELDS, READ_ONLY_FIELDS],
);

static COLLECTION_FIELDS: &[Field] = &[
    Field::text_with_format("script", MAX_SCRIPT_CHARS, TextFormat::VariablesJson, "The collection")
        .required(),
    Field::text_with_format(
        "environment",
        MAX_SCRIPT_CHARS,
        TextFormat::VariablesJson,
        "Values of its variables",
    )
    .vigie_extension(),
    Field::text_with_format(
        "globals",
        MAX_SCRIPT_CHARS,
        TextFormat::VariablesJson,
        "Values that the environment replaces",
    )
    .vigie_extension(),
    Field::text("data", MAX_SCRIPT_CHARS, "Rows that it is run with, as CSV or JSON").vigie_extension(),
    Field::list("files", &COLLECTION_FILE_ITEM, 50, "Files that its requests send").vigie_extension(),
];

static COLLECTION_FILE_ITEM: FieldType = FieldType::Object(&COLLECTION_FILE);

static COLLECTION_FILE_FIELDS: &[Field] = &[
    Field::text("name", 255, "Name, as the collection calls it").required(),
    Field::text_with_format("base64", MAX_FILE_CHARS, TextFormat::Base64, "Content as Base64").required(),
];

/// A file of `collection-api`.
pub static COLLECTION_FILE: FieldTable =
    FieldTable::new("collection-file", "A file that requests send", &[COLLECTION_FILE_FIELDS]);

/// `collection-api`.
pub static COLLECTION_API: FieldTable = FieldTable::new(
    "collection-api",
    "A collection of requests",
    &[IDENTITY_FIELDS, COLLECTION_FIELDS, SCHEDULE_FIELDS, DEPENDENCY_FIELDS, READ_ONLY_FIELDS],
);

static SELENIUM_FIELDS: &[Field] =
    &[Field::text_with_format("script", MAX_JAR_CHARS, TextFormat::Base64, "The JAR, as Base64").required()];

/// `selenium`.
pub static SELENIUM: FieldTable = FieldTable::new(
    "selenium",
    "A Selenium test in a JAR",
    &[IDENTITY_FIELDS, SELENIUM_FIELDS, SCHEDULE_FIELDS, DEPENDENCY_FIELDS, READ_ONLY_FIELDS],
);

static SECURITY_SCAN_FIELDS: &[Field] = &[
    Field::text_with_format("hostname", 255, TextFormat::Host, "The host that is scanned"),
    Field::text_with_format("url", MAX_URL_CHARS, TextFormat::HttpUrl, "The site that is scanned"),
    Field::list(
        "expected_ports",
        &PORT_ITEM,
        200,
        "Ports that should be open; empty is that of the URL, or 80 and 443",
    )
    .vigie_extension(),
    Field::choice(
        "fail_severity",
        &["info", "low", "medium", "high", "critical"],
        "Findings of this severity and above are errors, those below it warnings",
    )
    .with_default(DefaultValue::Text("high"))
    .vigie_extension(),
];

static PORT_ITEM: FieldType = FieldType::Int { min: 1, max: 65_535 };

/// `security-scan`.
pub static SECURITY_SCAN: FieldTable = FieldTable::new(
    "security-scan",
    "A scan for weaknesses",
    &[IDENTITY_FIELDS, SECURITY_SCAN_FIELDS, SCHEDULE_FIELDS, DEPENDENCY_FIELDS, READ_ONLY_FIELDS],
);

/// 35 days, for jobs that run once a month.
const MAX_GRACE_S: i64 = 35 * 24 * 3600;

static THRESHOLD_ITEM: FieldType = FieldType::Object(&THRESHOLD);

static HOST_AGENT_FIELDS: &[Field] = &[
    Field::text("host_id", 255, "Id or name of the host; required unless `report` is push"),
    Field::list("thresholds", &THRESHOLD_ITEM, 200, "Bounds of its metrics"),
    Field::choice(
        "report",
        &["agent", "scrape", "push"],
        "Where values come from: the agent of the host, its `metrics_url`, or calls of a push URL",
    )
    .vigie_extension(),
    Field::int(
        "grace",
        0,
        MAX_GRACE_S,
        "Seconds after `interval` within which a push must follow the last one",
    )
    .with_default(DefaultValue::Int(60))
    .vigie_extension(),
];

/// `hostagent`.
pub static HOST_AGENT: FieldTable = FieldTable::new(
    "hostagent",
    "What an agent on a host reports",
    &[IDENTITY_FIELDS, HOST_AGENT_FIELDS, SCHEDULE_FIELDS, DEPENDENCY_FIELDS, READ_ONLY_FIELDS],
);
