//! The rule of each mode, against a plain restatement of behaviour.md 5, over everything that up to four locations
//! can say.

use vigie::domain::{LocationId, LocationMode, Outcome, Status};
use vigie::evaluate::settle::{LocationOutcome, Quorum, SettlePolicy, Settlement, settle};

const SAYS: [Outcome; 5] = [Outcome::Ok, Outcome::Warning, Outcome::Error, Outcome::Unknown, Outcome::Missed];

/// What a run of `mode` comes to: `None` when nobody was heard who counts.
fn fails(mode: LocationMode, quorum: Quorum, said: &[Outcome]) -> Option<bool> {
    let heard =
        said.iter().filter(|said| matches!(said, Outcome::Ok | Outcome::Warning | Outcome::Error)).count();
    let failing = said.iter().filter(|said| **said == Outcome::Error).count();
    let home = match said[0] {
        Outcome::Ok | Outcome::Warning => Some(false),
        Outcome::Error => Some(true),
        _ => None,
    };
    let needed = match (mode, quorum) {
        (LocationMode::Primary, _) => return home,
        (LocationMode::GlobalNotify | LocationMode::GlobalVerify, _) => 1,
        (LocationMode::RoundRobin, _) => 2,
        (LocationMode::MultiPop, Quorum::AtLeast(count)) => count as usize,
        (LocationMode::MultiPop, Quorum::All) => heard,
    };
    (heard > 0).then(|| failing > 0 && failing >= needed.min(heard))
}

#[test]
fn every_mode_rules_as_it_says() {
    for (mode, _) in LocationMode::ALL {
        for quorum in [Quorum::AtLeast(1), Quorum::AtLeast(2), Quorum::AtLeast(3), Quorum::All] {
            for count in 1..=4_u32 {
                for code in 0..5_usize.pow(count) {
                    let said: Vec<Outcome> = (0..count).map(|at| SAYS[code / 5_usize.pow(at) % 5]).collect();
                    check(mode, quorum, &said);
                }
            }
        }
    }
}

fn check(mode: LocationMode, quorum: Quorum, said: &[Outcome]) {
    let status = |outcome| Status(u16::from(outcome == Outcome::Error));
    let part = |(at, outcome): (usize, &Outcome)| LocationOutcome {
        location: LocationId(i64::try_from(at).unwrap() + 1),
        outcome: *outcome,
        status: status(*outcome),
    };
    let outcomes: Vec<LocationOutcome> = said.iter().enumerate().map(part).collect();
    let rule = SettlePolicy { location_mode: mode, home: LocationId(1), quorum };
    let settlement = settle(&outcomes, &rule, None);
    let verifies = matches!(mode, LocationMode::Primary | LocationMode::GlobalVerify);
    let alone = said.iter().filter(|said| **said == Outcome::Error).count() == 1;
    let expected = fails(mode, quorum, said);
    let about = format!("{mode:?} {quorum:?} {said:?}: {settlement:?}");
    match settlement {
        Settlement::NoData => assert_eq!(expected, None, "{about}"),
        Settlement::Passed { .. } => {
            assert!(expected == Some(false) && !said.contains(&Outcome::Error), "{about}");
        }
        Settlement::Tolerated { cause } => {
            assert!(expected == Some(false) && said.contains(&Outcome::Error), "{about}");
            assert!(said[cause] != Outcome::Error || said.iter().all(|said| *said != Outcome::Ok), "{about}");
        }
        Settlement::NeedsVerification { cause } => {
            assert!(expected == Some(true) && verifies && alone && said[cause] == Outcome::Error, "{about}");
        }
        Settlement::Failed { cause, confirmed_by: witness } => {
            assert!(expected == Some(true) && said[cause] == Outcome::Error, "{about}");
            assert_eq!(witness.is_some(), verifies && !alone, "{about}");
            assert!(mode != LocationMode::Primary || cause == 0, "{about}");
        }
        Settlement::Blackout => panic!("{about}"),
    }
    // Whatever the second location says but that it saw nothing lets the error stand.
    for code in [71, 72, 73, 79] {
        let answered = settle(&outcomes, &rule, Some(Status(code)));
        let same = matches!(settlement, Settlement::NeedsVerification { .. }) || answered == settlement;
        assert!(
            same && !matches!(answered, Settlement::NeedsVerification { .. }),
            "{about}, then {code}: {answered:?}"
        );
        assert_eq!(
            matches!(answered, Settlement::Failed { .. }),
            expected == Some(true),
            "{about}, then {code}"
        );
    }
    let denied = settle(&outcomes, &rule, Some(Status::VERIFIED_NO_ERROR));
    assert!(
        !matches!(denied, Settlement::Failed { .. } | Settlement::NeedsVerification { .. }),
        "{about}, then 70: {denied:?}"
    );
}

#[test]
fn a_run_that_fell_into_a_blackout_anywhere_rests() {
    for (mode, _) in LocationMode::ALL {
        let part = |location, outcome| LocationOutcome {
            location: LocationId(location),
            outcome,
            status: Status(1),
        };
        let outcomes = [part(1, Outcome::Error), part(2, Outcome::Blackout), part(3, Outcome::Error)];
        let rule = SettlePolicy { location_mode: mode, home: LocationId(1), quorum: Quorum::AtLeast(1) };
        assert_eq!(settle(&outcomes, &rule, None), Settlement::Blackout, "{mode:?}");
    }
}
