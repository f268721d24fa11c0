//! `browserscript` (interface.md 2.2).

use super::super::field::{Access, Field, Kind, Legacy, Preset, Table};
use super::parts::{CAPTURE, CONTENT_VIEW};
use super::shared::{
    CLIENT_CERTIFICATE, FULL_PAGE, IDENTITY, IPV6, KEYWORD, PROXY, REPORTED, RUNNING, TRUST, reported,
};
use super::web::MAX_URL;
use crate::syntax::format::TextFormat;

/// Characters of a script (fields.md 2).
pub const MAX_SCRIPT: usize = 10 * 1024 * 1024;

/// Codes of the browsers in the legacy API (behaviour.md 2).
pub const BROWSER_CODES: &[(&str, &str)] =
    &[("FF", "Firefox"), ("CH", "Google Chrome"), ("IE", "Internet Explorer")];

static VIEWS: Kind = Kind::Object(&CONTENT_VIEW);
const TEXT: Kind = Kind::Text { min: 0, max: 255, format: TextFormat::Any };
const COUNT: Kind = Kind::Int { min: 0, max: i64::MAX };

/// `capture`, which `api` has too.
pub(super) static CAPTURING: &[Field] = &[
    Field::object("capture", &CAPTURE, "What is kept of the pages")
        .or(Preset::Object)
        .legacy(Legacy::Indexed { name: "capture_level", field: "level" }),
    Field::int("transaction_steps_allowed", 1, 1000, "Most steps that the script may have; set by admins")
        .or(Preset::Int(50)),
];

static PLAYBACK: &[Field] = &[
    Field::formatted("url", MAX_URL, TextFormat::HttpUrl, "The page, or the base of the script's URLs"),
    Field::formatted("script", MAX_SCRIPT, TextFormat::Script, "The driver script"),
    Field::choice("browser_type", &["Firefox", "Google Chrome", "Internet Explorer"], "The browser")
        .access(Access::ReadOnlyInV3)
        .legacy(Legacy::Coded(BROWSER_CODES)),
    Field::list("content_views", &VIEWS, 100, "Parts with a status of their own"),
    Field::flag("continue_playback_on_timeout", false, "A step that timed out does not end the playback"),
    Field::choice(
        "keyword_action",
        &["Generate an error", "Continue waiting"],
        "Judge the keyword once, or wait until it is there",
    ),
    Field::int("step_timeout", 0, 300, "Seconds that a step may take; 0 is no limit of its own"),
    Field::new("subtype", Kind::IntOf(&[0, 1, 2, 3]), "Profile of the settings: 0 is none"),
    Field::text("subtype_application", 255, "Application that the profile stands for"),
    Field::text("subtype_name", 255, "Name of the profile"),
    Field::choice("monitor_agent", &[""], "The location picks the player"),
    Field::flag("third_party_document_errors", false, "Failed documents of other domains fail the step"),
    Field::flag("transaction_trace", false, "Requests to the script's site carry a W3C traceparent"),
    Field::text("transaction_password", 255, "Unlocks protected variables of the script").secret(),
    Field::flag("user_experience_enabled", false, "Paint, layout shift and load of each step are kept"),
    Field::flag("user_experience_base_page_only", false, "Only those of the top document"),
];

static PLAYED: &[Field] = &[
    reported("last_modified", TEXT, "Last change of any field"),
    reported("script_created", TEXT, "First change of the script"),
    reported("script_modified", TEXT, "Last change of the script"),
    reported("script_modified_by_user", TEXT, "Who changed the script last"),
    reported("script_status", TEXT, "Outcome of the last playback"),
    reported("mobile_type", TEXT, "Emulation profile"),
    reported("transaction_events", COUNT, "Acts of the script"),
    reported("mobile_location_count", COUNT, "Assigned locations of the mobile region"),
    reported("transaction_steps", Kind::Int { min: 1, max: 50 }, "Steps of the script"),
    reported("has_capture", Kind::Flag, "Something is captured"),
    reported("has_content_views", Kind::Flag, "It has content views"),
    reported("has_mobile_locations", Kind::Flag, "It has locations of the mobile region"),
    reported("has_multipop", Kind::Flag, "Its mode is SLA (MultiPOP)"),
    reported("has_user_experience", Kind::Flag, "User experience is measured"),
    reported("is_content_view", Kind::Flag, "The id is that of a content view"),
    reported("is_transaction", Kind::Flag, "The script has several steps"),
    reported("script_replayed_successfully", Kind::Flag, "The last playback passed"),
];

/// `browserscript`.
pub static SCRIPT: Table = Table::new(
    "browserscript",
    "A script played in a browser",
    &[
        IDENTITY,
        PLAYBACK,
        CAPTURING,
        RUNNING,
        KEYWORD,
        FULL_PAGE,
        CLIENT_CERTIFICATE,
        TRUST,
        IPV6,
        PROXY,
        PLAYED,
        REPORTED,
    ],
);
