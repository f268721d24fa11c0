//! Service level agreements and their exclusions.

use serde::Deserialize;

/// A service level agreement.
#[derive(Clone, Debug, Deserialize)]
pub struct SlaSettings<'a> {
    /// Display name.
    pub name: &'a str,
    /// Goal: percent of checks that pass.
    pub availability: Option<f64>,
    /// Goal: percent of runs that pass at one location or more.
    pub uptime: Option<f64>,
    /// Goal: mean duration of a check in seconds.
    pub response_time: Option<f64>,
    /// Whether `response_time` includes the time of the full page load.
    pub use_fullpage_time: bool,
    /// When the agreement applies; empty for always.
    #[serde(borrow)]
    pub operating_periods: Vec<OperatingPeriodSettings<'a>>,
    /// Periods that do not count.
    #[serde(borrow)]
    pub exclusions: Vec<SlaExclusionSettings<'a>>,
}

/// A period of each week.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct OperatingPeriodSettings<'a> {
    /// True: the period does not count. False: it is operating time, and once any such period exists, time outside of
    /// them does not count.
    pub exclude: bool,
    /// Day of its start, 1 is Sunday.
    pub from_day: u8,
    /// Its start, `hh:mm`.
    pub from_time: &'a str,
    /// Day of its end, 1 is Sunday.
    pub thru_day: u8,
    /// Its end, `hh:mm`.
    pub thru_time: &'a str,
}

/// A period that does not count.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct SlaExclusionSettings<'a> {
    /// Its start.
    pub from_date: &'a str,
    /// Its end.
    pub thru_date: &'a str,
    /// Only this location.
    pub location_id: Option<i64>,
}
