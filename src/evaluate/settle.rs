//! Settles a run over several locations according to the mode (behaviour.md 5, the table of modes).

use crate::domain::{LocationId, LocationMode, Outcome, Status};

/// How many locations must fail in the same run (account setting `multipop_threshold`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quorum {
    /// At least this many, or all conclusive locations when those are fewer.
    AtLeast(u32),
    /// All conclusive locations.
    All,
}

/// The outcome of a run at one location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocationOutcome {
    /// Id of the location.
    pub location_id: LocationId,
    /// Outcome of its check.
    pub outcome: Outcome,
    /// Status code of its check.
    pub status: Status,
}

/// The rules by which a run is settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettlePolicy {
    /// The mode of the monitor.
    pub location_mode: LocationMode,
    /// The location that decides in mode Primary.
    pub home_location: LocationId,
    /// How many must fail in mode SLA (MultiPOP).
    pub quorum: Quorum,
}

/// The result of a run over all locations. `deciding_index` and `confirmed_by_index` are positions in its outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settlement {
    /// No location that counts has a conclusive outcome.
    NoData,
    /// The run fell into a blackout.
    Blackout,
    /// The target is fine.
    Passed {
        /// A location with that outcome.
        deciding_index: usize,
    },
    /// Some location fails, but not enough for the mode: no error, and it ends an open episode.
    BelowQuorum {
        /// A location where the target is fine; one that fails if there is none.
        deciding_index: usize,
    },
    /// Another location must confirm the failure first.
    NeedsVerification {
        /// The failure to confirm.
        deciding_index: usize,
    },
    /// The run fails as the mode requires.
    Failed {
        /// The failure that decides.
        deciding_index: usize,
        /// Another location that failed in the same run, where that confirms the failure.
        confirmed_by_index: Option<usize>,
    },
}

impl Settlement {
    /// Returns the position of the outcome that decides; `None` when no outcome is conclusive.
    #[must_use]
    pub fn deciding_index(self) -> Option<usize> {
        match self {
            Self::NoData | Self::Blackout => None,
            Self::Passed { deciding_index }
            | Self::BelowQuorum { deciding_index }
            | Self::NeedsVerification { deciding_index }
            | Self::Failed { deciding_index, .. } => Some(deciding_index),
        }
    }
}

impl LocationOutcome {
    /// Whether the outcome is about the target. An error of Vigie itself never is, whatever its code.
    #[must_use]
    pub fn is_conclusive(&self) -> bool {
        match self.outcome {
            Outcome::Ok | Outcome::Warning => true,
            Outcome::Error => !is_monitoring_fault(self.status),
            Outcome::Unknown | Outcome::Missed | Outcome::Blackout => false,
        }
    }

    /// Whether the target fails at this location.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        self.outcome == Outcome::Error && self.is_conclusive()
    }
}

/// Settles a run by its outcomes, which are in the order of the plan. `verification` is the result of a second location
/// for a failure that was [`Settlement::NeedsVerification`] before.
///
/// Where a blackout begins or ends within a run, the other outcomes say too little: the run counts as blackout.
/// Verification status 70 clears the failure; every other one lets it stand, so that trouble with verification hides
/// nothing.
#[must_use]
pub fn settle(
    outcomes: &[LocationOutcome],
    policy: &SettlePolicy,
    verification: Option<Status>,
) -> Settlement {
    if outcomes.iter().any(|outcome| outcome.outcome == Outcome::Blackout) {
        return Settlement::Blackout;
    }
    let conclusive: Vec<usize> = positions_where(outcomes, LocationOutcome::is_conclusive);
    let failing: Vec<usize> = positions_where(outcomes, LocationOutcome::is_failure);
    let Some(&first_conclusive) = conclusive.first() else { return Settlement::NoData };
    let home_index =
        conclusive.iter().copied().find(|&index| outcomes[index].location_id == policy.home_location);
    if policy.location_mode == LocationMode::Primary && home_index.is_none() {
        return Settlement::NoData;
    }
    let deciding_home_index = if policy.location_mode == LocationMode::Primary { home_index } else { None };
    if failing.is_empty() || verification == Some(Status::VERIFICATION_NO_ERROR) {
        return Settlement::Passed { deciding_index: deciding_home_index.unwrap_or(first_conclusive) };
    }
    let passing_index = conclusive.iter().copied().find(|index| !failing.contains(index));
    let below_quorum = Settlement::BelowQuorum {
        deciding_index: deciding_home_index.or(passing_index).unwrap_or(first_conclusive),
    };
    let has_failing = |needed: usize| failing.len() >= needed.clamp(1, conclusive.len());
    match policy.location_mode {
        LocationMode::Primary => match home_index.filter(|index| failing.contains(index)) {
            Some(home_index) => settle_by_confirmation(outcomes, &failing, home_index, verification),
            None => below_quorum,
        },
        LocationMode::GlobalVerify => settle_by_confirmation(outcomes, &failing, failing[0], verification),
        LocationMode::GlobalNotify => failed_without_confirmation(failing[0]),
        LocationMode::RoundRobin if has_failing(2) => failed_without_confirmation(failing[0]),
        LocationMode::MultiPop if has_failing(policy.quorum.required_failures(conclusive.len())) => {
            failed_without_confirmation(failing[0])
        }
        LocationMode::RoundRobin | LocationMode::MultiPop => below_quorum,
    }
}

impl Quorum {
    /// Returns how many of this number of conclusive locations must fail.
    fn required_failures(self, conclusive: usize) -> usize {
        match self {
            Self::AtLeast(needed) => usize::try_from(needed).unwrap_or(usize::MAX),
            Self::All => conclusive,
        }
    }
}

fn failed_without_confirmation(deciding_index: usize) -> Settlement {
    Settlement::Failed { deciding_index, confirmed_by_index: None }
}

/// Settles a failure that needs confirmation: by another location that failed too, or by verification.
fn settle_by_confirmation(
    outcomes: &[LocationOutcome],
    failing: &[usize],
    deciding_index: usize,
    verification: Option<Status>,
) -> Settlement {
    let confirming_index = failing.iter().copied().find(|&at| at != deciding_index);
    match (confirming_index, verification) {
        (None, None) if is_verifiable(outcomes[deciding_index].status) => {
            Settlement::NeedsVerification { deciding_index }
        }
        _ => Settlement::Failed { deciding_index, confirmed_by_index: confirming_index },
    }
}

/// Whether a second location can confirm this code. It cannot where a page is compared with the previous run, which
/// only the same location can do (behaviour.md 5 "Not verified").
fn is_verifiable(status: Status) -> bool {
    !(Status::OBJECT_SIZE_CHANGED.0..=Status::OBJECT_NEW.0).contains(&status.0)
}

/// Whether this code stands for a fault of Vigie or its location, not of the target.
fn is_monitoring_fault(status: Status) -> bool {
    [Status::INTERNAL, Status::BROWSER_TIMED_OUT, Status::BROWSER_FAILED, Status::CANNOT_RUN]
        .contains(&status)
}

fn positions_where(outcomes: &[LocationOutcome], predicate: fn(&LocationOutcome) -> bool) -> Vec<usize> {
    outcomes.iter().enumerate().filter(|(_, outcome)| predicate(outcome)).map(|(index, _)| index).collect()
}
