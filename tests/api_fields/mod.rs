//! Every field of every monitor type through create, read, change, list and copy on both APIs, at its limits
//! (interface.md 2 and 8, fields.md, behaviour.md 1 and 2).

mod cases;
mod computed;
mod expected;
mod invalid_values;
mod legacy_encoding;
mod long_texts;
mod rejection;
mod round_trips;
mod sub_objects;
mod valid_values;
mod world;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use vigie::domain::MonitorType;
use vigie::schema::table;

use crate::api_fields::world::World;

/// Types at a time.
const THREADS: usize = 3;

/// Calls `walk` for every type, several at a time, each with a world of its own; answers what it counted.
fn every_type<W>(walk: W) -> BTreeMap<&'static str, usize>
where
    W: AsyncFn(&mut World) + Sync,
{
    let next = AtomicUsize::new(0);
    let (counts, problems) = (Mutex::new(BTreeMap::new()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                while let Some(kind) = MonitorType::ALL.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut world = runtime.block_on(World::new(*kind));
                    runtime.block_on(walk(&mut world));
                    counts.lock().unwrap().insert(kind.name(), world.walked.len());
                    problems.lock().unwrap().append(&mut world.problems);
                }
            });
        }
    });
    let problems = problems.into_inner().unwrap();
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    counts.into_inner().unwrap()
}

/// Each field counts once per type, those that Vigie sets too: they are sent, and ignored.
#[track_caller]
fn all_are_walked(counts: &BTreeMap<&str, usize>) {
    for kind in MonitorType::ALL {
        assert_eq!(counts[kind.name()], table::for_type(*kind).fields().len(), "fields of {kind}");
    }
}

#[test]
fn every_field_takes_its_values_up_to_its_limits_and_both_apis_agree() {
    all_are_walked(&every_type(rounds::walk));
}

#[test]
fn every_field_refuses_what_is_beyond_its_limits_and_nothing_is_written() {
    all_are_walked(&every_type(refused::walk));
}
