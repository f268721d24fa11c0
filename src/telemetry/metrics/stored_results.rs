//! What the metrics of monitors need of the results that were stored.

use super::Metrics;
use crate::domain::CheckResult;
use crate::telemetry::last_figures::LastFigures;
use crate::telemetry::monitor_histograms::MonitorHistograms;

impl Metrics {
    /// Counts the durations of stored checks by monitor from now on.
    pub fn enable_monitor_histograms(&self) {
        let _ = self.monitor_histograms.get_or_init(MonitorHistograms::default);
    }

    /// Returns the durations of checks by monitor; `None` where they are not counted.
    #[must_use]
    pub fn monitor_histograms(&self) -> Option<&MonitorHistograms> {
        self.monitor_histograms.get()
    }

    /// Returns the figures of the last results, for the metrics of monitors.
    #[must_use]
    pub const fn last_figures(&self) -> &LastFigures {
        &self.last_figures
    }

    /// Keeps what the metrics of monitors need of stored results; counts their durations, where these are counted by
    /// monitor.
    pub fn record_stored_results(&self, results: &[CheckResult]) {
        self.last_figures.record(results.iter());
        if let Some(histograms) = self.monitor_histograms() {
            histograms.record(results.iter());
        }
    }
}
