//! Metrics of the export by OTLP.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// Names of the signals.
pub const OTLP_SIGNALS: [&str; 3] = ["metrics", "logs", "traces"];
/// What becomes of the items of a request.
const ITEM_OUTCOMES: [&str; 3] = ["accepted", "rejected", "given_up"];
/// Why whole results are dropped.
const DROP_REASONS: [&str; 4] = ["queue_full", "disabled", "shutdown", "panic"];

/// Labels of items: data points, log records or spans.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ItemLabels {
    signal: &'static str,
    outcome: &'static str,
}

/// Label with the name of a signal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct SignalLabels {
    signal: &'static str,
}

/// Label with a reason.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReasonLabels {
    reason: &'static str,
}

/// Metrics of the export by OTLP.
#[derive(Debug)]
pub struct OtlpMetrics {
    queued_results: Gauge,
    dropped_results: Family<ReasonLabels, Counter>,
    items: Family<ItemLabels, Counter>,
    retries: Family<SignalLabels, Counter>,
}

impl OtlpMetrics {
    /// Creates the metrics with all series at zero, and registers them.
    pub(super) fn register(registry: &mut Registry) -> Self {
        let metrics = Self {
            queued_results: Gauge::default(),
            dropped_results: Family::default(),
            items: Family::default(),
            retries: Family::default(),
        };
        for reason in DROP_REASONS {
            drop(metrics.dropped_results.get_or_create(&ReasonLabels { reason }));
        }
        for signal in OTLP_SIGNALS {
            drop(metrics.retries.get_or_create(&SignalLabels { signal }));
            for outcome in ITEM_OUTCOMES {
                drop(metrics.items.get_or_create(&ItemLabels { signal, outcome }));
            }
        }
        let help = "Results that wait for their export by OTLP";
        registry.register("vigie_otlp_queued_results", help, metrics.queued_results.clone());
        let help = "Results that were not exported by OTLP, by reason";
        registry.register("vigie_otlp_dropped_results", help, metrics.dropped_results.clone());
        let help = "Data points, log records and spans sent by OTLP, by what became of them";
        registry.register("vigie_otlp_items", help, metrics.items.clone());
        let help = "Requests by OTLP that were repeated";
        registry.register("vigie_otlp_retries", help, metrics.retries.clone());
        metrics
    }

    /// Sets the number of results that wait.
    pub fn set_queued(&self, results: usize) {
        self.queued_results.set(i64::try_from(results).unwrap_or(i64::MAX));
    }

    /// Counts results that were dropped: `queue_full`, `disabled`, `shutdown` or `panic`.
    pub fn record_dropped(&self, reason: &'static str, results: usize) {
        self.dropped_results.get_or_create(&ReasonLabels { reason }).inc_by(results as u64);
    }

    /// Counts items of `signal`: `accepted` or `rejected` by the receiver, or `given_up`.
    pub fn record_items(&self, signal: &'static str, outcome: &'static str, items: u64) {
        self.items.get_or_create(&ItemLabels { signal, outcome }).inc_by(items);
    }

    /// Counts a request that is repeated.
    pub fn record_retry(&self, signal: &'static str) {
        self.retries.get_or_create(&SignalLabels { signal }).inc();
    }
}
