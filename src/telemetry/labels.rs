//! The label sets of metrics. Values come from closed sets only: no name, host or address of a monitor
//! ever becomes a label, so the number of series does not grow with the number of monitors.

use std::fmt::Write;

use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};

use crate::domain::{FailureKind, MissedReason, MonitorType, Outcome, Phase};

macro_rules! label_value {
    ($($type:ty: $word:ident),+ $(,)?) => {$(
        impl EncodeLabelValue for $type {
            fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> std::fmt::Result {
                encoder.write_str(self.$word())
            }
        }
    )+};
}

label_value! { Outcome: name, MonitorType: name, Phase: name, FailureKind: label, MissedReason: name }

/// A finished check.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct ResultLabels {
    pub outcome: Outcome,
    pub r#type: MonitorType,
}

/// A monitor type alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct TypeLabels {
    pub r#type: MonitorType,
}

/// A failed attempt.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct FailureLabels {
    pub kind: FailureKind,
}

/// A part of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct PhaseLabels {
    pub phase: Phase,
    pub r#type: MonitorType,
}

/// Why runs did not happen.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct MissedLabels {
    pub reason: MissedReason,
}

/// A weight class (`probe::Weight::name`).
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct WeightLabels {
    pub weight: &'static str,
}

/// Why a commit failed (`StoreError::kind`).
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct CommitErrorLabels {
    pub kind: &'static str,
}

/// Whether a reload was taken.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct ReloadLabels {
    pub outcome: &'static str,
}

/// A turn of a calendar job (`pipeline::Chore::name`), and how it went: done, failed, skipped.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct JobLabels {
    pub job: &'static str,
    pub outcome: &'static str,
}

/// How messages ended: sent, held, dead.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct NotificationLabels {
    pub outcome: &'static str,
}

/// A try to hand a message over: by which method, and whether it was taken.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct DeliveryLabels {
    pub method: &'static str,
    pub outcome: &'static str,
}

/// The build.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct BuildLabels {
    pub version: &'static str,
}
