//! `api`, `collection-api`, `selenium`, `security-scan` and `hostagent` (fields.md 2).

use super::super::field::{Field, Kind, Table};
use super::browser::{CAPTURING, MAX_SCRIPT};
use super::parts::THRESHOLD;
use super::shared::{IDENTITY, REPORTED, RUNNING};
use super::web::MAX_URL;
use crate::syntax::format::TextFormat;

/// Characters of a Base64 text of a JAR of 50 MiB.
const MAX_JAR: usize = 50 * 1024 * 1024 / 3 * 4 + 4;

static PROJECT: &[Field] = &[
    Field::formatted("script", MAX_SCRIPT, TextFormat::Xml, "The project").required(),
    Field::text("test_suite", 255, "Suite that is run").required(),
    Field::text("test_case", 255, "Case that is run").required(),
];

/// `api`, called apiproject in the legacy API.
pub static API: Table =
    Table::new("api", "An API test project", &[IDENTITY, PROJECT, CAPTURING, RUNNING, REPORTED]);

static REQUESTS: &[Field] = &[
    Field::formatted("script", MAX_SCRIPT, TextFormat::Json, "The collection").required(),
    Field::formatted("environment", MAX_SCRIPT, TextFormat::Json, "Values of its variables").extension(),
    Field::text("data", MAX_SCRIPT, "Rows that it is run with, as CSV or JSON").extension(),
];

/// `collection-api`.
pub static COLLECTION: Table =
    Table::new("collection-api", "A collection of requests", &[IDENTITY, REQUESTS, RUNNING, REPORTED]);

static JAR: &[Field] =
    &[Field::formatted("script", MAX_JAR, TextFormat::Base64, "The JAR, as Base64").required()];

/// `selenium`.
pub static SELENIUM: Table =
    Table::new("selenium", "A Selenium test in a JAR", &[IDENTITY, JAR, RUNNING, REPORTED]);

static SCAN: &[Field] = &[
    Field::formatted("hostname", 255, TextFormat::Host, "The host that is scanned"),
    Field::formatted("url", MAX_URL, TextFormat::HttpUrl, "The site that is scanned"),
];

/// `security-scan`.
pub static SECURITY_SCAN: Table =
    Table::new("security-scan", "A scan for weaknesses", &[IDENTITY, SCAN, RUNNING, REPORTED]);

static THRESHOLDS: Kind = Kind::Object(&THRESHOLD);

static HOST: &[Field] = &[
    Field::text("host_id", 255, "The host whose agent reports").required(),
    Field::list("thresholds", &THRESHOLDS, 200, "Bounds of its metrics"),
];

/// `hostagent`.
pub static HOST_AGENT: Table =
    Table::new("hostagent", "What an agent on a host reports", &[IDENTITY, HOST, RUNNING, REPORTED]);
