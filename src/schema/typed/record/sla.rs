//! Service level agreements and what they leave out.

use serde::Deserialize;

/// A service level agreement.
#[derive(Clone, Debug, Deserialize)]
pub struct SlaSettings<'a> {
    /// What people call it.
    pub name: &'a str,
    /// Percent of checks that pass.
    pub availability: Option<f64>,
    /// Percent of intervals in which any location passes.
    pub uptime: Option<f64>,
    /// Mean seconds of a check.
    pub response_time: Option<f64>,
    /// Whether `response_time` counts the full page.
    pub use_fullpage_time: bool,
    /// When it holds; empty is always.
    #[serde(borrow)]
    pub operating_periods: Vec<OperatingPeriodSettings<'a>>,
    /// Times that do not count.
    #[serde(borrow)]
    pub exclusions: Vec<SlaExclusionSettings<'a>>,
}

/// A period of each week.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct OperatingPeriodSettings<'a> {
    /// Whether it is left out, rather than that which alone counts.
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

/// A time that does not count.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct SlaExclusionSettings<'a> {
    /// Its start.
    pub from_date: &'a str,
    /// Its end.
    pub thru_date: &'a str,
    /// At this location only.
    pub location_id: Option<i64>,
}
