//! What a run over several locations means in each mode (behaviour.md 5, the table of modes).

use crate::domain::{LocationId, LocationMode, Outcome, Status};

/// How many locations have to fail in the same run (account setting `multipop_threshold`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quorum {
    /// So many, or all that were heard when those are fewer.
    AtLeast(u32),
    /// All that were heard.
    All,
}

/// What a location said of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocationOutcome {
    /// The location.
    pub location: LocationId,
    /// What its check came to.
    pub outcome: Outcome,
    /// Its status code.
    pub status: Status,
}

/// By what a run is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettlePolicy {
    /// The mode of the monitor.
    pub location_mode: LocationMode,
    /// The location that counts in mode Primary.
    pub home: LocationId,
    /// How many count in mode SLA (MultiPOP).
    pub quorum: Quorum,
}

/// What a run means. Positions are those of the parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settlement {
    /// Nobody whose word counts said anything of the target.
    NoData,
    /// It fell into a blackout.
    Blackout,
    /// The target is fine.
    Passed {
        /// Who says so.
        cause: usize,
    },
    /// Some location fails, but not as the mode asks for: no error, and the end of one.
    Tolerated {
        /// A location for which the target is fine; one that fails when there is none.
        cause: usize,
    },
    /// Another location has to look first.
    NeedsVerification {
        /// The failure to look at.
        cause: usize,
    },
    /// It fails as the mode asks for.
    Failed {
        /// The failure that decides.
        cause: usize,
        /// Another location that failed in the same run, where that is what confirms it.
        confirmed_by: Option<usize>,
    },
}

impl LocationOutcome {
    /// Whether it says something of the target. A fault of ours never does, whatever it is called.
    #[must_use]
    pub fn is_conclusive(&self) -> bool {
        match self.outcome {
            Outcome::Ok | Outcome::Warning => true,
            Outcome::Error => !is_own_fault(self.status),
            Outcome::Unknown | Outcome::Missed | Outcome::Blackout => false,
        }
    }

    /// Whether it says that the target fails.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        self.outcome == Outcome::Error && self.is_conclusive()
    }
}

/// Judges a run by what was heard of it, in the order of the plan; `answer` is that of a second location to the
/// failure that was [`Settlement::NeedsVerification`] before.
///
/// Where blackouts begin or end within a run, what was heard besides says too little: it rests. Answer 70 takes
/// the failure away; every other one lets it stand, so that trouble with verification hides nothing.
#[must_use]
pub fn settle(outcomes: &[LocationOutcome], rule: &SettlePolicy, answer: Option<Status>) -> Settlement {
    if outcomes.iter().any(|part| part.outcome == Outcome::Blackout) {
        return Settlement::Blackout;
    }
    let told: Vec<usize> = positions_where(outcomes, LocationOutcome::is_conclusive);
    let failing: Vec<usize> = positions_where(outcomes, LocationOutcome::is_failure);
    let Some(&first) = told.first() else { return Settlement::NoData };
    let home = told.iter().copied().find(|&at| outcomes[at].location == rule.home);
    if rule.location_mode == LocationMode::Primary && home.is_none() {
        return Settlement::NoData;
    }
    let speaker = if rule.location_mode == LocationMode::Primary { home } else { None };
    if failing.is_empty() || answer == Some(Status::VERIFIED_NO_ERROR) {
        return Settlement::Passed { cause: speaker.unwrap_or(first) };
    }
    let fine = told.iter().copied().find(|at| !failing.contains(at));
    let tolerated = Settlement::Tolerated { cause: speaker.or(fine).unwrap_or(first) };
    let enough = |needed: usize| failing.len() >= needed.clamp(1, told.len());
    match rule.location_mode {
        LocationMode::Primary => match home.filter(|at| failing.contains(at)) {
            Some(home) => confirm_failure(outcomes, &failing, home, answer),
            None => tolerated,
        },
        LocationMode::GlobalVerify => confirm_failure(outcomes, &failing, failing[0], answer),
        LocationMode::GlobalNotify => failed_unconfirmed(failing[0]),
        LocationMode::RoundRobin if enough(2) => failed_unconfirmed(failing[0]),
        LocationMode::MultiPop if enough(rule.quorum.required(told.len())) => failed_unconfirmed(failing[0]),
        LocationMode::RoundRobin | LocationMode::MultiPop => tolerated,
    }
}

impl Quorum {
    fn required(self, heard: usize) -> usize {
        match self {
            Self::AtLeast(needed) => usize::try_from(needed).unwrap_or(usize::MAX),
            Self::All => heard,
        }
    }
}

fn failed_unconfirmed(cause: usize) -> Settlement {
    Settlement::Failed { cause, confirmed_by: None }
}

/// A failure that needs a second word: that of another location that failed too, or of one that is asked.
fn confirm_failure(
    outcomes: &[LocationOutcome],
    failing: &[usize],
    cause: usize,
    answer: Option<Status>,
) -> Settlement {
    let witness = failing.iter().copied().find(|&at| at != cause);
    match (witness, answer) {
        (None, None) if is_verifiable(outcomes[cause].status) => Settlement::NeedsVerification { cause },
        _ => Settlement::Failed { cause, confirmed_by: witness },
    }
}

/// Whether a second location is asked about this code: not where it compares a page with the run before, which
/// only the same location can (behaviour.md 5 "Not verified").
fn is_verifiable(status: Status) -> bool {
    !(Status::OBJECT_SIZE_CHANGED.0..=Status::OBJECT_NEW.0).contains(&status.0)
}

fn is_own_fault(status: Status) -> bool {
    [Status::INTERNAL, Status::BROWSER_TIMED_OUT, Status::BROWSER_FAILED, Status::CANNOT_RUN]
        .contains(&status)
}

fn positions_where(outcomes: &[LocationOutcome], of: fn(&LocationOutcome) -> bool) -> Vec<usize> {
    outcomes.iter().enumerate().filter(|(_, part)| of(part)).map(|(at, _)| at).collect()
}
