//! Bodies of the APIs beside monitors: blackouts, bulk edits, clone, event, login (interface.md 2.4–2.7).

use super::super::field::{Field, Kind, Preset, Table};
use super::ids::ID;
use super::parts::{CUSTOM_PROPERTY, LOCATION};
use super::shared::{INTERVALS, MODES, RUNNING, TIMEOUTS, reported};
use super::{alerting, records};
use crate::syntax::format::TextFormat;

static PROPERTIES: Kind = Kind::Object(&CUSTOM_PROPERTY);
static LOCATIONS: Kind = Kind::Object(&LOCATION);
const ACTIONS: Kind = Kind::TextOf(&["append", "replace"]);
const DAY: Kind = Kind::Int { min: 1, max: 7 };
const CLOCK: Kind = Kind::Text { min: 0, max: 5, format: TextFormat::TimeOfDay };
const MOMENT: Kind = Kind::Text { min: 0, max: 19, format: TextFormat::LocalDateTime };
const TEXT: Kind = Kind::Text { min: 0, max: 255, format: TextFormat::Any };
const MONITORS: Kind = Kind::List { of: &ID, min: 1, max: 100_000 };

static WINDOW: &[Field] = &[
    Field::new("start_day", DAY, "First day of the week, 1 is Sunday"),
    Field::new("start_time", CLOCK, "Start, `hh:mm`"),
    Field::new("end_day", DAY, "Last day of the week, 1 is Sunday"),
    Field::new("end_time", CLOCK, "End, `hh:mm`"),
];

/// Blackout (interface.md 2.4).
pub static BLACKOUT: Table = Table::new(
    "Blackout",
    "A period in which a monitor, an alert or a notifier rests",
    &[
        &[
            reported("id", ID, "Its number"),
            Field::new("assoc_id", ID, "The monitor or recipient").required(),
            Field::new("type", Kind::TextOf(&["Monitor", "Alert", "Notifier"]), "What rests").required(),
            Field::flag("persistent", false, "It comes back each week"),
        ],
        WINDOW,
        &[
            Field::new("from_date", MOMENT, "Start of one that comes once"),
            Field::new("thru_date", MOMENT, "End of one that comes once"),
            Field::text("note", 255, "Why; not for notifiers"),
            reported("date_added", TEXT, "When it was added"),
            reported("login", TEXT, "Who added it"),
        ],
    ],
);

const EDITED: Kind = Kind::TextOf(&["Monitor", "Alert"]);

/// One-time blackout as an input.
pub static ONE_TIME_BLACKOUT: Table = Table::new(
    "OneTimeBlackout",
    "A blackout that comes once",
    &[&[
        Field::new("type", EDITED, "What rests").required(),
        Field::new("from_date", MOMENT, "Start").required(),
        Field::new("thru_date", MOMENT, "End").required(),
        Field::text("note", 255, "Why"),
    ]],
);

/// Persistent blackout as an input.
pub static PERSISTENT_BLACKOUT: Table = Table::new(
    "PersistentBlackout",
    "A blackout that comes back each week",
    &[&[
        Field::new("type", EDITED, "What rests").required(),
        Field::new("start_day", DAY, "First day of the week, 1 is Sunday").required(),
        Field::new("start_time", CLOCK, "Start, `hh:mm`").required(),
        Field::new("end_day", DAY, "Last day of the week, 1 is Sunday").required(),
        Field::new("end_time", CLOCK, "End, `hh:mm`").required(),
    ]],
);

static ONE_TIME: Kind = Kind::Object(&ONE_TIME_BLACKOUT);
static PERSISTENT: Kind = Kind::Object(&PERSISTENT_BLACKOUT);

/// Blackout bulk edit.
pub static BLACKOUT_BULK_EDIT: Table = Table::new(
    "BlackoutBulkEdit",
    "Blackouts of several monitors",
    &[&[
        Field::new("monitors", MONITORS, "Whose").required(),
        Field::new("update_one_time", Kind::Flag, "Change those that come once").required(),
        Field::new("update_one_time_action", ACTIONS, "Keep the present ones or not"),
        Field::list("one_time_blackouts", &ONE_TIME, 1000, "Those that come once"),
        Field::new("update_persistent", Kind::Flag, "Change those that come back").required(),
        Field::new("update_persistent_action", ACTIONS, "Keep the present ones or not"),
        Field::list("persistent_blackouts", &PERSISTENT, 1000, "Those that come back"),
    ]],
);

/// The fields that a bulk edit has to have: never a default (behaviour.md 1).
static ALL_REQUIRED: &[Field] = &[
    Field::text("billing_plancode", 255, "Plan that checks are counted under").required(),
    Field::new("enabled", Kind::Flag, "Whether runs are planned").required(),
    Field::new("interval", Kind::IntOf(INTERVALS), "Minutes between two runs").required(),
    Field::new("mode", Kind::TextOf(MODES), "How many locations check a run").required(),
    Field::new("rotate_locations", Kind::Flag, "Each run takes the next locations").required(),
    Field::int("monitor_location_count", 0, 1000, "Locations of a run").required(),
    Field::new("notify_on_error", Kind::Flag, "Whether errors are told").required(),
    Field::new("home_location", ID, "First location").required(),
    Field::new("retry_on_failure", Kind::Flag, "A second attempt at once").required(),
    Field::new("allow_internal_testing", Kind::Flag, "Permits checks outside of the schedule").required(),
    Field::new("traceroute_on_error", Kind::Flag, "A traceroute on errors").required(),
    Field::new("timeout", Kind::IntOf(TIMEOUTS), "Seconds of one attempt").required(),
    Field::new("custom_properties", Kind::List { of: &PROPERTIES, min: 0, max: 100 }, "Values of properties"),
    Field::new("locations", Kind::List { of: &LOCATIONS, min: 0, max: 1000 }, "Locations"),
];

/// Monitor bulk edit (interface.md 2.5).
pub static MONITOR_BULK_EDIT: Table = Table::new(
    "MonitorBulkEdit",
    "Shared fields of several monitors",
    &[
        &[Field::new("monitors", MONITORS, "Which").required()],
        RUNNING,
        ALL_REQUIRED,
        &[Field::new("update_locations_action", ACTIONS, "Keep the present locations or not")
            .or(Preset::Text("replace"))],
    ],
);

/// Password bulk edit.
pub static PASSWORD_BULK_EDIT: Table = Table::new(
    "PasswordBulkEdit",
    "A password in several monitors",
    &[&[
        Field::new("monitors", MONITORS, "Which").required(),
        Field::text("current_value", 255, "The password now").required().secret(),
        Field::text("new_value", 255, "The password from now on").required().secret(),
    ]],
);

/// Script bulk edit.
pub static SCRIPT_BULK_EDIT: Table = Table::new(
    "ScriptBulkEdit",
    "A text in the scripts of several monitors",
    &[&[
        Field::new("monitors", MONITORS, "Which").required(),
        Field::text("current_value", 65535, "The text now").required(),
        Field { required: true, ..Field::text("new_value", 65535, "The text from now on; may be empty") },
    ]],
);

/// Monitor clone.
pub static MONITOR_CLONE: Table = Table::new(
    "MonitorClone",
    "A copy of a monitor",
    &[&[Field::text("name", 255, "Name of the copy; without it `Copy of …`")]],
);

/// Event (interface.md 2.6).
pub static EVENT: Table = Table::new(
    "Event",
    "Something that happened, for charts and reports",
    &[&[
        reported("id", ID, "Its number"),
        Field::text("event", 255, "Its type").required(),
        Field::text("description", 65535, "What happened").required(),
        Field::text("value", 8, "A short value"),
        Field::int("quantity", 0, i64::MAX, "How many").or(Preset::Int(1)),
        reported("name", TEXT, "Label of its type"),
        reported("login", TEXT, "Who reported it"),
        reported("timestamp", TEXT, "When it was reported"),
    ]],
);

/// Login data (interface.md 2.7).
pub static LOGIN: Table = Table::new(
    "Login",
    "Who logs in",
    &[&[
        Field::text("username", 255, "The user").required(),
        Field::text("password", 1024, "The password").required().secret(),
    ]],
);

/// Every table beside those of the monitor types.
pub static INPUTS: &[&Table] = &[
    &BLACKOUT,
    &ONE_TIME_BLACKOUT,
    &PERSISTENT_BLACKOUT,
    &BLACKOUT_BULK_EDIT,
    &MONITOR_BULK_EDIT,
    &PASSWORD_BULK_EDIT,
    &SCRIPT_BULK_EDIT,
    &MONITOR_CLONE,
    &EVENT,
    &LOGIN,
    &records::USER,
    &records::LOCATION_RECORD,
    &records::LOCATION_SECRET,
    &records::PROPERTY,
    &records::CERTIFICATE,
    &records::ACCOUNT,
    &records::CUSTOMER,
    &records::AUDIT_ENTRY,
    &records::TEST,
    &records::ACCESS_TOKEN,
    &alerting::RECIPIENT,
    &alerting::NOTIFIER_GROUP,
    &alerting::TEMPLATE,
    &alerting::TEMPLATE_PREVIEW,
    &alerting::PREVIEW,
    &alerting::TEST_NOTIFIER,
    &alerting::OCCURRENCE,
    &alerting::SLA,
    &alerting::SLA_BULK_EDIT,
    &alerting::PERFORMANCE_ALERT,
    &alerting::EPISODE,
    &alerting::EPISODE_DETAIL,
    &alerting::NOTIFICATION,
];
