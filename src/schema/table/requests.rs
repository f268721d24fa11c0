//! Request bodies of the APIs other than monitors: blackouts, bulk edits, clone, event, login (interface.md 2.4–2.7).

use super::super::field::{DefaultValue, Field, FieldTable, FieldType};
use super::ids::ID;
use super::shared::{INTERVALS, LOCATION_MODES, SCHEDULE_FIELDS, TIMEOUTS, read_only_field};
use super::sub_objects::{CUSTOM_PROPERTY, LOCATION};
use super::{agents, alerting, records, shares, views};
use crate::domain::TokenScope;
use crate::syntax::text_format::TextFormat;

static PROPERTY_ITEM: FieldType = FieldType::Object(&CUSTOM_PROPERTY);
static LOCATION_ITEM: FieldType = FieldType::Object(&LOCATION);
const LIST_UPDATE_ACTION: FieldType = FieldType::TextEnum(&["append", "replace"]);
const WEEKDAY: FieldType = FieldType::Int { min: 1, max: 7 };
const TIME_OF_DAY: FieldType = FieldType::Text { min: 0, max: 5, format: TextFormat::TimeOfDay };
const LOCAL_TIME: FieldType = FieldType::Text { min: 0, max: 19, format: TextFormat::LocalDateTime };
const SHORT_TEXT: FieldType = FieldType::Text { min: 0, max: 255, format: TextFormat::Any };
const MONITOR_IDS: FieldType = FieldType::List { item_type: &ID, min: 1, max: 100_000 };

static WEEKLY_WINDOW_FIELDS: &[Field] = &[
    Field::new("start_day", WEEKDAY, "Day of the week on which it starts; 1 is Sunday"),
    Field::new("start_time", TIME_OF_DAY, "Start, `hh:mm`"),
    Field::new("end_day", WEEKDAY, "Day of the week on which it ends; 1 is Sunday"),
    Field::new("end_time", TIME_OF_DAY, "End, `hh:mm`"),
];

/// Blackout (interface.md 2.4).
pub static BLACKOUT: FieldTable = FieldTable::new(
    "Blackout",
    "A period that suppresses a monitor's runs, its alerts or a recipient",
    &[
        &[
            read_only_field("id", ID, "Id"),
            Field::new("assoc_id", ID, "The monitor or recipient").required(),
            Field::new("type", FieldType::TextEnum(&["Monitor", "Alert", "Notifier"]), "What it suppresses")
                .required(),
            Field::flag("persistent", false, "Whether it recurs each week"),
        ],
        WEEKLY_WINDOW_FIELDS,
        &[
            Field::new("from_date", LOCAL_TIME, "Start of a one-time blackout"),
            Field::new("thru_date", LOCAL_TIME, "End of a one-time blackout"),
            Field::text("note", 255, "Why; not for notifiers"),
            read_only_field("date_added", SHORT_TEXT, "When it was added"),
            read_only_field("login", SHORT_TEXT, "Who added it"),
        ],
    ],
);

const BULK_BLACKOUT_TYPE: FieldType = FieldType::TextEnum(&["Monitor", "Alert"]);

/// One-time blackout as an input.
pub static ONE_TIME_BLACKOUT: FieldTable = FieldTable::new(
    "OneTimeBlackout",
    "A one-time blackout",
    &[&[
        Field::new("type", BULK_BLACKOUT_TYPE, "What it suppresses").required(),
        Field::new("from_date", LOCAL_TIME, "Start").required(),
        Field::new("thru_date", LOCAL_TIME, "End").required(),
        Field::text("note", 255, "Why"),
    ]],
);

/// Persistent blackout as an input.
pub static PERSISTENT_BLACKOUT: FieldTable = FieldTable::new(
    "PersistentBlackout",
    "A weekly blackout",
    &[&[
        Field::new("type", BULK_BLACKOUT_TYPE, "What it suppresses").required(),
        Field::new("start_day", WEEKDAY, "Day of the week on which it starts; 1 is Sunday").required(),
        Field::new("start_time", TIME_OF_DAY, "Start, `hh:mm`").required(),
        Field::new("end_day", WEEKDAY, "Day of the week on which it ends; 1 is Sunday").required(),
        Field::new("end_time", TIME_OF_DAY, "End, `hh:mm`").required(),
    ]],
);

static ONE_TIME_ITEM: FieldType = FieldType::Object(&ONE_TIME_BLACKOUT);
static PERSISTENT_ITEM: FieldType = FieldType::Object(&PERSISTENT_BLACKOUT);

/// Blackout bulk edit.
pub static BLACKOUT_BULK_EDIT: FieldTable = FieldTable::new(
    "BlackoutBulkEdit",
    "Blackouts of several monitors",
    &[&[
        Field::new("monitors", MONITOR_IDS, "Monitors").required(),
        Field::new("update_one_time", FieldType::Bool, "Whether to change one-time blackouts").required(),
        Field::new(
            "update_one_time_action",
            LIST_UPDATE_ACTION,
            "Append to the current ones or replace them",
        ),
        Field::list("one_time_blackouts", &ONE_TIME_ITEM, 1000, "One-time blackouts"),
        Field::new("update_persistent", FieldType::Bool, "Whether to change weekly blackouts").required(),
        Field::new(
            "update_persistent_action",
            LIST_UPDATE_ACTION,
            "Append to the current ones or replace them",
        ),
        Field::list("persistent_blackouts", &PERSISTENT_ITEM, 1000, "Weekly blackouts"),
    ]],
);

/// Replace the fields of `SCHEDULE_FIELDS` of the same name: a bulk edit never takes their default (behaviour.md 1).
static BULK_EDIT_SCHEDULE_OVERRIDES: &[Field] = &[
    Field::text("billing_plancode", 255, "Plan that checks are counted under").required(),
    Field::new("enabled", FieldType::Bool, "Whether runs are planned").required(),
    Field::new("interval", FieldType::IntEnum(INTERVALS), "Minutes between two runs").required(),
    Field::new("mode", FieldType::TextEnum(LOCATION_MODES), "How many locations check a run").required(),
    Field::new("rotate_locations", FieldType::Bool, "Each run takes the next locations").required(),
    Field::int("monitor_location_count", 0, 1000, "Locations of a run").required(),
    Field::new("notify_on_error", FieldType::Bool, "Notify on errors").required(),
    Field::new("home_location", ID, "First location").required(),
    Field::new("retry_on_failure", FieldType::Bool, "A second attempt at once").required(),
    Field::new("allow_internal_testing", FieldType::Bool, "Permits checks outside of the schedule")
        .required(),
    Field::new("traceroute_on_error", FieldType::Bool, "A traceroute on errors").required(),
    Field::new("timeout", FieldType::IntEnum(TIMEOUTS), "Seconds of one attempt").required(),
    Field::new(
        "custom_properties",
        FieldType::List { item_type: &PROPERTY_ITEM, min: 0, max: 100 },
        "Values of properties",
    ),
    Field::new("locations", FieldType::List { item_type: &LOCATION_ITEM, min: 0, max: 1000 }, "Locations"),
];

/// Monitor bulk edit (interface.md 2.5).
pub static MONITOR_BULK_EDIT: FieldTable = FieldTable::new(
    "MonitorBulkEdit",
    "Shared fields of several monitors",
    &[
        &[Field::new("monitors", MONITOR_IDS, "Monitors").required()],
        SCHEDULE_FIELDS,
        BULK_EDIT_SCHEDULE_OVERRIDES,
        &[Field::new("update_locations_action", LIST_UPDATE_ACTION, "Keep the present locations or not")
            .with_default(DefaultValue::Text("replace"))],
    ],
);

/// Password bulk edit.
pub static PASSWORD_BULK_EDIT: FieldTable = FieldTable::new(
    "PasswordBulkEdit",
    "A password in several monitors",
    &[&[
        Field::new("monitors", MONITOR_IDS, "Monitors").required(),
        Field::text("current_value", 255, "The password now").required().secret(),
        Field::text("new_value", 255, "The password from now on").required().secret(),
    ]],
);

/// Script bulk edit.
pub static SCRIPT_BULK_EDIT: FieldTable = FieldTable::new(
    "ScriptBulkEdit",
    "A text in the scripts of several monitors",
    &[&[
        Field::new("monitors", MONITOR_IDS, "Monitors").required(),
        Field::text("current_value", 65535, "The text now").required(),
        Field { required: true, ..Field::text("new_value", 65535, "The text from now on; may be empty") },
    ]],
);

/// Monitor clone.
pub static MONITOR_CLONE: FieldTable = FieldTable::new(
    "MonitorClone",
    "A copy of a monitor",
    &[&[Field::name("name", 255, "Name of the copy; without it `Copy of …`")]],
);

/// Event (interface.md 2.6).
pub static EVENT: FieldTable = FieldTable::new(
    "Event",
    "Something that happened, for charts and reports",
    &[&[
        read_only_field("id", ID, "Id"),
        Field::text("event", 255, "Its type").required(),
        Field::text("description", 65535, "What happened").required(),
        Field::text("value", 8, "A short value"),
        Field::int("quantity", 0, i64::MAX, "How many").with_default(DefaultValue::Int(1)),
        read_only_field("name", SHORT_TEXT, "Label of its type"),
        read_only_field("login", SHORT_TEXT, "Who reported it"),
        read_only_field("timestamp", SHORT_TEXT, "When it was reported"),
    ]],
);

/// Credentials of a login (interface.md 2.7).
pub static LOGIN: FieldTable = FieldTable::new(
    "Login",
    "Who logs in",
    &[&[
        Field::text("username", 255, "The user").required(),
        Field::text("password", 1024, "The password").required().secret(),
    ]],
);

static SCOPE_ITEM: FieldType = FieldType::TextEnum(&TokenScope::NAMES);

/// A token for a program.
pub static PROGRAM_TOKEN: FieldTable = FieldTable::new(
    "ProgramToken",
    "A token for a program",
    &[&[
        Field::name("name", 255, "What it is for").required(),
        Field::new(
            "scopes",
            FieldType::List { item_type: &SCOPE_ITEM, min: 1, max: 4 },
            "What it may do: `read`, `operate` (change monitors, blackouts, recipients), `admin`, `metrics`",
        )
        .required(),
        Field::int("expires_in", 60, 31_536_000, "Lifetime in seconds; without it, 90 days"),
    ]],
);

/// Every table besides those of the monitor types.
pub static NON_MONITOR_TABLES: &[&FieldTable] = &[
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
    &PROGRAM_TOKEN,
    &records::USER,
    &records::LOCATION_RECORD,
    &records::LOCATION_ENROLMENT,
    &agents::AGENT,
    &agents::AGENT_ENROLMENT,
    &agents::AGENT_RENEWAL,
    &agents::AGENT_GRANT,
    &agents::ENROLMENT_SECRET,
    &agents::LOCATION_KEY,
    &records::PROPERTY,
    &records::CERTIFICATE,
    &records::ACCOUNT,
    &records::ACCOUNT_SUMMARY,
    &records::AUDIT_ENTRY,
    &records::ON_DEMAND_TEST,
    &records::ACCESS_TOKEN,
    &records::TOKEN_INFO,
    &records::SIGN_IN_LINK,
    &shares::SHARE_REQUEST,
    &shares::SHARE,
    &shares::NEW_SHARE,
    &views::VIEW,
    &alerting::RECIPIENT,
    &alerting::NOTIFIER_GROUP,
    &alerting::TEMPLATE,
    &alerting::TEMPLATE_PREVIEW_REQUEST,
    &alerting::RENDERED_PREVIEW,
    &alerting::TEST_NOTIFICATION,
    &alerting::BLACKOUT_OCCURRENCE,
    &alerting::SLA,
    &alerting::SLA_BULK_EDIT,
    &alerting::PERFORMANCE_ALERT,
    &alerting::EPISODE,
    &alerting::EPISODE_DETAIL,
    &alerting::NOTIFICATION,
];
