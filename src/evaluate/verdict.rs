//! The verdict on the attempts of one check (behaviour.md 3, Attempts).

use crate::domain::{Failure, FailureKind, Fault, Observation, Outcome, Status, Verdict, Warning};

/// Evaluates the attempts of one check, in their order.
///
/// Any success passes: as ok when it is the first attempt and has no warning that counts, else as warning. If none
/// passed, the last attempt whose failure Vigie did not cause decides; without one, the outcome is unknown. A cancelled
/// check was not completed and says nothing about the target: unknown too.
#[must_use]
pub fn evaluate_attempts(attempts: &[Observation]) -> Verdict {
    let failures: Vec<(usize, &Failure)> = attempts
        .iter()
        .enumerate()
        .filter_map(|(index, attempt)| attempt.failure.as_ref().map(|failure| (index, failure)))
        .collect();
    if let Some(passed_attempt) = attempts.iter().rfind(|attempt| attempt.failure.is_none()) {
        return passed_verdict(passed_attempt, &failures);
    }
    let cancelled_index = failures.iter().rposition(|(_, failure)| failure.kind == FailureKind::Cancelled);
    let target_failure_index = failures.iter().rposition(|(_, failure)| failure.fault != Fault::Vigie);
    match (cancelled_index, target_failure_index) {
        (Some(index), _) => failed_verdict(Outcome::Unknown, index, &failures),
        (None, Some(index)) => failed_verdict(Outcome::Error, index, &failures),
        (None, None) if failures.is_empty() => no_attempt_verdict(),
        (None, None) => failed_verdict(Outcome::Unknown, failures.len() - 1, &failures),
    }
}

fn passed_verdict(passed_attempt: &Observation, failures: &[(usize, &Failure)]) -> Verdict {
    let outcome_warnings = || passed_attempt.warnings.iter().filter(|warning| warning.kind.affects_outcome());
    let outcome = if failures.is_empty() && outcome_warnings().next().is_none() {
        Outcome::Ok
    } else {
        Outcome::Warning
    };
    let status = outcome_warnings().find_map(Warning::status).unwrap_or(Status::OK);
    let warning_status = failures.first().map(|(_, failure)| failure.status());
    let mut reasons = format_failures(failures, true);
    reasons.extend(outcome_warnings().map(|warning| warning.detail.clone()));
    reasons.extend(
        passed_attempt
            .warnings
            .iter()
            .filter(|w| !w.kind.affects_outcome())
            .map(|warning| warning.detail.clone()),
    );
    Verdict { outcome, status, warning_status, reasons }
}

fn failed_verdict(outcome: Outcome, deciding_index: usize, failures: &[(usize, &Failure)]) -> Verdict {
    let mut ordered = failures.to_vec();
    let deciding_failure = ordered.remove(deciding_index);
    let status = deciding_failure.1.status();
    ordered.insert(0, deciding_failure);
    Verdict { outcome, status, warning_status: None, reasons: format_failures(&ordered, failures.len() > 1) }
}

fn no_attempt_verdict() -> Verdict {
    let reasons = vec!["no attempt was made".to_owned()];
    Verdict { outcome: Outcome::Unknown, status: Status::INTERNAL, warning_status: None, reasons }
}

/// Formats the failures, numbered by attempt if there were several.
fn format_failures(failures: &[(usize, &Failure)], is_numbered: bool) -> Vec<String> {
    failures
        .iter()
        .map(
            |(index, failure)| {
                if is_numbered { format!("attempt {}: {failure}", index + 1) } else { failure.to_string() }
            },
        )
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Phase, WarningKind};

    fn failed(kind: FailureKind) -> Observation {
        Observation::from_failure(Failure::new(Phase::Connect, kind, ""))
    }

    fn warned(kind: WarningKind) -> Observation {
        let mut observation = Observation::default();
        observation.record_warning(kind, "reservation");
        observation
    }

    /// Builds the attempt for a letter of the table below.
    fn attempt(letter: char) -> Observation {
        match letter {
            'k' => Observation::default(),
            'r' => warned(WarningKind::RedirectNotFollowed),
            'c' => warned(WarningKind::CertificateExpiring),
            'n' => warned(WarningKind::Informational),
            't' => failed(FailureKind::ConnectRefused),
            'w' => failed(FailureKind::Unreachable),
            'o' => failed(FailureKind::NoSocketLeft),
            'd' => failed(FailureKind::EgressDenied),
            'x' => failed(FailureKind::Cancelled),
            _ => panic!("no attempt `{letter}`"),
        }
    }

    #[test]
    fn every_combination_of_attempts_has_its_outcome() {
        use Outcome::{Error, Ok, Unknown, Warning};
        let cases: &[(&str, Outcome, u16, Option<u16>)] = &[
            // No attempt, one attempt.
            ("", Unknown, 21, None),
            ("k", Ok, 0, None),
            ("n", Ok, 0, None),
            ("r", Warning, 8, None),
            ("c", Warning, 0, None),
            ("t", Error, 1, None),
            ("w", Error, 1, None),
            ("o", Unknown, 21, None),
            ("d", Unknown, 95, None),
            ("x", Unknown, 21, None),
            // A second attempt that passes.
            ("tk", Warning, 0, Some(1)),
            ("wk", Warning, 0, Some(1)),
            ("ok", Warning, 0, Some(21)),
            ("dk", Warning, 0, Some(95)),
            ("tn", Warning, 0, Some(1)),
            ("tr", Warning, 8, Some(1)),
            ("oc", Warning, 0, Some(21)),
            // A second attempt that fails by the target or the network.
            ("tt", Error, 1, None),
            ("tw", Error, 1, None),
            ("wt", Error, 1, None),
            ("ww", Error, 1, None),
            ("ot", Error, 1, None),
            ("ow", Error, 1, None),
            ("dt", Error, 1, None),
            // A second attempt that fails by Vigie's own fault: the first one decides if it did not.
            ("to", Error, 1, None),
            ("wo", Error, 1, None),
            ("td", Error, 1, None),
            ("oo", Unknown, 21, None),
            ("od", Unknown, 95, None),
            ("do", Unknown, 21, None),
            ("dd", Unknown, 95, None),
            // A second attempt that was cancelled.
            ("tx", Unknown, 21, None),
            ("wx", Unknown, 21, None),
            ("ox", Unknown, 21, None),
        ];
        for &(letters, outcome, status, warning_status) in cases {
            let attempts: Vec<_> = letters.chars().map(attempt).collect();
            let verdict = evaluate_attempts(&attempts);
            assert_eq!(
                (verdict.outcome, verdict.status, verdict.warning_status),
                (outcome, Status(status), warning_status.map(Status)),
                "attempts `{letters}`"
            );
            assert_eq!(verdict.reasons.is_empty(), letters == "k", "attempts `{letters}`");
        }
    }

    #[test]
    fn a_target_failure_attributed_to_vigie_is_unknown() {
        let failure = Failure::new(Phase::Connect, FailureKind::TimedOut, "").with_fault(Fault::Vigie);
        let verdict = evaluate_attempts(&[Observation::from_failure(failure)]);
        assert_eq!((verdict.outcome, verdict.status), (Outcome::Unknown, Status::INTERNAL));
    }

    #[test]
    fn the_deciding_reason_comes_first_and_attempts_are_numbered() {
        let verdict =
            evaluate_attempts(&[failed(FailureKind::ConnectRefused), failed(FailureKind::NoSocketLeft)]);
        assert!(verdict.reasons[0].starts_with("attempt 1: the target refused"), "{:?}", verdict.reasons);
        assert!(
            verdict.reasons[1].starts_with("attempt 2: this host has no socket"),
            "{:?}",
            verdict.reasons
        );
    }
}
