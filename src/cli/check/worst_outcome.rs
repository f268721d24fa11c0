//! The worst of several outcomes, which decides the exit code.

use crate::domain::Outcome;

/// Returns the worst of `outcomes`: error, unknown, warning, ok; unknown without any.
pub(super) fn worst_outcome(outcomes: impl Iterator<Item = Outcome>) -> Outcome {
    let worst = outcomes.max_by_key(|outcome| match outcome {
        Outcome::Ok => 0,
        Outcome::Warning => 1,
        Outcome::Unknown | Outcome::Missed | Outcome::Blackout => 2,
        Outcome::Error => 3,
    });
    worst.unwrap_or(Outcome::Unknown)
}

/// Returns the exit code for `outcome`.
pub(in crate::cli) const fn exit_code(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Ok => 0,
        Outcome::Warning => 1,
        Outcome::Error => 2,
        Outcome::Unknown | Outcome::Missed | Outcome::Blackout => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_outcome_decides_the_exit_code() {
        use Outcome::{Error, Ok, Unknown, Warning};
        for (outcomes, code) in [
            (vec![Ok], 0),
            (vec![Ok, Warning], 1),
            (vec![Error, Unknown, Ok], 2),
            (vec![Unknown, Warning], 3),
            (vec![], 3),
        ] {
            assert_eq!(exit_code(worst_outcome(outcomes.iter().copied())), code, "{outcomes:?}");
        }
    }
}
