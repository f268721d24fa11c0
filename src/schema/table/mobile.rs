//! `mobilecloud` and `mobilelab` (interface.md 2.2).

use super::super::field::{Field, Kind, Preset, Table};
use super::ids::ID;
use super::parts::LOCATION;
use super::shared::{IDENTITY, INTERVALS, REPORTED, RUNNING, reported};
use crate::syntax::format::TextFormat;

/// Modes of handsets; the default first.
pub const MODES: &[&str] = &["One Handset (Rotated)", "All Handsets Simultaneously"];

static LOCATIONS: Kind = Kind::Object(&LOCATION);
const ONLY_ZERO: Kind = Kind::IntOf(&[0]);
const TEXT: Kind = Kind::Text { min: 0, max: 255, format: TextFormat::Any };

/// What differs from the shared fields.
static CHANGES: &[Field] = &[
    Field::new("interval", Kind::IntOf(INTERVALS), "Minutes between two runs").or(Preset::Int(30)),
    Field::choice("mode", MODES, "Which handsets a run uses"),
    Field::new("monitor_location_count", ONLY_ZERO, "Always 0").or(Preset::Int(0)).read_only(),
    Field::new("locations", Kind::List { of: &LOCATIONS, min: 0, max: 1000 }, "Locations of the devices")
        .or(Preset::EmptyList)
        .read_only(),
];

static PROVIDER: &[Field] = &[
    Field::text("api_key", 1024, "Key of the provider's account").required().secret(),
    Field::formatted("hostname", 255, TextFormat::Host, "Host of the provider").required(),
    Field::formatted("run_configuration", 65535, TextFormat::Json, "What the provider runs, as JSON")
        .required(),
    Field::int("monitor_offset", 1, 120, "Minutes after 00:00 UTC at which the grid of runs starts"),
    reported("device_group_id", ID, "Devices that it runs on"),
    reported("framework_id", ID, "Framework that runs the test"),
    reported("project_id", ID, "Project of the provider"),
    reported("device_group_name", TEXT, "Devices that it runs on"),
    reported("framework_name", TEXT, "Framework that runs the test"),
    reported("project_name", TEXT, "Project of the provider"),
];

static GROUPS: &[&[Field]] = &[IDENTITY, PROVIDER, RUNNING, CHANGES, REPORTED];

/// `mobilecloud`.
pub static CLOUD: Table = Table::new("mobilecloud", "A test on devices of a cloud provider", GROUPS);

/// `mobilelab`: as mobilecloud (fields.md 2).
pub static LAB: Table = Table::new("mobilelab", "A test on devices of a lab", GROUPS);
