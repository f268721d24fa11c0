//! Where and when each run is checked: every location computes the same plan, and none is left out.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use vigie::domain::{CustomerId, LocationId, MonitorId, MonitorType, Revision, Timestamp};
use vigie::schedule::{CatchUp, LATENESS_TOLERANCE, LocationSlotGrid, RunPlan, SlotGrid};
use vigie::schema::{Monitor, MonitorDocument, Origin};

const NOON: Timestamp = Timestamp::from_seconds(1_795_176_000);

fn plans() -> impl Strategy<Value = RunPlan> {
    let parts = (any::<i64>(), 1_u64..7200, 1_usize..9, 1_usize..9, any::<(bool, bool)>(), 1_u64..200);
    parts.prop_map(|(id, seconds, pool, per_run, (rotates, staggered), seconds_limit)| RunPlan {
        slot_grid: SlotGrid::new(MonitorId(id), Duration::from_secs(seconds), None),
        location_pool: (10..).step_by(7).take(pool).map(LocationId).collect(),
        locations_per_run: per_run.min(pool),
        rotates_locations: rotates,
        staggered,
        max_check_duration: Duration::from_secs(seconds_limit),
    })
}

/// Returns the slots of `location`; `None` when it has no part in the plan.
fn grid(plan: &RunPlan, location: LocationId) -> Option<LocationSlotGrid> {
    plan.location_rotation(location).map(|part| LocationSlotGrid::new(plan.slot_grid, part))
}

/// Returns the planned times of the first `runs` runs from `from` on.
fn runs(plan: &RunPlan, from: Timestamp, runs: usize) -> Vec<Timestamp> {
    let next = |planned: &Timestamp| Some(plan.slot_grid.next_slot_after(*planned));
    std::iter::successors(Some(plan.slot_grid.first_slot_at_or_after(from)), next).take(runs).collect()
}

proptest! {
    #[test]
    fn the_slots_of_a_location_are_the_runs_in_which_it_is_expected(plan in plans(), ago in 0_u64..100_000) {
        let runs = runs(&plan, NOON - Duration::from_secs(ago), 40);
        let (first, end) = (runs[0], *runs.last().unwrap());
        for &location in &plan.location_pool {
            let expected_runs: Vec<_> = runs.iter().filter(|run| plan.locations_of_run(**run).contains(&location)).copied().collect();
            let Some(grid) = grid(&plan, location) else {
                prop_assert!(expected_runs.is_empty(), "{} has no part, but is expected", location);
                continue;
            };
            let mut grid_runs = Vec::new();
            let mut at = grid.next_slot_after(first - Duration::from_micros(1));
            while at <= end {
                grid_runs.push(at);
                at = grid.next_slot_after(at);
            }
            prop_assert_eq!(&grid_runs, &expected_runs);
            for pair in expected_runs.windows(2) {
                prop_assert_eq!(grid.previous_slot(pair[1]), pair[0]);
                prop_assert!(grid.location_start_at(pair[0]) < grid.location_start_at(pair[1]), "starts keep their order");
            }
            for (index, &from) in expected_runs.iter().enumerate() {
                prop_assert_eq!(Some(grid.location_start_at(from)), plan.location_start_at(from, location));
                for (further, &until) in expected_runs[index..].iter().enumerate() {
                    prop_assert_eq!(grid.count_slots_between(from, until), further as u64);
                    let beyond = until + Duration::from_micros(1);
                    prop_assert_eq!(grid.count_slots_between(from, beyond), further as u64 + 1);
                }
            }
        }
    }

    #[test]
    fn the_last_started_slot_is_the_newest_whose_start_is_past(plan in plans(), after in 0_u64..100_000_000_000) {
        for &location in &plan.location_pool {
            let Some(grid) = grid(&plan, location) else { continue };
            let now = NOON + Duration::from_micros(after);
            let last = grid.last_slot_started(now);
            prop_assert!(plan.location_start_at(last, location).is_some_and(|start| start <= now));
            prop_assert!(grid.location_start_at(grid.next_slot_after(last)) > now);
        }
    }

    #[test]
    fn each_run_has_its_number_of_locations_and_rotation_is_fair(plan in plans()) {
        let mut checks: BTreeMap<LocationId, usize> = BTreeMap::new();
        for planned in runs(&plan, NOON, plan.location_pool.len()) {
            let expected = plan.locations_of_run(planned);
            prop_assert_eq!(expected.len(), plan.locations_per_run);
            for (turn, location) in expected.iter().enumerate() {
                *checks.entry(*location).or_default() += 1;
                let delay = if plan.staggered {
                    plan.slot_grid.interval().as_micros() * turn as u128 / plan.locations_per_run as u128
                } else {
                    0
                };
                let start = planned + Duration::from_micros(u64::try_from(delay).unwrap());
                prop_assert_eq!(plan.location_start_at(planned, *location), Some(start));
            }
            prop_assert!(plan.location_pool.iter().all(|other| expected.contains(other) == plan.location_start_at(planned, *other).is_some()));
        }
        if plan.rotates_locations {
            // After as many runs as there are locations, each had its turn equally often.
            prop_assert!(plan.location_pool.iter().all(|at| checks.get(at) == Some(&plan.locations_per_run)), "{:?}", checks);
        }
    }

    #[test]
    fn a_run_closes_after_its_last_deadline_and_at_most_a_minute_later(plan in plans()) {
        for planned in runs(&plan, NOON, 3) {
            let last = plan.locations_of_run(planned).iter().filter_map(|at| plan.location_start_at(planned, *at)).max().unwrap();
            let (deadline, closes) = (last + plan.max_check_duration, plan.closes_at(planned));
            prop_assert!(deadline <= closes && closes <= deadline + Duration::from_mins(1));
            let next = plan.slot_grid.next_slot_after(planned);
            if deadline <= next && next <= deadline + Duration::from_mins(1) {
                prop_assert_eq!(closes, next);
            }
        }
    }

    #[test]
    fn every_slot_of_a_pause_is_counted_once_under_rotation_too(
        plan in plans(),
        index in 0_usize..8,
        pause in 0_u64..100_000_000_000,
    ) {
        let location = plan.location_pool[index % plan.location_pool.len()];
        let Some(grid) = grid(&plan, location) else { return Ok(()) };
        let due = grid.next_slot_after(NOON);
        let now = grid.location_start_at(due) + Duration::from_micros(pause);
        let CatchUp { missed, next_run: next } = CatchUp::decide(grid, due, now, MonitorId(3));
        prop_assert_eq!(missed.map_or(0, |missed| missed.count), grid.count_slots_between(due, next.planned_at));
        if let Some(missed) = missed {
            prop_assert_eq!((missed.first, grid.next_slot_after(missed.last)), (due, next.planned_at));
            prop_assert!(grid.start_deadline(missed.last) <= now, "a slot was given up within its interval");
        }
        prop_assert!(now < grid.start_deadline(next.planned_at), "a slot is to run after its interval");
        let start = grid.location_start_at(next.planned_at);
        prop_assert!(now.max(start) <= next.start_at && next.start_at < grid.start_deadline(next.planned_at));
        if now.since(start) < LATENESS_TOLERANCE {
            prop_assert_eq!(next.start_at, start.max(now));
        }
    }
}

fn monitor(fields: Value) -> Monitor {
    monitor_of(MonitorType::Tcp, fields)
}

fn monitor_of(kind: MonitorType, fields: Value) -> Monitor {
    let mut values =
        json!({"hostname": "h", "port": 9, "interval": 5, "timeout": 30, "retry_on_failure": false});
    values.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let Value::Object(values) = values else { unreachable!() };
    Monitor {
        id: MonitorId(7),
        customer: CustomerId(1),
        origin: Origin::Api,
        revision: Revision(1),
        modified_at: NOON,
        document: Arc::new(MonitorDocument::new(kind, values).unwrap()),
        metadata: Arc::default(),
    }
}

// row: 2.1 interval
#[test]
fn the_slots_of_a_monitor_are_its_interval_apart() {
    for minutes in [1, 2, 3, 4, 5, 6, 10, 15, 20, 30, 60, 120] {
        let plan = monitor(json!({"interval": minutes})).run_plan(&[LocationId(1)]);
        let first = plan.slot_grid.first_slot_at_or_after(NOON);
        let next = plan.slot_grid.next_slot_after(first);
        assert_eq!(next, first + Duration::from_mins(minutes), "{minutes}");
    }
}

// row: 2.1 mode; 2.1 rotate_locations; 2.1 monitor_location_count
#[test]
fn the_plan_of_a_monitor_follows_its_mode_rotation_and_location_count() {
    /// Mode, rotation, count, home; pool, locations of a run, rotation, Round Robin.
    type Case<'a> = (&'a str, bool, i64, i64, [i64; 3], usize, bool, bool);
    let cases: &[Case<'_>] = &[
        ("Global Verify", false, 0, 0, [1, 2, 3], 3, false, false),
        ("Global Verify", true, 0, 0, [1, 2, 3], 1, true, false),
        ("Global Verify", true, 2, 3, [3, 1, 2], 2, true, false),
        ("Global Notify", true, 0, 2, [2, 1, 3], 1, true, false),
        ("Global Notify", false, 2, 0, [1, 2, 3], 2, false, false),
        ("Primary", false, 0, 2, [2, 1, 3], 3, false, false),
        ("Primary", true, 0, 2, [2, 1, 3], 3, false, false),
        ("Round Robin", false, 0, 0, [1, 2, 3], 3, false, true),
        ("Round Robin", true, 0, 0, [1, 2, 3], 2, true, true),
        ("SLA (MultiPOP)", true, 0, 0, [1, 2, 3], 2, true, false),
        ("SLA (MultiPOP)", false, 0, 9, [1, 2, 3], 3, false, false),
        ("SLA (MultiPOP)", true, 1000, 0, [1, 2, 3], 3, true, false),
    ];
    for (mode, rotate, count, home, pool, per_run, rotates, staggered) in cases {
        let fields = json!({
            "mode": mode, "rotate_locations": rotate, "monitor_location_count": count, "home_location": home,
        });
        let plan = monitor(fields).run_plan(&[1, 2, 3].map(LocationId));
        let actual = (plan.locations_per_run, plan.rotates_locations, plan.staggered);
        assert_eq!(actual, (*per_run, *rotates, *staggered), "{mode}, {rotate}, {count}");
        assert_eq!(plan.location_pool, pool.map(LocationId), "{mode}: home first, the others in their order");
        assert_eq!(
            (plan.slot_grid.interval(), plan.max_check_duration),
            (Duration::from_mins(5), Duration::from_secs(30))
        );
    }
    let twice = monitor(json!({"mode": "Primary", "retry_on_failure": true}));
    assert_eq!(twice.run_plan(&[LocationId(1)]).max_check_duration, Duration::from_mins(1));
}

/// The `timeout` of a script applies to one page load (fields.md 3).
// row: 2.1 timeout
#[test]
fn a_playback_may_take_as_long_as_its_steps() {
    let overhead = Duration::from_mins(6);
    let script = |second: &str| {
        format!(
            "<script><step name='a'><open url='/'/></step><step name='b' {second}><open url='/'/></step></script>"
        )
    };
    let (two, own_timeout) = (script(""), script("timeout='7'"));
    for (fields, seconds_limit) in [
        (json!({"url": "http://a.example/"}), 30),
        (json!({"url": "http://a.example/", "timeout": 20}), 20),
        (json!({"script": two}), 60),
        (json!({"script": two, "step_timeout": 45}), 90),
        (json!({"script": own_timeout, "step_timeout": 45, "retry_on_failure": true}), 2 * 52 + 360),
    ] {
        let plan = monitor_of(MonitorType::BrowserScript, fields.clone()).run_plan(&[LocationId(1)]);
        assert_eq!(plan.max_check_duration, Duration::from_secs(seconds_limit) + overhead, "{fields}");
    }
}

/// behaviour.md 4, email-round-trip: one location per run, whatever the mode and the location count.
#[test]
fn a_round_trip_runs_at_one_location_at_a_time() {
    for mode in ["Global Verify", "Primary", "Global Notify", "Round Robin", "SLA (MultiPOP)"] {
        for (rotate_locations, count) in [(false, 0), (false, 3), (true, 0), (true, 2)] {
            let fields = json!({
                "mode": mode, "rotate_locations": rotate_locations, "monitor_location_count": count,
                "home_location": 2,
            });
            let trip = monitor_of(MonitorType::EmailRoundTrip, fields);
            let plan = trip.run_plan(&[1, 2, 3].map(LocationId));
            let first = plan.slot_grid.next_slot_after(NOON);
            let runs =
                std::iter::successors(Some(first), |run| Some(plan.slot_grid.next_slot_after(*run))).take(3);
            let locations: Vec<Vec<LocationId>> = runs.map(|run| plan.locations_of_run(run)).collect();
            assert!(locations.iter().all(|locations| locations.len() == 1), "{mode}: {locations:?}");
            let mut all: Vec<i64> = locations.into_iter().flatten().map(|location| location.0).collect();
            all.sort_unstable();
            let expected = if rotate_locations && mode != "Primary" { [1, 2, 3] } else { [2, 2, 2] };
            assert_eq!(all, expected, "{mode}, {rotate_locations}, {count}");
        }
    }
}

#[test]
fn a_single_location_runs_at_every_slot_of_its_monitor() {
    for mode in ["Global Verify", "Primary", "Global Notify", "Round Robin", "SLA (MultiPOP)"] {
        for rotate_locations in [false, true] {
            let alone = monitor(json!({"mode": mode, "rotate_locations": rotate_locations}));
            let plan = alone.run_plan(&[LocationId(4)]);
            assert_eq!(grid(&plan, LocationId(4)), Some(LocationSlotGrid::from(plan.slot_grid)), "{mode}");
            assert_eq!(plan.location_rotation(LocationId(5)), None);
        }
    }
}
