//! Every field of every monitor type through create, read, change, list and clone on both APIs, with values up to and
//! beyond its limits (interface.md 2 and 8, fields.md, behaviour.md 1 and 2).

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

/// Number of types tested in parallel.
const THREADS: usize = 3;

/// Calls `check_type` for every type, several in parallel, each with its own world. Returns the number of covered
/// fields by type.
fn for_every_type<W>(check_type: W) -> BTreeMap<&'static str, usize>
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
                    runtime.block_on(check_type(&mut world));
                    counts.lock().unwrap().insert(kind.name(), world.covered.len());
                    problems.lock().unwrap().append(&mut world.problems);
                }
            });
        }
    });
    let problems = problems.into_inner().unwrap();
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    counts.into_inner().unwrap()
}

/// Asserts that each field of each type was sent, read-only ones included.
#[track_caller]
fn assert_all_covered(counts: &BTreeMap<&str, usize>) {
    for kind in MonitorType::ALL {
        assert_eq!(counts[kind.name()], table::for_type(*kind).fields().len(), "fields of {kind}");
    }
}

// row: 4.2 bodies
#[test]
fn every_field_accepts_values_up_to_its_limits_on_both_apis() {
    assert_all_covered(&for_every_type(round_trips::check_type));
}

#[test]
fn every_field_refuses_values_beyond_its_limits() {
    assert_all_covered(&for_every_type(rejection::check_type));
}
