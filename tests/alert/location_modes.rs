//! The rule of each location mode, against a plain restatement of behaviour.md 5, for every combination of outcomes
//! at up to four locations.

use vigie::domain::{LocationId, LocationMode, Outcome, Status};
use vigie::evaluate::settle::{LocationOutcome, Quorum, SettlePolicy, Settlement, settle};

const OUTCOMES: [Outcome; 5] =
    [Outcome::Ok, Outcome::Warning, Outcome::Error, Outcome::Unknown, Outcome::Missed];

/// Whether a run of `mode` fails; `None` when no location that counts has reported.
fn fails(mode: LocationMode, quorum: Quorum, reported: &[Outcome]) -> Option<bool> {
    let reporting = reported
        .iter()
        .filter(|reported| matches!(reported, Outcome::Ok | Outcome::Warning | Outcome::Error))
        .count();
    let failing = reported.iter().filter(|reported| **reported == Outcome::Error).count();
    let home = match reported[0] {
        Outcome::Ok | Outcome::Warning => Some(false),
        Outcome::Error => Some(true),
        _ => None,
    };
    let needed = match (mode, quorum) {
        (LocationMode::Primary, _) => return home,
        (LocationMode::GlobalNotify | LocationMode::GlobalVerify, _) => 1,
        (LocationMode::RoundRobin, _) => 2,
        (LocationMode::MultiPop, Quorum::AtLeast(count)) => count as usize,
        (LocationMode::MultiPop, Quorum::All) => reporting,
    };
    (reporting > 0).then(|| failing > 0 && failing >= needed.min(reporting))
}

// row: 2.1 mode
#[test]
fn every_mode_settles_a_run_by_its_rule() {
    for (mode, _) in LocationMode::ALL {
        for quorum in [Quorum::AtLeast(1), Quorum::AtLeast(2), Quorum::AtLeast(3), Quorum::All] {
            for count in 1..=4_u32 {
                for code in 0..5_usize.pow(count) {
                    let reported: Vec<Outcome> =
                        (0..count).map(|at| OUTCOMES[code / 5_usize.pow(at) % 5]).collect();
                    check(mode, quorum, &reported);
                }
            }
        }
    }
}

fn check(mode: LocationMode, quorum: Quorum, reported: &[Outcome]) {
    let status = |outcome| Status(u16::from(outcome == Outcome::Error));
    let location_outcome = |(at, outcome): (usize, &Outcome)| LocationOutcome {
        location_id: LocationId(i64::try_from(at).unwrap() + 1),
        outcome: *outcome,
        status: status(*outcome),
    };
    let outcomes: Vec<LocationOutcome> = reported.iter().enumerate().map(location_outcome).collect();
    let rule = SettlePolicy { location_mode: mode, home_location: LocationId(1), quorum };
    let settlement = settle(&outcomes, &rule, None);
    let verifies = matches!(mode, LocationMode::Primary | LocationMode::GlobalVerify);
    let alone = reported.iter().filter(|reported| **reported == Outcome::Error).count() == 1;
    let expected = fails(mode, quorum, reported);
    let context = format!("{mode:?} {quorum:?} {reported:?}: {settlement:?}");
    match settlement {
        Settlement::NoData => assert_eq!(expected, None, "{context}"),
        Settlement::Passed { .. } => {
            assert!(expected == Some(false) && !reported.contains(&Outcome::Error), "{context}");
        }
        Settlement::BelowQuorum { deciding_index } => {
            assert!(expected == Some(false) && reported.contains(&Outcome::Error), "{context}");
            assert!(
                reported[deciding_index] != Outcome::Error
                    || reported.iter().all(|reported| *reported != Outcome::Ok),
                "{context}"
            );
        }
        Settlement::NeedsVerification { deciding_index } => {
            assert!(
                expected == Some(true) && verifies && alone && reported[deciding_index] == Outcome::Error,
                "{context}"
            );
        }
        Settlement::Failed { deciding_index, confirmed_by_index: witness } => {
            assert!(expected == Some(true) && reported[deciding_index] == Outcome::Error, "{context}");
            assert_eq!(witness.is_some(), verifies && !alone, "{context}");
            assert!(mode != LocationMode::Primary || deciding_index == 0, "{context}");
        }
        Settlement::Blackout => panic!("{context}"),
    }
    // Every status of a verification except "no error" confirms the failure.
    for code in [71, 72, 73, 79] {
        let after_verification = settle(&outcomes, &rule, Some(Status(code)));
        let same =
            matches!(settlement, Settlement::NeedsVerification { .. }) || after_verification == settlement;
        assert!(
            same && !matches!(after_verification, Settlement::NeedsVerification { .. }),
            "{context}, then {code}: {after_verification:?}"
        );
        assert_eq!(
            matches!(after_verification, Settlement::Failed { .. }),
            expected == Some(true),
            "{context}, then {code}"
        );
    }
    let after_refutation = settle(&outcomes, &rule, Some(Status::VERIFICATION_NO_ERROR));
    assert!(
        !matches!(after_refutation, Settlement::Failed { .. } | Settlement::NeedsVerification { .. }),
        "{context}, then 70: {after_refutation:?}"
    );
}

#[test]
fn a_blackout_at_any_location_settles_the_run_as_blackout() {
    for (mode, _) in LocationMode::ALL {
        let location_outcome = |location, outcome| LocationOutcome {
            location_id: LocationId(location),
            outcome,
            status: Status(1),
        };
        let outcomes = [
            location_outcome(1, Outcome::Error),
            location_outcome(2, Outcome::Blackout),
            location_outcome(3, Outcome::Error),
        ];
        let rule =
            SettlePolicy { location_mode: mode, home_location: LocationId(1), quorum: Quorum::AtLeast(1) };
        assert_eq!(settle(&outcomes, &rule, None), Settlement::Blackout, "{mode:?}");
    }
}
