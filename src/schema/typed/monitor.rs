//! The settings of a monitor that every run and result uses: small, and read when it is loaded.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::alerting::{AlertingSettings, CertificateDateSettings, FullPageSettings};
use super::browser::StepTimeoutSettings;
use super::deserializer::deserialize_fields;
use super::invalid_settings::InvalidFieldValue;
use super::schedule::{HandsetSettings, LocationModeSettings, ScheduleSettings, ShortIntervalSettings};
use crate::domain::{LocationMode, MonitorType};
use crate::schema::field::{Field, FieldTable};
use crate::schema::table;

/// The settings for scheduling and alerting of a monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MonitorSettings {
    /// How often, how long and at how many locations it runs.
    pub schedule: ScheduleSettings,
    /// Which locations a run uses. Tests on handsets, which have other modes, are planned as Global Verify.
    pub location_mode: LocationMode,
    /// Minutes after 00:00 UTC at which the grid of runs starts, if set.
    pub schedule_offset_minutes: Option<u16>,
    /// Seconds that a step of a script may take; `None` without a limit of its own.
    pub step_timeout_seconds: Option<u16>,
    /// Alerts of a failing check.
    pub alerting: AlertingSettings,
    /// Loading and comparison of full pages, for types that load pages.
    pub full_page: Option<FullPageSettings>,
    /// Which dates of certificates are checked.
    pub certificate_dates: CertificateDateSettings,
    /// Seconds between two runs, instead of the minutes of the schedule.
    pub interval_seconds: Option<u16>,
}

impl MonitorSettings {
    /// Reads the settings of a monitor whose field values `value_of` returns.
    pub(in crate::schema) fn from_values<'a>(
        monitor_type: MonitorType,
        value_of: &dyn Fn(usize, &'static Field) -> Option<&'a Value>,
    ) -> Result<Self, InvalidFieldValue> {
        let table = table::for_type(monitor_type);
        let (mode, offset) = match monitor_type {
            MonitorType::MobileCloud | MonitorType::MobileLab => (
                LocationMode::GlobalVerify,
                deserialize_fields::<HandsetSettings>(table, value_of)?.offset_minutes,
            ),
            _ => (deserialize_fields::<LocationModeSettings>(table, value_of)?.mode, None),
        };
        let short_interval_settings: Option<ShortIntervalSettings> =
            deserialize_if_present(table, "interval_seconds", value_of)?;
        let step_timeout_settings: Option<StepTimeoutSettings> =
            deserialize_if_present(table, "step_timeout", value_of)?;
        Ok(Self {
            schedule: deserialize_fields(table, value_of)?,
            location_mode: mode,
            schedule_offset_minutes: offset,
            step_timeout_seconds: step_timeout_settings
                .and_then(|step_timeout_settings| step_timeout_settings.step_timeout)
                .filter(|seconds| *seconds > 0),
            alerting: deserialize_fields(table, value_of)?,
            full_page: deserialize_if_present(table, "interval_fullpage", value_of)?,
            interval_seconds: short_interval_settings.and_then(|settings| settings.interval_seconds),
            certificate_dates: deserialize_if_present(table, "check_ssl_expiration_dates", value_of)?
                .unwrap_or_default(),
        })
    }
}

impl MonitorSettings {
    /// Returns the time between two runs.
    #[must_use]
    pub fn interval(&self) -> Duration {
        let seconds = self.interval_seconds.map(u64::from).filter(|seconds| *seconds > 0);
        let minutes = u64::from(self.schedule.interval_minutes).max(1);
        Duration::from_secs(seconds.unwrap_or(60 * minutes))
    }
}

/// Reads settings of those types whose table has `field`; `None` for other types.
fn deserialize_if_present<'a, T: Deserialize<'a>>(
    table: &'static FieldTable,
    field: &str,
    value_of: &dyn Fn(usize, &'static Field) -> Option<&'a Value>,
) -> Result<Option<T>, InvalidFieldValue> {
    table.position(field).map(|_| deserialize_fields(table, value_of)).transpose()
}
