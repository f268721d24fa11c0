//! Blackout windows: once, or each week in the account's time zone, over its daylight saving changes
//! (interface.md 2.4, behaviour.md 6 "Blackout kinds").

use jiff::tz::TimeZone;

use crate::model::{MonitorId, RecipientId, Timestamp};

/// What rests in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rests {
    /// Runs of a monitor.
    Monitor(MonitorId),
    /// Availability alerts of a monitor.
    Alert(MonitorId),
    /// A recipient.
    Notifier(RecipientId),
}

/// When it rests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum When {
    /// From the first moment up to the second, which is not in it any more; local to the account.
    Once {
        /// Start.
        from: jiff::civil::DateTime,
        /// End.
        thru: jiff::civil::DateTime,
    },
    /// Each week from a day and time to a day and time, 1 is Sunday; the end may lie before the start and is
    /// then in the next week.
    Weekly {
        /// Day of the start, 1 to 7.
        start_day: u8,
        /// Its time.
        start: jiff::civil::Time,
        /// Day of the end, 1 to 7.
        end_day: u8,
        /// Its time; `00:00` on the start's day is a whole week.
        end: jiff::civil::Time,
    },
}

/// One blackout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Its number.
    pub id: i64,
    /// What rests.
    pub rests: Rests,
    /// When.
    pub when: When,
}

/// The blackouts of an account.
#[derive(Clone, Debug)]
pub struct Calendar {
    zone: TimeZone,
    windows: std::collections::HashMap<Rests, Vec<Window>>,
}

impl Calendar {
    /// The blackouts of an account in `zone`.
    #[must_use]
    pub fn new(zone: TimeZone, windows: Vec<Window>) -> Self {
        let mut by_subject: std::collections::HashMap<Rests, Vec<Window>> = std::collections::HashMap::new();
        for window in windows {
            by_subject.entry(window.rests).or_default().push(window);
        }
        Self { zone, windows: by_subject }
    }

    /// The blackouts of `subject`, past ones too.
    #[must_use]
    pub fn of(&self, subject: Rests) -> &[Window] {
        self.windows.get(&subject).map(Vec::as_slice).unwrap_or_default()
    }

    /// The blackout in which `subject` rests at `at`.
    #[must_use]
    pub fn covers(&self, subject: Rests, at: Timestamp) -> Option<&Window> {
        let _ = (&self.zone, self.windows.get(&subject)?, at);
        todo!("h-figures")
    }

    /// The next `most` occurrences of `window` that end after `after`, as start and end.
    #[must_use]
    pub fn occurrences(&self, window: &Window, after: Timestamp, most: usize) -> Vec<(Timestamp, Timestamp)> {
        let _ = (window, after, most);
        todo!("h-figures")
    }
}
