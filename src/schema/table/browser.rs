//! `browserscript` (interface.md 2.2).

use super::super::field::{Access, DefaultValue, Field, FieldTable, FieldType, LegacyEncoding};
use super::shared::{
    ADDRESS_FAMILY_FIELDS, CLIENT_CERTIFICATE_FIELDS, DEPENDENCY_FIELDS, FULL_PAGE_FIELDS, IDENTITY_FIELDS,
    KEYWORD_FIELDS, PROXY_FIELDS, READ_ONLY_FIELDS, SCHEDULE_FIELDS, TRUST_FIELDS, read_only_field,
};
use super::sub_objects::{CAPTURE, CONTENT_VIEW};
use super::web::MAX_URL_CHARS;
use crate::syntax::text_format::TextFormat;

/// Maximum length of a script in characters (fields.md 2).
pub const MAX_SCRIPT_CHARS: usize = 10 * 1024 * 1024;

/// Codes of the browsers in the legacy API (behaviour.md 2).
pub const BROWSER_CODES: &[(&str, &str)] =
    &[("FF", "Firefox"), ("CH", "Google Chrome"), ("IE", "Internet Explorer")];

/// Names of the browsers.
const BROWSERS: &[&str] = &["Firefox", "Google Chrome", "Internet Explorer"];

static CONTENT_VIEW_ITEM: FieldType = FieldType::Object(&CONTENT_VIEW);
const SHORT_TEXT: FieldType = FieldType::Text { min: 0, max: 255, format: TextFormat::Any };
const COUNT: FieldType = FieldType::Int { min: 0, max: i64::MAX };

/// `capture` and the step limit, which `api` has too.
pub(super) static CAPTURE_FIELDS: &[Field] = &[
    Field::object("capture", &CAPTURE, "What is captured of the pages")
        .with_default(DefaultValue::ObjectOfDefaults)
        .legacy(LegacyEncoding::Indexed { index_field: "capture_level", choice_field: "level" }),
    Field::int("transaction_steps_allowed", 1, 1000, "Most steps that the script may have; set by admins")
        .with_default(DefaultValue::Int(50)),
];

static SCRIPT_FIELDS: &[Field] = &[
    Field::text_with_format(
        "url",
        MAX_URL_CHARS,
        TextFormat::HttpUrl,
        "The page, or the base of the script's URLs",
    ),
    Field::text_with_format("script", MAX_SCRIPT_CHARS, TextFormat::Script, "The driver script"),
    Field::new("browser", FieldType::TextEnum(BROWSERS), "Chooses the browser; null takes what is there")
        .vigie_extension()
        .legacy(LegacyEncoding::Omitted),
    Field::new("browser_type", FieldType::TextEnum(BROWSERS), "The browser that is used; sets `browser`")
        .access(Access::ReadOnlyInV3)
        .legacy(LegacyEncoding::Coded(BROWSER_CODES)),
    Field::list("content_views", &CONTENT_VIEW_ITEM, 100, "Parts with a status of their own"),
    Field::flag("continue_playback_on_timeout", false, "A step that timed out does not end the playback"),
    Field::choice(
        "keyword_action",
        &["Generate an error", "Continue waiting"],
        "Judge the keyword once, or wait until it is there",
    ),
    Field::int("step_timeout", 0, 300, "Seconds that a step may take; 0 is no limit of its own"),
    Field::new("subtype", FieldType::IntEnum(&[0, 1, 2, 3]), "Profile of the settings: 0 is none"),
    Field::text("subtype_application", 255, "Application that the profile stands for"),
    Field::text("subtype_name", 255, "Name of the profile"),
    Field::choice("monitor_agent", &[""], "The location picks the player"),
    Field::flag("third_party_document_errors", false, "Failed documents of other domains fail the step"),
    Field::flag("transaction_trace", false, "Requests to the script's site carry a W3C traceparent"),
    Field::text("transaction_password", 255, "Unlocks protected variables of the script").secret(),
    Field::flag("user_experience_enabled", false, "Paint, layout shift and load of each step are kept"),
    Field::flag("user_experience_base_page_only", false, "Only those of the top document"),
];

static SCRIPT_STATUS_FIELDS: &[Field] = &[
    read_only_field("last_modified", SHORT_TEXT, "Last change of any field"),
    read_only_field("script_created", SHORT_TEXT, "First change of the script"),
    read_only_field("script_modified", SHORT_TEXT, "Last change of the script"),
    read_only_field("script_modified_by_user", SHORT_TEXT, "Who changed the script last"),
    read_only_field("script_status", SHORT_TEXT, "Outcome of the last playback"),
    read_only_field("mobile_type", SHORT_TEXT, "Emulation profile"),
    read_only_field("transaction_events", COUNT, "Actions of the script"),
    read_only_field("mobile_location_count", COUNT, "Assigned locations of the mobile region"),
    read_only_field("transaction_steps", FieldType::Int { min: 1, max: 50 }, "Steps of the script"),
    read_only_field("has_capture", FieldType::Bool, "Something is captured"),
    read_only_field("has_content_views", FieldType::Bool, "It has content views"),
    read_only_field("has_mobile_locations", FieldType::Bool, "It has locations of the mobile region"),
    read_only_field("has_multipop", FieldType::Bool, "Its mode is SLA (MultiPOP)"),
    read_only_field("has_user_experience", FieldType::Bool, "User experience is measured"),
    read_only_field("is_content_view", FieldType::Bool, "The id is that of a content view"),
    read_only_field("is_transaction", FieldType::Bool, "The script has several steps"),
    read_only_field("script_replayed_successfully", FieldType::Bool, "The last playback passed"),
];

/// `browserscript`.
pub static BROWSER_SCRIPT: FieldTable = FieldTable::new(
    "browserscript",
    "A script that runs in a browser",
    &[
        IDENTITY_FIELDS,
        SCRIPT_FIELDS,
        CAPTURE_FIELDS,
        SCHEDULE_FIELDS,
        KEYWORD_FIELDS,
        FULL_PAGE_FIELDS,
        CLIENT_CERTIFICATE_FIELDS,
        TRUST_FIELDS,
        ADDRESS_FAMILY_FIELDS,
        PROXY_FIELDS,
        SCRIPT_STATUS_FIELDS,
        DEPENDENCY_FIELDS,
        READ_ONLY_FIELDS,
    ],
);
