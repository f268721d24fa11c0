//! The settings of a monitor that are used at each run and result: small, read when it is loaded.

use serde::Deserialize;
use serde_json::Value;

use super::alerting::{AlertingSettings, CertificateDateSettings, CertificateDates, FullPageSettings};
use super::browser::StepTimeoutSettings;
use super::invalid::InvalidSettings;
use super::reader::read;
use super::schedule::{HandsetSettings, ModeSettings, ScheduleSettings};
use crate::domain::{LocationMode, MonitorType};
use crate::schema::field::{Field, Table};
use crate::schema::table;

/// What a monitor is planned and alerts by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MonitorSettings {
    /// How often, how long and at how many locations it runs.
    pub schedule: ScheduleSettings,
    /// Which locations a run has. Tests on handsets, whose modes are others, are planned as Global Verify.
    pub mode: LocationMode,
    /// Minutes after 00:00 UTC at which the grid of runs starts, where it has one.
    pub offset: Option<u16>,
    /// Seconds that a step of a script may take; `None` without a limit of its own.
    pub step_timeout: Option<u16>,
    /// What is sent when a check fails.
    pub alerting: AlertingSettings,
    /// How full pages are loaded and compared, of types that load pages.
    pub full_page: Option<FullPageSettings>,
    /// Which dates of certificates are judged.
    pub certificate_dates: CertificateDates,
}

impl MonitorSettings {
    /// Those of a monitor of type `kind` whose fields have `values`.
    pub(in crate::schema) fn read<'a>(
        kind: MonitorType,
        values: &dyn Fn(usize, &'static Field) -> Option<&'a Value>,
    ) -> Result<Self, InvalidSettings> {
        let table = table::of(kind);
        let (mode, offset) = match kind {
            MonitorType::MobileCloud | MonitorType::MobileLab => {
                (LocationMode::GlobalVerify, read::<HandsetSettings>(table, values)?.monitor_offset)
            }
            _ => (read::<ModeSettings>(table, values)?.mode, None),
        };
        let dates: Option<CertificateDateSettings> = part(table, "check_ssl_expiration_dates", values)?;
        let steps: Option<StepTimeoutSettings> = part(table, "step_timeout", values)?;
        Ok(Self {
            schedule: read(table, values)?,
            mode,
            offset,
            step_timeout: steps.and_then(|steps| steps.step_timeout).filter(|seconds| *seconds > 0),
            alerting: read(table, values)?,
            full_page: part(table, "interval_fullpage", values)?,
            certificate_dates: dates.map(|dates| dates.check_ssl_expiration_dates).unwrap_or_default(),
        })
    }
}

/// Settings that types have whose table has `field`.
fn part<'a, T: Deserialize<'a>>(
    table: &'static Table,
    field: &str,
    values: &dyn Fn(usize, &'static Field) -> Option<&'a Value>,
) -> Result<Option<T>, InvalidSettings> {
    table.position(field).map(|_| read(table, values)).transpose()
}
