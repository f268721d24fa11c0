//! Tables for alerting (behaviour.md 1, 6, 7): recipients, groups, templates, agreements, performance alerts; and
//! responses about it: outages, notifications.

use super::super::field::{DefaultValue, Field, FieldTable, FieldType};
use super::ids::ID;
use super::shared::read_only_field;
use crate::syntax::text_format::TextFormat;

const SHORT_TEXT: FieldType = FieldType::Text { min: 0, max: 255, format: TextFormat::Any };
const WEEKDAY: FieldType = FieldType::Int { min: 1, max: 7 };
const TIME_OF_DAY: FieldType = FieldType::Text { min: 1, max: 5, format: TextFormat::TimeOfDay };
const LOCAL_TIME: FieldType = FieldType::Text { min: 1, max: 19, format: TextFormat::LocalDateTime };

/// Maximum number of steps of a monitor (interface.md 8).
const MAX_STEPS: i64 = 50;

/// Ids of the methods (behaviour.md 6 `method_id`); the default first.
pub const METHOD_IDS: &[i64] = &[12, 1, 6, 8, 9, 10, 14, 15, 16, 17, 101, 102];

/// Codes of the languages of messages; the default first.
pub const LANGUAGES: &[&str] = &["en", "de", "fr"];

static ID_ITEM: FieldType = ID;

/// A recipient of notifications (behaviour.md 1 `/recipients`).
pub static RECIPIENT: FieldTable = FieldTable::new(
    "Recipient",
    "A recipient of notifications, and how it is reached",
    &[&[
        read_only_field("id", ID, "Id"),
        Field::name("name", 255, "Display name").required(),
        Field::text(
            "recipient",
            2048,
            "Mail address, URL, host:port or telephone number, depending on its method",
        )
        .required(),
        Field::new("method_id", FieldType::IntEnum(METHOD_IDS), "How it is reached")
            .with_default(DefaultValue::Int(12)),
        read_only_field("method_description", SHORT_TEXT, "Name of the method"),
        Field::text_with_format(
            "username",
            255,
            TextFormat::HeaderValue,
            "Login of the target, or community of SNMP",
        ),
        Field::text("password", 1024, "Password, token or routing key of the target").secret(),
        Field::flag("availability_alert", true, "Whether it gets errors and related notifications"),
        Field::flag("performance_alert", false, "Whether it gets performance alerts"),
        Field::flag(
            "notify_on_clear",
            false,
            "Whether it gets the clear of an error that it was notified of",
        ),
        Field::int(
            "start_threshold",
            1,
            1000,
            "Number of the consecutive failing run from which it is notified",
        )
        .with_default(DefaultValue::Int(1)),
        Field::int(
            "stop_threshold",
            0,
            1000,
            "Most errors of one outage that it is notified of; 0 for no limit",
        )
        .with_default(DefaultValue::Int(10)),
        Field::flag("attach_screen_capture", false, "Whether screenshots are attached to mail"),
        Field::flag(
            "attach_server_response",
            false,
            "Whether the response of the target is attached to mail",
        ),
        Field::new(
            "language",
            FieldType::TextEnum(LANGUAGES),
            "Language of messages without a template; without it that of the account",
        )
        .vigie_extension(),
        read_only_field(
            "blackout_ids",
            FieldType::List { item_type: &ID_ITEM, min: 0, max: 10_000 },
            "Its blackouts that are not past",
        ),
        read_only_field(
            "notifier_groups",
            FieldType::List { item_type: &ID_ITEM, min: 0, max: 10_000 },
            "Groups that name it",
        ),
    ]],
);

/// A monitor of a group, or one of its steps or content views.
pub static GROUP_MONITOR: FieldTable = FieldTable::new(
    "NotifierGroupMonitor",
    "A monitor of a group, or one of its steps or content views",
    &[&[
        Field::new("id", ID, "The monitor").required(),
        Field::int("step_number", 1, MAX_STEPS, "Only this step of it; without it all of it"),
        Field::new("content_view_id", ID, "Only errors of this content view of it; without it all of it")
            .vigie_extension(),
    ]],
);

/// A recipient of a group.
pub static GROUP_RECIPIENT: FieldTable = FieldTable::new(
    "NotifierGroupRecipient",
    "A recipient of a group",
    &[&[Field::new("id", ID, "The recipient").required()]],
);

/// An error that a group is notified of.
pub static GROUP_ERROR_TYPE: FieldTable = FieldTable::new(
    "NotifierGroupErrortype",
    "An error that a group is notified of",
    &[&[Field::new("id", FieldType::Int { min: 1, max: 9999 }, "Its status code").required()]],
);

/// A template of a group.
pub static GROUP_TEMPLATE: FieldTable = FieldTable::new(
    "NotifierGroupTemplate",
    "A template of a group",
    &[&[Field::new("id", ID, "The template").required()]],
);

static MONITOR_ITEM: FieldType = FieldType::Object(&GROUP_MONITOR);
static RECIPIENT_ITEM: FieldType = FieldType::Object(&GROUP_RECIPIENT);
static ERROR_TYPE_ITEM: FieldType = FieldType::Object(&GROUP_ERROR_TYPE);
static TEMPLATE_ITEM: FieldType = FieldType::Object(&GROUP_TEMPLATE);

/// A group that routes alerts to recipients (behaviour.md 1 `/notifier-groups`).
pub static NOTIFIER_GROUP: FieldTable = FieldTable::new(
    "NotifierGroup",
    "Which recipients get which monitors, steps and errors; without any group every recipient gets every alert",
    &[&[
        read_only_field("id", ID, "Id"),
        Field::name("name", 128, "Display name; unique in the account").required(),
        Field::flag("is_default", false, "For monitors that no group names"),
        Field::list("monitors", &MONITOR_ITEM, 10_000, "Monitors that it covers"),
        Field::list("recipients", &RECIPIENT_ITEM, 1000, "Its recipients"),
        Field::list("errortypes", &ERROR_TYPE_ITEM, 1000, "Only these errors; empty for all"),
        Field::list("templates", &TEMPLATE_ITEM, 100, "Templates that replace the defaults"),
    ]],
);

/// Values of `kind` of a template: what a notification is about.
pub const TEMPLATE_KINDS: &[&str] = &[
    "site_error",
    "site_clear",
    "no_data",
    "no_data_clear",
    "performance_error",
    "performance_clear",
    "web_change",
    "traceroute",
    "certificate_expiration",
    "hostagent_error",
    "hostagent_clear",
    "test",
    "digest",
];

/// Maximum length of a part of a template in characters.
const MAX_TEMPLATE_CHARS: usize = 65535;

const TEXT_DESCRIPTION: &str = "Text, or for JSON POST the whole JSON body; empty for the built-in one";
const HTML_DESCRIPTION: &str = "The same as HTML, for mail; empty is the built-in one";
const SUBJECT_DESCRIPTION: &str = "Title or subject; empty is the built-in one";

/// A template of notifications (behaviour.md 6 "Delivery").
pub static TEMPLATE: FieldTable = FieldTable::new(
    "Template",
    "Template for notifications of one kind and method; groups refer to it",
    &[&[
        read_only_field("id", ID, "Id"),
        Field::name("name", 255, "Display name; unique in the account").required(),
        Field::new(
            "kind",
            FieldType::TextEnum(TEMPLATE_KINDS),
            "What the messages are about; without it, anything",
        ),
        Field::new("method_id", FieldType::IntEnum(METHOD_IDS), "How they are sent; without it, any way"),
        Field::text("subject", 1000, SUBJECT_DESCRIPTION).with_default(DefaultValue::Text("")),
        Field::text("text", MAX_TEMPLATE_CHARS, TEXT_DESCRIPTION).with_default(DefaultValue::Text("")),
        Field::text("html", MAX_TEMPLATE_CHARS, HTML_DESCRIPTION).with_default(DefaultValue::Text("")),
    ]],
);

/// A template to preview.
pub static TEMPLATE_PREVIEW_REQUEST: FieldTable = FieldTable::new(
    "TemplatePreview",
    "A template to render with an example",
    &[&[
        Field::choice("kind", TEMPLATE_KINDS, "What the message is about"),
        Field::new("method_id", FieldType::IntEnum(METHOD_IDS), "How it would be sent")
            .with_default(DefaultValue::Int(12)),
        Field::text("subject", 1000, SUBJECT_DESCRIPTION).with_default(DefaultValue::Text("")),
        Field::text("text", MAX_TEMPLATE_CHARS, TEXT_DESCRIPTION).with_default(DefaultValue::Text("")),
        Field::text("html", MAX_TEMPLATE_CHARS, HTML_DESCRIPTION).with_default(DefaultValue::Text("")),
        Field::new("monitor_id", ID, "A monitor whose name and fields the example has"),
    ]],
);

const RENDERED_TEXT: FieldType = FieldType::Text { min: 0, max: 10_000_000, format: TextFormat::Any };

/// The result of a template preview.
pub static RENDERED_PREVIEW: FieldTable = FieldTable::new(
    "Preview",
    "What the template makes of the example",
    &[&[
        read_only_field("subject", RENDERED_TEXT, "Title or subject"),
        read_only_field("text", RENDERED_TEXT, "Plain text"),
        read_only_field("html", RENDERED_TEXT, "HTML; null where the method has none"),
        read_only_field("body", RENDERED_TEXT, "The whole JSON body; null where the template makes none"),
    ]],
);

/// A test notification.
pub static TEST_NOTIFICATION: FieldTable = FieldTable::new(
    "TestNotifier",
    "A test alert, which shows whether a recipient can be reached",
    &[&[
        Field::new("recipient_id", ID, "The recipient").required(),
        Field::new("monitor_id", ID, "A monitor whose name and fields it has"),
    ]],
);

/// A period of the week in which an agreement applies, or does not.
pub static OPERATING_PERIOD: FieldTable = FieldTable::new(
    "OperatingPeriod",
    "A period of each week, in the account's time zone; it may wrap the week",
    &[&[
        Field::flag("exclude", false, "The period is excluded; otherwise only such periods count"),
        Field::new("from_day", WEEKDAY, "Day of its start, 1 is Sunday").required(),
        Field::new("from_time", TIME_OF_DAY, "Its start, `hh:mm`").required(),
        Field::new("thru_day", WEEKDAY, "Day of its end, 1 is Sunday").required(),
        Field::new("thru_time", TIME_OF_DAY, "Its end, `hh:mm`").required(),
    ]],
);

/// A period that does not count.
pub static SLA_EXCLUSION: FieldTable = FieldTable::new(
    "SlaExclusion",
    "A time that does not count",
    &[&[
        Field::new("from_date", LOCAL_TIME, "Its start").required(),
        Field::new("thru_date", LOCAL_TIME, "Its end").required(),
        Field::new("location_id", ID, "At this location only; without it everywhere"),
        Field::text("note", 255, "Why"),
    ]],
);

static PERIOD_ITEM: FieldType = FieldType::Object(&OPERATING_PERIOD);
static EXCLUSION_ITEM: FieldType = FieldType::Object(&SLA_EXCLUSION);

/// Percent of a goal; more than 0, up to three decimals.
const PERCENT: FieldType = FieldType::Float { min: 0.001, max: 100.0 };

/// Fields of an agreement besides its monitor.
static SLA_FIELDS: &[Field] = &[
    Field::name("name", 255, "Display name").required(),
    Field::text("description", 1000, "What it says"),
    Field::new("availability", PERCENT, "Goal: percent of checks that pass"),
    Field::new("uptime", PERCENT, "Goal: percent of intervals in which any location passes"),
    Field::new(
        "response_time",
        FieldType::Float { min: 0.001, max: 3600.0 },
        "Goal: mean seconds of a check",
    ),
    Field::flag(
        "use_fullpage_time",
        false,
        "`response_time` counts the full page with its objects, where a run loaded one",
    ),
    Field::list("operating_periods", &PERIOD_ITEM, 100, "When it holds; empty is always"),
    Field::list("exclusions", &EXCLUSION_ITEM, 1000, "Times that do not count"),
];

/// A service level agreement (behaviour.md 1 `/slas`).
pub static SLA: FieldTable = FieldTable::new(
    "Sla",
    "What was agreed for a monitor",
    &[
        &[
            read_only_field("id", ID, "Id"),
            Field::new("monitor_id", ID, "The monitor; each has one at most").required(),
        ],
        SLA_FIELDS,
    ],
);

/// Bulk edit of the agreements of several monitors.
pub static SLA_BULK_EDIT: FieldTable = FieldTable::new(
    "SlaBulkEdit",
    "Agreements of several monitors; fields that are left out stay as they are",
    &[
        &[Field::new(
            "monitors",
            FieldType::List { item_type: &MONITOR_ID_ITEM, min: 1, max: 100_000 },
            "Whose",
        )
        .required()],
        &[
            Field::name("name", 255, "Display name; required for monitors without one"),
            Field::text("description", 1000, "What it says"),
            Field::new("availability", PERCENT, "Goal: percent of checks that pass"),
            Field::new("uptime", PERCENT, "Goal: percent of intervals in which any location passes"),
            Field::new(
                "response_time",
                FieldType::Float { min: 0.001, max: 3600.0 },
                "Goal: mean seconds of a check",
            ),
            Field::new("use_fullpage_time", FieldType::Bool, "The full page with its objects counts"),
            Field::new(
                "operating_periods",
                FieldType::List { item_type: &PERIOD_ITEM, min: 0, max: 100 },
                "When it holds",
            ),
            Field::new(
                "exclusions",
                FieldType::List { item_type: &EXCLUSION_ITEM, min: 0, max: 1000 },
                "What does not count",
            ),
        ],
    ],
);

static MONITOR_ID_ITEM: FieldType = ID;

static OCCURRENCE_FIELDS: &[Field] = &[
    read_only_field("from_date", SHORT_TEXT, "Its start, in the account's time zone"),
    read_only_field("thru_date", SHORT_TEXT, "Its end, in the account's time zone"),
    read_only_field("from", SHORT_TEXT, "Its start, UTC"),
    read_only_field("thru", SHORT_TEXT, "Its end, UTC"),
];

/// A period in which a blackout is in force.
pub static BLACKOUT_OCCURRENCE: FieldTable =
    FieldTable::new("BlackoutOccurrence", "A time at which a blackout holds", &[OCCURRENCE_FIELDS]);

/// Values of `type` of a performance alert.
pub const THRESHOLD_TYPES: &[&str] = &["static", "dynamic"];

/// Values of `level` of a performance alert; the default first.
pub const ALERT_LEVELS: &[&str] = &["error", "warning"];

/// A performance alert of a monitor (behaviour.md 6).
pub static PERFORMANCE_ALERT: FieldTable = FieldTable::new(
    "PerformanceAlert",
    "Alert on a monitor's mean check duration, by location",
    &[&[
        read_only_field("id", ID, "Id"),
        read_only_field("monitor_id", ID, "The monitor"),
        Field::new(
            "type",
            FieldType::TextEnum(THRESHOLD_TYPES),
            "Against a fixed time, or against the mean of the last days",
        )
        .required(),
        Field::new(
            "threshold",
            FieldType::Float { min: 0.001, max: 100_000.0 },
            "Static: mean seconds; dynamic: percent over the mean of the last days",
        )
        .required(),
        Field::int("days", 1, 7, "Dynamic: over the mean of so many days").with_default(DefaultValue::Int(7)),
        Field::int("window", 1, 1440, "Minutes that the mean is taken over")
            .with_default(DefaultValue::Int(15)),
        Field::choice("level", ALERT_LEVELS, "Severity"),
        Field::int("step", 1, MAX_STEPS, "The time of this step; without it of the whole check"),
        Field::flag("enabled", true, "Whether it is evaluated"),
        read_only_field("active", FieldType::Bool, "Whether it is active now"),
    ]],
);

static LOCATION_ID_ITEM: FieldType = FieldType::Int { min: 1, max: i64::MAX };
const COUNT: FieldType = FieldType::Int { min: 0, max: i64::MAX };
const LONG_TEXT: FieldType = FieldType::Text { min: 0, max: 65535, format: TextFormat::Any };

/// The check that started an outage.
pub static EPISODE_CAUSE: FieldTable = FieldTable::new(
    "EpisodeCause",
    "The check that started an outage",
    &[&[
        read_only_field("check_id", SHORT_TEXT, "The result, for `/results/{id}`"),
        read_only_field("planned_at", SHORT_TEXT, "When its run was due, UTC"),
        read_only_field("location_id", ID, "Where it ran"),
        read_only_field("status", COUNT, "Status code"),
        read_only_field("status_text", SHORT_TEXT, "The status as text"),
        read_only_field("step", COUNT, "The failing step of several"),
    ]],
);

/// Result of the confirmation of a failure by a second location.
pub static VERIFICATION: FieldTable = FieldTable::new(
    "Verification",
    "Result of the confirmation by a second location",
    &[&[
        read_only_field(
            "status",
            COUNT,
            "70 no error found, 71 confirmed, 72 no answer, 73 invalid answer, 79 unavailable",
        ),
        read_only_field("status_text", SHORT_TEXT, "The status as text"),
        read_only_field("location_id", ID, "The location that was asked"),
        read_only_field("found", COUNT, "Status code of its own check"),
        read_only_field("at", SHORT_TEXT, "When the result came in, UTC"),
    ]],
);

static EPISODE_FIELDS: &[Field] = &[
    read_only_field("id", ID, "Id"),
    read_only_field("monitor_id", ID, "The monitor"),
    read_only_field("monitor_name", SHORT_TEXT, "Its name then"),
    read_only_field("started_at", SHORT_TEXT, "When its first failing run was due, UTC"),
    read_only_field(
        "ended_at",
        SHORT_TEXT,
        "When the first good run after it was due, UTC; null while it is open",
    ),
    read_only_field("recovered", FieldType::Bool, "Whether a good run ended it, not the end of monitoring"),
    read_only_field("status", COUNT, "Status code of its last failing run"),
    read_only_field("status_text", SHORT_TEXT, "The status as text"),
    read_only_field("runs", COUNT, "Its failing runs"),
    read_only_field("last_run", SHORT_TEXT, "When the last of them was due, UTC"),
    Field::object("cause", &EPISODE_CAUSE, "The check that began it").read_only(),
    read_only_field(
        "locations",
        FieldType::List { item_type: &LOCATION_ID_ITEM, min: 0, max: 1000 },
        "Locations that failed",
    ),
    Field::object("verification", &VERIFICATION, "What a second location said").read_only(),
    read_only_field("flapping", FieldType::Bool, "It started soon after another outage had ended"),
    read_only_field("acknowledged_by", SHORT_TEXT, "Login of who acknowledged it"),
    read_only_field("acknowledged_at", SHORT_TEXT, "When, UTC"),
];

/// An outage of a monitor.
pub static EPISODE: FieldTable = FieldTable::new("Episode", "An outage of a monitor", &[EPISODE_FIELDS]);

static NOTIFICATION_ITEM: FieldType = FieldType::Object(&NOTIFICATION);

/// An outage with its notifications.
pub static EPISODE_DETAIL: FieldTable = FieldTable::new(
    "EpisodeDetail",
    "An outage of a monitor with its notifications",
    &[
        EPISODE_FIELDS,
        &[read_only_field(
            "notifications",
            FieldType::List { item_type: &NOTIFICATION_ITEM, min: 0, max: 1000 },
            "The newest messages about it, at most 1000",
        )],
    ],
);

/// Values of `state` of a notification.
pub const NOTIFICATION_STATES: &[&str] = &["pending", "held", "sent", "digested", "dead"];

/// A notification to a recipient.
pub static NOTIFICATION: FieldTable = FieldTable::new(
    "Notification",
    "A message to a recipient",
    &[&[
        read_only_field("id", ID, "Id"),
        read_only_field("kind", FieldType::TextEnum(TEMPLATE_KINDS), "What it is about"),
        read_only_field(
            "state",
            FieldType::TextEnum(NOTIFICATION_STATES),
            "Delivery state; a dead one was given up",
        ),
        read_only_field("recipient_id", ID, "To whom"),
        read_only_field("recipient_name", SHORT_TEXT, "Name of the recipient; null when it was removed"),
        read_only_field("method_id", COUNT, "How it is reached"),
        read_only_field("group_id", ID, "The group that names the recipient"),
        read_only_field("monitor_id", ID, "The monitor"),
        read_only_field("monitor_name", SHORT_TEXT, "Its name then"),
        read_only_field("episode_id", ID, "The outage"),
        read_only_field("check_id", SHORT_TEXT, "The result, for `/results/{id}`"),
        read_only_field("status", COUNT, "Status code; 0 for clears"),
        read_only_field("status_text", LONG_TEXT, "The status as text"),
        read_only_field("errcount", COUNT, "Consecutive failing runs; 0 when it is over"),
        read_only_field("created_at", SHORT_TEXT, "When it was written, UTC"),
        read_only_field("attempts", COUNT, "Number of delivery attempts"),
        read_only_field("next_at", SHORT_TEXT, "Time of the next attempt, UTC; for a pending one"),
        read_only_field("sent_at", SHORT_TEXT, "When the receiver accepted it, UTC"),
        read_only_field("error", LONG_TEXT, "Why the last attempt failed"),
        read_only_field("digest_id", ID, "The digest that it went out with"),
    ]],
);
