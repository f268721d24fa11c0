//! Series that exist from the start with the value 0. Prometheus sees the first event of a counter only when the series
//! was there before it.

use super::Metrics;
use crate::domain::{MissedReason, StoreError};
use crate::telemetry::labels::{
    CommitErrorLabels, HousekeepingJobLabels, ItemKindLabels, MissedRunLabels, NotificationLabels,
    ReloadLabels, TaskLabels,
};
use crate::telemetry::task_name::TaskName;

impl Metrics {
    /// Creates the series of the counters whose labels are known.
    pub(super) fn create_series_from_start(&self) {
        for reason in MissedReason::ALL {
            drop(self.missed_runs.get_or_create(&MissedRunLabels { reason }));
        }
        for kind in StoreError::KINDS {
            drop(self.commit_errors.get_or_create(&CommitErrorLabels { kind }));
        }
        for outcome in ["taken", "refused"] {
            drop(self.config_reloads.get_or_create(&ReloadLabels { outcome }));
        }
        for outcome in ["sent", "held", "dead"] {
            drop(self.notifications.get_or_create(&NotificationLabels { outcome }));
        }
        for task in TaskName::ALL {
            drop(self.task_panics.get_or_create(&TaskLabels { task: task.label() }));
        }
        for kind in ["result", "change", "monitor", "notification"] {
            drop(self.quarantined.get_or_create(&ItemKindLabels { kind }));
        }
        for kind in ["result", "capture"] {
            drop(self.spool_dropped.get_or_create(&ItemKindLabels { kind }));
        }
    }

    /// Creates the series of the housekeeping jobs with these labels.
    pub fn create_housekeeping_series(&self, jobs: impl IntoIterator<Item = &'static str>) {
        for job in jobs {
            for outcome in ["done", "failed", "skipped"] {
                drop(self.housekeeping_runs.get_or_create(&HousekeepingJobLabels { job, outcome }));
            }
        }
    }
}
