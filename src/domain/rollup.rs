//! Statistics of a monitor at a location by minute, hour and day.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::id::{CustomerId, LocationId, MonitorId};
use super::phase::Phases;
use super::time::Timestamp;

/// Most steps between `from` and `until` of one query.
pub const MAX_ROLLUP_STEPS: u64 = 10_000;

/// Width of the steps of a query, UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RollupStep {
    /// Computed from results when read.
    Minute,
    /// Stored once the hour has ended.
    #[default]
    Hour,
    /// Stored once the day has ended.
    Day,
}

/// Which statistics are read.
#[derive(Clone, Copy, Debug)]
pub struct RollupQuery {
    /// The monitor.
    pub monitor_id: MonitorId,
    /// The account that the monitor belongs to; `None` for any.
    pub customer: Option<CustomerId>,
    /// Only at this location.
    pub location: Option<LocationId>,
    /// Width of the steps.
    pub step: RollupStep,
    /// Steps that start at or after.
    pub from: Timestamp,
    /// Steps that start before.
    pub until: Timestamp,
    /// Whether user experience and content views are read too. By minute this takes longer, because it is computed
    /// from results.
    pub with_browser_figures: bool,
}

/// Statistics of one monitor at one location over a minute, an hour or a day.
#[derive(Clone, Debug, PartialEq)]
pub struct Rollup {
    /// The monitor.
    pub monitor_id: MonitorId,
    /// The location.
    pub location_id: LocationId,
    /// Start of the minute, hour or day.
    pub start: Timestamp,
    /// Runs by outcome, in the order of [`Outcome::ALL`](crate::domain::Outcome::ALL).
    pub runs_by_outcome: [u64; 6],
    /// Mean duration of ok and warning runs in microseconds; `None` when there are none.
    pub mean_duration_us: Option<u64>,
    /// Percentiles 50, 75, 90, 95, 99 of the same, in microseconds.
    pub duration_percentiles_us: Option<[u64; 5]>,
    /// Mean of each phase over the ok and warning runs that reached it; `None` when none was recorded.
    pub mean_phases: Option<Phases>,
    /// What browsers measured of pages in ok and warning runs.
    pub user_experience: Option<UserExperience>,
    /// Content views of browser scripts, by id.
    pub views: Vec<ContentViewFigures>,
}

/// Means of what browsers measured of pages, from the start of the navigation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UserExperience {
    /// Number of pages; one per script step, the page that it ended with.
    pub pages: u64,
    /// First paint.
    pub first_paint_us: Option<u64>,
    /// First contentful paint.
    pub first_contentful_paint_us: Option<u64>,
    /// Largest contentful paint.
    pub largest_contentful_paint_us: Option<u64>,
    /// Cumulative layout shift, without unit.
    pub layout_shift: Option<f64>,
    /// `DOMContentLoaded`.
    pub dom_load_us: Option<u64>,
    /// The event `load`.
    pub page_load_us: Option<u64>,
}

/// Figures of a content view. Its means are those of runs in which it passed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContentViewFigures {
    /// Id of the content view.
    pub id: i64,
    /// Its display name; `None` when the monitor has no such view any more.
    pub name: Option<String>,
    /// Runs with the view.
    pub runs: u64,
    /// Those in which it failed.
    pub errors: u64,
    /// Mean time from the start of its first object or step to the end of its last.
    pub mean_us: Option<u64>,
    /// Mean number of its objects.
    pub objects: Option<u64>,
    /// Mean size of its objects after decoding, in bytes.
    pub bytes: Option<u64>,
}

impl RollupStep {
    /// Names of all steps, in their order.
    pub const NAMES: [&str; 3] = ["minute", "hour", "day"];

    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// Returns the step with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Minute, Self::Hour, Self::Day].into_iter().find(|step| step.name() == name)
    }

    /// Returns its width.
    #[must_use]
    pub const fn width(self) -> Duration {
        Duration::from_secs(match self {
            Self::Minute => 60,
            Self::Hour => 3600,
            Self::Day => 86_400,
        })
    }

    /// Returns its width in microseconds.
    #[must_use]
    pub const fn width_us(self) -> i64 {
        match self {
            Self::Minute => 60_000_000,
            Self::Hour => 3_600_000_000,
            Self::Day => 86_400_000_000,
        }
    }

    /// Returns the start of the step that contains `time`.
    #[must_use]
    pub const fn start_of(self, time: Timestamp) -> Timestamp {
        let micros = time.as_micros();
        Timestamp::from_micros(micros.saturating_sub(micros.rem_euclid(self.width_us())))
    }
}
