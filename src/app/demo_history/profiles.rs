//! What is made up: how long the checks of each monitor take, and what went wrong when.

use crate::domain::{FailureKind, Phase};

/// How the checks of a monitor of the demo were.
pub(super) struct Profile {
    /// Key of the monitor.
    pub(super) key: &'static str,
    /// Usual duration of a check, in microseconds.
    pub(super) usual_micros: f64,
    /// Share of each phase in it.
    pub(super) phases: &'static [(Phase, f64)],
    /// What went wrong.
    pub(super) incidents: &'static [Incident],
}

/// A time in which the checks of a monitor failed.
pub(super) struct Incident {
    /// Minutes before now at which it began.
    pub(super) minutes_ago: i64,
    /// How long it lasted, in minutes.
    pub(super) minutes: i64,
    /// Phase in which the checks failed.
    pub(super) phase: Phase,
    /// How they failed.
    pub(super) kind: FailureKind,
    /// Particulars.
    pub(super) detail: &'static str,
}

/// A thing that somebody reported.
pub(super) struct ReportedEvent {
    /// Hours before now at which it was.
    pub(super) hours_ago: i64,
    /// Its type.
    pub(super) event_type: &'static str,
    /// What happened.
    pub(super) description: &'static str,
}

const DAY: i64 = 24 * 60;

const HTTP_PHASES: &[(Phase, f64)] =
    &[(Phase::Connect, 0.12), (Phase::Send, 0.02), (Phase::FirstByte, 0.7), (Phase::Transfer, 0.16)];
const HTTPS_PHASES: &[(Phase, f64)] = &[
    (Phase::Connect, 0.08),
    (Phase::Tls, 0.34),
    (Phase::Send, 0.01),
    (Phase::FirstByte, 0.45),
    (Phase::Transfer, 0.12),
];
const ONE_REPLY: &[(Phase, f64)] = &[(Phase::Connect, 1.0)];
const QUESTION: &[(Phase, f64)] = &[(Phase::Send, 0.1), (Phase::FirstByte, 0.9)];

const fn incident(
    minutes_ago: i64,
    minutes: i64,
    phase: Phase,
    kind: FailureKind,
    detail: &'static str,
) -> Incident {
    Incident { minutes_ago, minutes, phase, kind, detail }
}

/// When the host of the demo was switched off, in minutes before now; no run took place then.
pub(super) const SWITCHED_OFF: (i64, i64) = (12 * DAY + 7 * 60, 40);

/// When runs were suppressed by a blackout, in minutes before now.
pub(super) const BLACKOUT: (i64, i64) = (5 * DAY + 3 * 60, 60);

/// The monitors of `config/demo/monitors.yaml` that have a history. The one that is always red has none.
pub(super) const PROFILES: &[Profile] = &[
    Profile {
        key: "demo-website",
        usual_micros: 84_000.0,
        phases: HTTP_PHASES,
        incidents: &[
            incident(21 * DAY, 35, Phase::FirstByte, FailureKind::NoResponse, "the shop was overloaded"),
            incident(6 * DAY + 500, 15, Phase::FirstByte, FailureKind::TimedOut, "the shop was overloaded"),
        ],
    },
    Profile {
        key: "demo-website-flaky",
        usual_micros: 132_000.0,
        phases: HTTP_PHASES,
        incidents: &[
            incident(
                27 * DAY,
                20,
                Phase::FirstByte,
                FailureKind::HttpErrorStatus,
                "500 Internal Server Error",
            ),
            incident(18 * DAY, 45, Phase::FirstByte, FailureKind::HttpErrorStatus, "502 Bad Gateway"),
            incident(
                9 * DAY,
                15,
                Phase::FirstByte,
                FailureKind::HttpErrorStatus,
                "500 Internal Server Error",
            ),
            incident(
                3 * DAY,
                30,
                Phase::FirstByte,
                FailureKind::HttpErrorStatus,
                "500 Internal Server Error",
            ),
            incident(500, 10, Phase::FirstByte, FailureKind::HttpErrorStatus, "503 Service Unavailable"),
        ],
    },
    Profile { key: "demo-website-redirect", usual_micros: 47_000.0, phases: HTTP_PHASES, incidents: &[] },
    Profile {
        key: "demo-website-ssl",
        usual_micros: 118_000.0,
        phases: HTTPS_PHASES,
        incidents: &[incident(
            16 * DAY,
            95,
            Phase::Tls,
            FailureKind::CertificateExpired,
            "it was renewed too late",
        )],
    },
    Profile {
        key: "demo-tcp",
        usual_micros: 3_100.0,
        phases: ONE_REPLY,
        incidents: &[
            incident(24 * DAY, 10, Phase::Connect, FailureKind::ConnectRefused, "the queue was restarted"),
            incident(4 * DAY + 300, 50, Phase::Connect, FailureKind::ConnectRefused, "the queue was moved"),
        ],
    },
    Profile { key: "demo-ping", usual_micros: 900.0, phases: ONE_REPLY, incidents: &[] },
    Profile {
        key: "demo-name-server",
        usual_micros: 2_200.0,
        phases: QUESTION,
        incidents: &[incident(
            10 * DAY,
            25,
            Phase::FirstByte,
            FailureKind::TimedOut,
            "the name server did not reply",
        )],
    },
];

/// What was reported.
pub(super) const EVENTS: &[ReportedEvent] = &[
    ReportedEvent {
        hours_ago: 16 * 24 - 2,
        event_type: "certificate",
        description: "New certificate of the account page",
    },
    ReportedEvent { hours_ago: 8 * 24, event_type: "release", description: "Shop 2.4 released" },
    ReportedEvent {
        hours_ago: 4 * 24,
        event_type: "maintenance",
        description: "Order queue moved to a new host",
    },
    ReportedEvent { hours_ago: 20, event_type: "release", description: "Shop 2.5 released" },
];

/// Agreements, as bodies of version 3 without their monitor: key of the monitor and fields.
pub(super) const AGREEMENTS: &[(&str, &str)] = &[
    (
        "demo-website",
        r#"{"name": "Shop front page", "availability": 99.5, "uptime": 99.9, "response_time": 0.5}"#,
    ),
    ("demo-tcp", r#"{"name": "Order queue", "availability": 99.9}"#),
];
