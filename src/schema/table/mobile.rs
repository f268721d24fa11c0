//! `mobilecloud` and `mobilelab` (interface.md 2.2).

use super::super::field::{DefaultValue, Field, FieldTable, FieldType};
use super::ids::ID;
use super::shared::{
    DEPENDENCY_FIELDS, IDENTITY_FIELDS, INTERVALS, READ_ONLY_FIELDS, SCHEDULE_FIELDS, read_only_field,
};
use super::sub_objects::LOCATION;
use crate::syntax::text_format::TextFormat;

/// Modes of handsets; the default first.
pub const HANDSET_MODES: &[&str] = &["One Handset (Rotated)", "All Handsets Simultaneously"];

static LOCATION_ITEM: FieldType = FieldType::Object(&LOCATION);
const ONLY_ZERO: FieldType = FieldType::IntEnum(&[0]);
const SHORT_TEXT: FieldType = FieldType::Text { min: 0, max: 255, format: TextFormat::Any };

/// Fields that differ from the shared ones.
static OVERRIDING_FIELDS: &[Field] = &[
    Field::new("interval", FieldType::IntEnum(INTERVALS), "Minutes between two runs")
        .with_default(DefaultValue::Int(30)),
    Field::choice("mode", HANDSET_MODES, "Which handsets a run uses"),
    Field::new("monitor_location_count", ONLY_ZERO, "Always 0")
        .with_default(DefaultValue::Int(0))
        .read_only(),
    Field::new(
        "locations",
        FieldType::List { item_type: &LOCATION_ITEM, min: 0, max: 1000 },
        "Locations of the devices",
    )
    .with_default(DefaultValue::EmptyList)
    .read_only(),
];

static PROVIDER_FIELDS: &[Field] = &[
    Field::text("api_key", 1024, "Key of the provider's account").required().secret(),
    Field::text_with_format(
        "hostname",
        255,
        TextFormat::Host,
        "Host of the provider; that of the settings if left out",
    ),
    Field::text_with_format("run_configuration", 65535, TextFormat::Json, "What the provider runs, as JSON")
        .required(),
    Field::int("monitor_offset", 1, 120, "Minutes after 00:00 UTC at which the grid of runs starts"),
    read_only_field("device_group_id", ID, "Devices that it runs on"),
    read_only_field("framework_id", ID, "Framework that runs the test"),
    read_only_field("project_id", ID, "Project of the provider"),
    read_only_field("device_group_name", SHORT_TEXT, "Devices that it runs on"),
    read_only_field("framework_name", SHORT_TEXT, "Framework that runs the test"),
    read_only_field("project_name", SHORT_TEXT, "Project of the provider"),
];

static MOBILE_FIELD_GROUPS: &[&[Field]] = &[
    IDENTITY_FIELDS,
    PROVIDER_FIELDS,
    SCHEDULE_FIELDS,
    OVERRIDING_FIELDS,
    DEPENDENCY_FIELDS,
    READ_ONLY_FIELDS,
];

/// `mobilecloud`.
pub static MOBILE_CLOUD: FieldTable =
    FieldTable::new("mobilecloud", "A test on devices of a cloud provider", MOBILE_FIELD_GROUPS);

/// `mobilelab`: as mobilecloud (fields.md 2).
pub static MOBILE_LAB: FieldTable =
    FieldTable::new("mobilelab", "A test on devices of a lab", MOBILE_FIELD_GROUPS);
