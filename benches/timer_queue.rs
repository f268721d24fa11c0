//! The timer queue at the sizes of an agent: each turn pops the next timer and sets it one interval later.
#![allow(missing_docs)]

#[path = "support/allocator.rs"]
mod allocator;

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use vigie::domain::{MonitorId, Timestamp};
use vigie::schedule::{CatchUp, SlotGrid, TimerQueue};

const START: Timestamp = Timestamp::from_seconds(1_795_176_000);
const FAR: Timestamp = Timestamp::from_micros(i64::MAX);

fn grids(monitors: u32) -> Vec<SlotGrid> {
    (0..monitors)
        .map(|index| SlotGrid::new(MonitorId(i64::from(index)), Duration::from_mins(1), None))
        .collect()
}

fn filled(grids: &[SlotGrid]) -> TimerQueue {
    let mut queue = TimerQueue::new();
    for (index, slots) in (0_u32..).zip(grids) {
        queue.set_timer(index, slots.first_slot_at_or_after(START));
    }
    queue
}

fn turns(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("timer_queue");
    for monitors in [10_000_u32, 100_000, 1_000_000] {
        let grids = grids(monitors);
        group.throughput(Throughput::Elements(1));
        let mut queue = filled(&grids);
        group.bench_function(BenchmarkId::new("take_and_set", monitors), |bencher| {
            bencher.iter(|| {
                let at = queue.next_expiry().unwrap_or(START);
                if let Some(index) = queue.pop_expired(FAR) {
                    queue.set_timer(index, grids[index as usize].next_slot_after(at));
                }
            });
        });
        let mut queue = filled(&grids);
        let mut index = 0;
        group.bench_function(BenchmarkId::new("replace", monitors), |bencher| {
            bencher.iter(|| {
                index = (index + 7919) % monitors;
                queue.set_timer(index, START + Duration::from_micros(u64::from(index)));
            });
        });
    }
    group.finish();
}

fn catch_up(criterion: &mut Criterion) {
    let slots = SlotGrid::new(MonitorId(1), Duration::from_mins(1), None);
    let due = slots.first_slot_at_or_after(START);
    criterion.bench_function("catch_up_after_a_day", |bencher| {
        let now = due + Duration::from_hours(24);
        bencher.iter(|| CatchUp::decide(black_box(&slots), due, black_box(now), MonitorId(1)));
    });
}

criterion_group!(benches, turns, catch_up);
criterion_main!(benches);
