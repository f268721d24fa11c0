//! Label sets of the metrics. Values come from closed sets, or from bounded ones: the name, host or address of a
//! monitor never becomes a label, so that the number of series does not grow with the number of monitors.

use std::fmt::Write;
use std::sync::Arc;

use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};

use crate::domain::{FailureKind, MissedReason, MonitorType, Outcome, Phase};

macro_rules! label_value {
    ($($type:ty: $name_method:ident),+ $(,)?) => {$(
        impl EncodeLabelValue for $type {
            fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> std::fmt::Result {
                encoder.write_str(self.$name_method())
            }
        }
    )+};
}

label_value! { Outcome: name, MonitorType: name, Phase: name, FailureKind: label, MissedReason: name }

/// Labels of a finished check.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct CheckResultLabels {
    pub outcome: Outcome,
    pub r#type: MonitorType,
}

/// Code of a billing plan, of a bounded set.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct PlanLabels {
    pub plan: Arc<str>,
}

/// Type of an event, of a bounded set.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct EventLabels {
    pub event: Arc<str>,
}

/// Labels with a monitor type only.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct MonitorTypeLabels {
    pub r#type: MonitorType,
}

/// Labels of a failed attempt.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct FailureLabels {
    pub kind: FailureKind,
}

/// Labels of a phase of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct PhaseLabels {
    pub phase: Phase,
    pub r#type: MonitorType,
}

/// Reason of missed runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct MissedRunLabels {
    pub reason: MissedReason,
}

/// Concurrency class of a check: light or heavy.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct ConcurrencyClassLabels {
    pub weight: &'static str,
}

/// Kind of a commit error (`StoreError::kind`).
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct CommitErrorLabels {
    pub kind: &'static str,
}

/// Whether a reload was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct ReloadLabels {
    pub outcome: &'static str,
}

/// A run of a housekeeping job, and its outcome: done, failed, skipped.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct HousekeepingJobLabels {
    pub job: &'static str,
    pub outcome: &'static str,
}

/// Outcome of notifications: sent, held, dead.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct NotificationLabels {
    pub outcome: &'static str,
}

/// A delivery attempt: its method, and whether the receiver accepted it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct DeliveryLabels {
    pub method: &'static str,
    pub outcome: &'static str,
}

/// A long-running task.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct TaskLabels {
    pub task: &'static str,
}

/// Kind of an item that was quarantined (result, change, monitor, notification) or that the spool dropped (result,
/// capture).
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct ItemKindLabels {
    pub kind: &'static str,
}

/// Version of the build.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct BuildInfoLabels {
    pub version: &'static str,
}
