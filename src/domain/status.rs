//! Outcomes and status codes (behaviour.md 3).

use std::fmt;

use serde::{Deserialize, Serialize};

/// The outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Passed at the first attempt.
    Ok,
    /// Passed at the second attempt, or passed with a warning.
    Warning,
    /// Every attempt failed through the fault of the target.
    Error,
    /// Vigie's own fault: implies nothing about the target.
    Unknown,
    /// The run did not happen within its interval.
    Missed,
    /// Suppressed by a blackout.
    Blackout,
}

impl Outcome {
    /// Every outcome, in the order of their codes.
    pub const ALL: [Self; 6] =
        [Self::Ok, Self::Warning, Self::Error, Self::Unknown, Self::Missed, Self::Blackout];

    /// Returns the name used in JSON, metrics and terminal output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Unknown => "unknown",
            Self::Missed => "missed",
            Self::Blackout => "blackout",
        }
    }

    /// Returns the code kept in the store.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// Returns the outcome with this code.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// Returns the outcome with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.name() == name)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A status code of the table in behaviour.md 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Status(pub u16);

macro_rules! statuses {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $text:literal;)+) => {
        impl Status {
            $(#[doc = concat!("`", stringify!($code), "`: ", $text)] pub const $name: Self = Self($code);)+

            /// The codes of this table.
            pub const NAMED: &[Self] = &[$(Self::$name),+];

            /// Returns the meaning of the code as text.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self.0 {
                    $($code => $text,)+
                    5000..=5099 => "mobile device error",
                    6000..=6099 => "error in a step of the API project",
                    7000..=7099 => "page object error",
                    _ => "unlisted status",
                }
            }
        }
    };
}

statuses! {
    OK = 0, "ok";
    CONNECT_FAILED = 1, "TCP connection failed";
    TIMED_OUT = 2, "timed out";
    INVALID_RESPONSE = 3, "invalid server response";
    VALIDATION_FAILED = 5, "validation failed";
    NO_RESPONSE = 6, "no response";
    HTTP_ERROR = 7, "HTTP error status";
    REDIRECTED = 8, "redirected, not followed";
    PING_FAILED = 9, "ping failed";
    INTERNAL = 21, "internal error";
    UNRESOLVED = 51, "cannot resolve the address";
    API_PROJECT_FAILED = 60, "API project failed";
    API_PROJECT_NOT_STARTED = 61, "API project cannot start";
    VERIFICATION_NO_ERROR = 70, "verification found no error";
    VERIFICATION_CONFIRMED = 71, "verification confirmed the error";
    VERIFICATION_NO_RESPONSE = 72, "verification gave no answer";
    VERIFICATION_INVALID = 73, "verification gave an invalid answer";
    VERIFICATION_UNAVAILABLE = 79, "verification unavailable";
    EVENT_TIMED_OUT = 80, "browser event timed out";
    TRANSACTION_TIMED_OUT = 81, "maximum transaction time exceeded";
    PAGE_TOO_SLOW = 82, "page took too long to load";
    EVENT_MISSING = 83, "expected browser event missing";
    LOCATION_CHANGE_MISSING = 84, "expected location change missing";
    PAGE_UPDATE_MISSING = 85, "expected page update missing";
    NETWORK_NOT_IDLE = 86, "network did not become quiet";
    BROWSER_TIMED_OUT = 89, "internal: browser timed out";
    BROWSER_FAILED = 90, "internal: browser exception";
    ELEMENT_AMBIGUOUS = 91, "element match too weak";
    EVENTS_SKIPPED = 92, "too many skipped events";
    DIALOG_UNEXPECTED = 93, "dialog without instruction";
    TOO_MANY_STEPS = 94, "too many steps";
    CANNOT_RUN = 95, "cannot run here";
    SCRIPT_INVALID = 96, "script cannot be parsed";
    ELEMENT_MISSING = 97, "element not found";
    HOST_WARNING = 4030, "host agent: warning threshold";
    HOST_ERROR = 4040, "host agent: error threshold";
    HOST_REPORT_MISSING = 4050, "host agent: no report in time";
    HOST_PING_FAILED = 4059, "host agent: ping failed";
    OBJECT_FAILED = 7000, "page object error";
    OBJECT_SIZE_CHANGED = 7121, "page object: size changed";
    OBJECT_MISSING = 7122, "page object: missing";
    OBJECT_NEW = 7123, "page object: new";
    NO_OBJECTS = 7130, "page object: none found";
    FULL_PAGE_TIMED_OUT = 7202, "full page timed out";
}

impl Status {
    /// Returns the `70XX` code of a page object that failed with this code. Codes of three digits and more, which no
    /// object has, count as internal errors.
    #[must_use]
    pub const fn to_page_object_status(self) -> Self {
        Self(Self::OBJECT_FAILED.0 + self.two_digit_code())
    }

    /// Returns the `60XX` code of a collection or project with a step that failed with this code. Codes of three digits
    /// and more, which no step has, count as internal errors.
    #[must_use]
    pub const fn to_project_step_status(self) -> Self {
        Self(6000 + self.two_digit_code())
    }

    const fn two_digit_code(self) -> u16 {
        if self.0 < 100 { self.0 } else { Self::INTERNAL.0 }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
