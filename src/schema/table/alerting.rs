//! What accounts have for alerting (behaviour.md 1, 6, 7): recipients, groups, templates, agreements,
//! performance alerts; and what is answered about it: outages, messages.

use super::super::field::{Field, Kind, Preset, Table};
use super::ids::ID;
use super::shared::reported;
use crate::syntax::format::TextFormat;

const WORD: Kind = Kind::Text { min: 0, max: 255, format: TextFormat::Any };
const DAY: Kind = Kind::Int { min: 1, max: 7 };
const CLOCK: Kind = Kind::Text { min: 1, max: 5, format: TextFormat::TimeOfDay };
const MOMENT: Kind = Kind::Text { min: 1, max: 19, format: TextFormat::LocalDateTime };

/// Steps that a monitor may have (interface.md 8).
const STEPS: i64 = 50;

/// Numbers of the methods (behaviour.md 6 `method_id`); the default first.
pub const METHOD_IDS: &[i64] = &[12, 1, 6, 8, 9, 10, 14, 15, 16, 17, 101, 102];

static BLACKOUT_ID: Kind = ID;

/// Somebody who is told (behaviour.md 1 `/recipients`).
pub static RECIPIENT: Table = Table::new(
    "Recipient",
    "Somebody who is told, and how",
    &[&[
        reported("id", ID, "Its number"),
        Field::text("name", 255, "What people call it").required(),
        Field::text(
            "recipient",
            2048,
            "Mail address, URL, host:port or telephone number, as its method has it",
        )
        .required(),
        Field::new("method_id", Kind::IntOf(METHOD_IDS), "How it is reached").or(Preset::Int(12)),
        reported("method_description", WORD, "The method in words"),
        Field::formatted(
            "username",
            255,
            TextFormat::HeaderValue,
            "Login of the target, or community of SNMP",
        ),
        Field::text("password", 1024, "Password, token or routing key of the target").secret(),
        Field::flag("availability_alert", true, "Whether it hears of errors and what belongs to them"),
        Field::flag("performance_alert", false, "Whether it hears of performance alerts"),
        Field::flag("notify_on_clear", false, "Whether it hears of the end of an error that it was told of"),
        Field::int("start_threshold", 1, 1000, "From the how manyth consecutive failing run on it is told")
            .or(Preset::Int(1)),
        Field::int("stop_threshold", 0, 1000, "How many errors of one outage it is told of; 0 is no end")
            .or(Preset::Int(10)),
        Field::flag("attach_screen_capture", false, "Whether screenshots go with mail"),
        Field::flag("attach_server_response", false, "Whether the answer of the target goes with mail"),
        reported(
            "blackout_ids",
            Kind::List { of: &BLACKOUT_ID, min: 0, max: 10_000 },
            "Its blackouts that are not past",
        ),
        reported(
            "notifier_groups",
            Kind::List { of: &BLACKOUT_ID, min: 0, max: 10_000 },
            "Groups that name it",
        ),
    ]],
);

/// A monitor of a group, or one of its steps or content views.
pub static GROUP_MONITOR: Table = Table::new(
    "NotifierGroupMonitor",
    "A monitor of a group, or one of its steps or content views",
    &[&[
        Field::new("id", ID, "The monitor").required(),
        Field::int("step_number", 1, STEPS, "Only this step of it; without it all of it"),
        Field::new("content_view_id", ID, "Only errors of this content view of it; without it all of it")
            .extension(),
    ]],
);

/// A recipient of a group.
pub static GROUP_RECIPIENT: Table = Table::new(
    "NotifierGroupRecipient",
    "A recipient of a group",
    &[&[Field::new("id", ID, "The recipient").required()]],
);

/// An error that a group is told of.
pub static GROUP_ERROR: Table = Table::new(
    "NotifierGroupErrortype",
    "An error that a group is told of",
    &[&[Field::new("id", Kind::Int { min: 1, max: 9999 }, "Its status code").required()]],
);

/// A template of a group.
pub static GROUP_TEMPLATE: Table = Table::new(
    "NotifierGroupTemplate",
    "A template of a group",
    &[&[Field::new("id", ID, "The template").required()]],
);

static A_MONITOR: Kind = Kind::Object(&GROUP_MONITOR);
static A_RECIPIENT: Kind = Kind::Object(&GROUP_RECIPIENT);
static AN_ERROR: Kind = Kind::Object(&GROUP_ERROR);
static A_TEMPLATE: Kind = Kind::Object(&GROUP_TEMPLATE);

/// Who is told of what (behaviour.md 1 `/notifier-groups`).
pub static NOTIFIER_GROUP: Table = Table::new(
    "NotifierGroup",
    "Who is told of which monitors, steps and errors; without any group everybody is told of all",
    &[&[
        reported("id", ID, "Its number"),
        Field::text("name", 128, "What people call it; unique in the account").required(),
        Field::flag("is_default", false, "For monitors that no group names"),
        Field::list("monitors", &A_MONITOR, 10_000, "What it is told of"),
        Field::list("recipients", &A_RECIPIENT, 1000, "Who is told"),
        Field::list("errortypes", &AN_ERROR, 1000, "Of these errors only; empty is all"),
        Field::list("templates", &A_TEMPLATE, 100, "What its messages are made with instead of the defaults"),
    ]],
);

/// Words of `kind` of a template: what a message is about.
pub const TEMPLATE_KINDS: &[&str] = &[
    "site_error",
    "site_clear",
    "no_data",
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

/// Characters of a part of a template at most.
const PART: usize = 65535;

const TEXT: &str = "Words, or for JSON POST the whole JSON body; empty is the built-in one";
const HTML: &str = "The same as HTML, for mail; empty is the built-in one";
const SUBJECT: &str = "Title or subject; empty is the built-in one";

/// A template of messages (behaviour.md 6 "Delivery").
pub static TEMPLATE: Table = Table::new(
    "Template",
    "What messages of one kind and method are made with; a group names it",
    &[&[
        reported("id", ID, "Its number"),
        Field::text("name", 255, "What people call it; unique in the account").required(),
        Field::new("kind", Kind::TextOf(TEMPLATE_KINDS), "What the messages are about; without it, anything"),
        Field::new("method_id", Kind::IntOf(METHOD_IDS), "How they are sent; without it, any way"),
        Field::text("subject", 1000, SUBJECT).or(Preset::Text("")),
        Field::text("text", PART, TEXT).or(Preset::Text("")),
        Field::text("html", PART, HTML).or(Preset::Text("")),
    ]],
);

/// A template to be tried.
pub static TEMPLATE_PREVIEW: Table = Table::new(
    "TemplatePreview",
    "A template that is to be tried on an example",
    &[&[
        Field::choice("kind", TEMPLATE_KINDS, "What the message is about"),
        Field::new("method_id", Kind::IntOf(METHOD_IDS), "How it would be sent").or(Preset::Int(12)),
        Field::text("subject", 1000, SUBJECT).or(Preset::Text("")),
        Field::text("text", PART, TEXT).or(Preset::Text("")),
        Field::text("html", PART, HTML).or(Preset::Text("")),
        Field::new("monitor_id", ID, "A monitor whose name and fields the example has"),
    ]],
);

const MADE: Kind = Kind::Text { min: 0, max: 10_000_000, format: TextFormat::Any };

/// What a template makes.
pub static PREVIEW: Table = Table::new(
    "Preview",
    "What the template makes of the example",
    &[&[
        reported("subject", MADE, "Title or subject"),
        reported("text", MADE, "Plain text"),
        reported("html", MADE, "HTML; null where the method has none"),
        reported("body", MADE, "The whole JSON body; null where the template makes none"),
    ]],
);

/// A message that is sent as a test.
pub static TEST_NOTIFIER: Table = Table::new(
    "TestNotifier",
    "A test alert, which shows whether a recipient can be reached",
    &[&[
        Field::new("recipient_id", ID, "Who is to get it").required(),
        Field::new("monitor_id", ID, "A monitor whose name and fields it has"),
    ]],
);

/// A period of the week in which an agreement holds, or does not.
pub static OPERATING_PERIOD: Table = Table::new(
    "OperatingPeriod",
    "A period of each week, in the account's time zone; it may wrap the week",
    &[&[
        Field::flag("exclude", false, "It is left out, rather than that which alone counts"),
        Field::new("from_day", DAY, "Day of its start, 1 is Sunday").required(),
        Field::new("from_time", CLOCK, "Its start, `hh:mm`").required(),
        Field::new("thru_day", DAY, "Day of its end, 1 is Sunday").required(),
        Field::new("thru_time", CLOCK, "Its end, `hh:mm`").required(),
    ]],
);

/// A time that does not count.
pub static SLA_EXCLUSION: Table = Table::new(
    "SlaExclusion",
    "A time that does not count",
    &[&[
        Field::new("from_date", MOMENT, "Its start").required(),
        Field::new("thru_date", MOMENT, "Its end").required(),
        Field::new("location_id", ID, "At this location only; without it everywhere"),
        Field::text("note", 255, "Why"),
    ]],
);

static A_PERIOD: Kind = Kind::Object(&OPERATING_PERIOD);
static AN_EXCLUSION: Kind = Kind::Object(&SLA_EXCLUSION);

/// Percent of a goal; more than 0, up to three decimals.
const PERCENT: Kind = Kind::Number { min: 0.001, max: 100.0 };

/// What an agreement says beside its monitor.
static GOALS: &[Field] = &[
    Field::text("name", 255, "What people call it").required(),
    Field::text("description", 1000, "What it says"),
    Field::new("availability", PERCENT, "Goal: percent of checks that pass"),
    Field::new("uptime", PERCENT, "Goal: percent of intervals in which any location passes"),
    Field::new("response_time", Kind::Number { min: 0.001, max: 3600.0 }, "Goal: mean seconds of a check"),
    Field::flag(
        "use_fullpage_time",
        false,
        "`response_time` counts the full page with its objects, where a run loaded one",
    ),
    Field::list("operating_periods", &A_PERIOD, 100, "When it holds; empty is always"),
    Field::list("exclusions", &AN_EXCLUSION, 1000, "Times that do not count"),
];

/// A service level agreement (behaviour.md 1 `/slas`).
pub static SLA: Table = Table::new(
    "Sla",
    "What was agreed for a monitor",
    &[
        &[
            reported("id", ID, "Its number"),
            Field::new("monitor_id", ID, "The monitor; each has one at most").required(),
        ],
        GOALS,
    ],
);

/// Agreements of several monitors.
pub static SLA_BULK_EDIT: Table = Table::new(
    "SlaBulkEdit",
    "Agreements of several monitors; fields that are left out stay as they are",
    &[
        &[Field::new("monitors", Kind::List { of: &ID_OF_A_MONITOR, min: 1, max: 100_000 }, "Whose")
            .required()],
        &[
            Field::text("name", 255, "What people call it; required for monitors without one"),
            Field::text("description", 1000, "What it says"),
            Field::new("availability", PERCENT, "Goal: percent of checks that pass"),
            Field::new("uptime", PERCENT, "Goal: percent of intervals in which any location passes"),
            Field::new(
                "response_time",
                Kind::Number { min: 0.001, max: 3600.0 },
                "Goal: mean seconds of a check",
            ),
            Field::new("use_fullpage_time", Kind::Flag, "The full page with its objects counts"),
            Field::new("operating_periods", Kind::List { of: &A_PERIOD, min: 0, max: 100 }, "When it holds"),
            Field::new(
                "exclusions",
                Kind::List { of: &AN_EXCLUSION, min: 0, max: 1000 },
                "What does not count",
            ),
        ],
    ],
);

static ID_OF_A_MONITOR: Kind = ID;

static AN_OCCURRENCE: &[Field] = &[
    reported("from_date", WORD, "Its start, in the account's time zone"),
    reported("thru_date", WORD, "Its end, in the account's time zone"),
    reported("from", WORD, "Its start, UTC"),
    reported("thru", WORD, "Its end, UTC"),
];

/// A time at which a blackout holds.
pub static OCCURRENCE: Table =
    Table::new("BlackoutOccurrence", "A time at which a blackout holds", &[AN_OCCURRENCE]);

/// Words of `type` of a performance alert.
pub const THRESHOLDS: &[&str] = &["static", "dynamic"];

/// Words of `level` of a performance alert; the default first.
pub const LEVELS: &[&str] = &["error", "warning"];

/// A performance alert of a monitor (behaviour.md 6).
pub static PERFORMANCE_ALERT: Table = Table::new(
    "PerformanceAlert",
    "When the mean time of a monitor's checks is told to be too long, by location",
    &[&[
        reported("id", ID, "Its number"),
        reported("monitor_id", ID, "The monitor"),
        Field::new(
            "type",
            Kind::TextOf(THRESHOLDS),
            "Against a fixed time, or against the mean of the last days",
        )
        .required(),
        Field::new(
            "threshold",
            Kind::Number { min: 0.001, max: 100_000.0 },
            "Static: mean seconds; dynamic: percent over the mean of the last days",
        )
        .required(),
        Field::int("days", 1, 7, "Dynamic: over the mean of so many days").or(Preset::Int(7)),
        Field::int("window", 1, 1440, "Minutes that the mean is taken over").or(Preset::Int(15)),
        Field::choice("level", LEVELS, "How bad it is"),
        Field::int("step", 1, STEPS, "The time of this step; without it of the whole check"),
        Field::flag("enabled", true, "Whether it is watched"),
        reported("active", Kind::Flag, "Whether it is raised now"),
    ]],
);

static AN_INT: Kind = Kind::Int { min: 1, max: i64::MAX };
const COUNT: Kind = Kind::Int { min: 0, max: i64::MAX };
const LONG: Kind = Kind::Text { min: 0, max: 65535, format: TextFormat::Any };

/// The check that began an outage.
pub static CAUSE: Table = Table::new(
    "EpisodeCause",
    "The check that began an outage",
    &[&[
        reported("check_id", WORD, "The result, for `/results/{id}`"),
        reported("planned_at", WORD, "When its run was due, UTC"),
        reported("location_id", ID, "Where it ran"),
        reported("status", COUNT, "Status code"),
        reported("status_text", WORD, "The same in words"),
        reported("step", COUNT, "The failing step of several"),
    ]],
);

/// What a second location said of a failure.
pub static VERIFICATION: Table = Table::new(
    "Verification",
    "What a second location said of a failure",
    &[&[
        reported(
            "status",
            COUNT,
            "70 no error found, 71 confirmed, 72 no answer, 73 invalid answer, 79 unavailable",
        ),
        reported("status_text", WORD, "The same in words"),
        reported("location_id", ID, "Who was asked"),
        reported("found", COUNT, "Status code of its own check"),
        reported("at", WORD, "When the answer came, UTC"),
    ]],
);

static OUTAGE: &[Field] = &[
    reported("id", ID, "Its number"),
    reported("monitor_id", ID, "The monitor"),
    reported("monitor_name", WORD, "Its name then"),
    reported("started_at", WORD, "When its first failing run was due, UTC"),
    reported("ended_at", WORD, "When the first good run after it was due, UTC; null while it is open"),
    reported("recovered", Kind::Flag, "Whether a good run ended it, rather than that nothing runs any more"),
    reported("status", COUNT, "Status code of its last failing run"),
    reported("status_text", WORD, "The same in words"),
    reported("runs", COUNT, "Its failing runs"),
    reported("last_run", WORD, "When the last of them was due, UTC"),
    Field::object("cause", &CAUSE, "The check that began it").read_only(),
    reported("locations", Kind::List { of: &AN_INT, min: 0, max: 1000 }, "Locations that failed"),
    Field::object("verification", &VERIFICATION, "What a second location said").read_only(),
    reported("flapping", Kind::Flag, "It began soon after another one had ended"),
    reported("acknowledged_by", WORD, "Login of who acknowledged it"),
    reported("acknowledged_at", WORD, "When, UTC"),
];

/// An outage of a monitor.
pub static EPISODE: Table = Table::new("Episode", "An outage of a monitor", &[OUTAGE]);

static A_MESSAGE: Kind = Kind::Object(&NOTIFICATION);

/// An outage with the messages about it.
pub static EPISODE_DETAIL: Table = Table::new(
    "EpisodeDetail",
    "An outage of a monitor, with whom it was told",
    &[
        OUTAGE,
        &[reported(
            "notifications",
            Kind::List { of: &A_MESSAGE, min: 0, max: 1000 },
            "The newest messages about it, at most 1000",
        )],
    ],
);

/// Words of `state` of a message.
pub const STATES: &[&str] = &["pending", "held", "sent", "digested", "dead"];

/// A message that somebody is owed, or got.
pub static NOTIFICATION: Table = Table::new(
    "Notification",
    "A message to a recipient",
    &[&[
        reported("id", ID, "Its number"),
        reported("kind", Kind::TextOf(TEMPLATE_KINDS), "What it is about"),
        reported("state", Kind::TextOf(STATES), "How far it is; a dead one was given up"),
        reported("recipient_id", ID, "To whom"),
        reported("recipient_name", WORD, "Name of the recipient; null when it is gone"),
        reported("method_id", COUNT, "How it is reached"),
        reported("group_id", ID, "The group that names the recipient"),
        reported("monitor_id", ID, "The monitor"),
        reported("monitor_name", WORD, "Its name then"),
        reported("episode_id", ID, "The outage"),
        reported("check_id", WORD, "The result, for `/results/{id}`"),
        reported("status", COUNT, "Status code that it tells of; 0 when something is over"),
        reported("status_text", LONG, "The same in words"),
        reported("errcount", COUNT, "Consecutive failing runs; 0 when it is over"),
        reported("created_at", WORD, "When it was written, UTC"),
        reported("attempts", COUNT, "How often it was tried"),
        reported("next_at", WORD, "When it is tried next, UTC; of a pending one"),
        reported("sent_at", WORD, "When the receiver took it, UTC"),
        reported("error", LONG, "Why the last try failed"),
        reported("digest_id", ID, "The digest that it went out with"),
    ]],
);
