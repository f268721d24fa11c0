//! The timer queue: a binary heap with lazy deletion.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::domain::Timestamp;

/// One timer per index: setting it again replaces it. Takes 20 bytes per index, and at most as much again for replaced
/// entries that are not reached yet.
#[derive(Debug, Default)]
pub struct TimerQueue {
    heap: BinaryHeap<Reverse<TimerEntry>>,
    /// By index. Odd while the timer is set; an entry of another generation is stale.
    generations: Vec<u32>,
    set_count: usize,
}

/// Ordered by time, then by index, so that the order does not depend on the order of insertions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TimerEntry {
    expires_at: Timestamp,
    index: u32,
    generation: u32,
}

/// A heap of at most this many entries is not compacted.
const COMPACT_THRESHOLD: usize = 1024;

impl TimerQueue {
    /// Creates an empty queue.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of timers that are set.
    #[must_use]
    pub fn len(&self) -> usize {
        self.set_count
    }

    /// Whether no timer is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.set_count == 0
    }

    /// Returns the number of entries, stale ones included; at most twice `len`, or
    /// `COMPACT_THRESHOLD` if that is more.
    #[must_use]
    pub fn heap_len(&self) -> usize {
        self.heap.len()
    }

    /// Sets the timer of `index` to `expires_at`.
    pub fn set_timer(&mut self, index: u32, expires_at: Timestamp) {
        let position = index as usize;
        if position >= self.generations.len() {
            self.generations.resize(position + 1, 0);
        }
        let generation = &mut self.generations[position];
        if is_set(*generation) {
            *generation = generation.wrapping_add(2);
        } else {
            *generation = generation.wrapping_add(1);
            self.set_count += 1;
        }
        self.heap.push(Reverse(TimerEntry { expires_at, index, generation: *generation }));
        self.compact_if_mostly_stale();
    }

    /// Cancels the timer of `index`, if it is set.
    pub fn cancel_timer(&mut self, index: u32) {
        if let Some(generation) = self.generations.get_mut(index as usize).filter(|g| is_set(**g)) {
            *generation = generation.wrapping_add(1);
            self.set_count -= 1;
            self.compact_if_mostly_stale();
        }
    }

    /// Returns the time of the next timer.
    pub fn next_expiry(&mut self) -> Option<Timestamp> {
        self.pop_stale_entries();
        self.heap.peek().map(|Reverse(entry)| entry.expires_at)
    }

    /// Removes one timer whose time is not after `now`, the oldest first, and returns its index.
    pub fn pop_expired(&mut self, now: Timestamp) -> Option<u32> {
        if self.next_expiry()? > now {
            return None;
        }
        let Reverse(entry) = self.heap.pop()?;
        self.generations[entry.index as usize] = entry.generation.wrapping_add(1);
        self.set_count -= 1;
        Some(entry.index)
    }

    fn is_live(generations: &[u32], entry: &TimerEntry) -> bool {
        generations[entry.index as usize] == entry.generation
    }

    fn pop_stale_entries(&mut self) {
        while let Some(Reverse(entry)) = self.heap.peek() {
            if Self::is_live(&self.generations, entry) {
                return;
            }
            self.heap.pop();
        }
    }

    /// Removes stale entries once they outnumber the live ones: constant amortised cost per call.
    fn compact_if_mostly_stale(&mut self) {
        if self.heap.len() > COMPACT_THRESHOLD.max(2 * self.set_count) {
            let generations = &self.generations;
            self.heap.retain(|Reverse(entry)| Self::is_live(generations, entry));
            self.heap.shrink_to(2 * self.set_count);
        }
    }
}

fn is_set(generation: u32) -> bool {
    generation % 2 == 1
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn at(micros: i64) -> Timestamp {
        Timestamp::from_micros(micros)
    }

    #[test]
    fn a_timer_that_was_set_again_fires_once_at_its_new_time() {
        let mut queue = TimerQueue::new();
        queue.set_timer(3, at(10));
        queue.set_timer(3, at(20));
        assert_eq!((queue.len(), queue.pop_expired(at(19))), (1, None));
        assert_eq!((queue.pop_expired(at(20)), queue.pop_expired(at(99))), (Some(3), None));
    }

    #[test]
    fn replaced_entries_never_outnumber_the_live_ones_for_long() {
        let mut queue = TimerQueue::new();
        for round in 0..50 {
            for index in 0..2000 {
                queue.set_timer(index, at(round * 1000 + i64::from(index)));
                assert!(queue.heap_len() <= 1 + COMPACT_THRESHOLD.max(2 * queue.len()));
            }
        }
        for index in 0..2000 {
            queue.cancel_timer(index);
        }
        assert!(queue.is_empty() && queue.heap_len() <= COMPACT_THRESHOLD);
        assert_eq!(queue.next_expiry(), None);
    }

    proptest! {
        #[test]
        fn it_behaves_like_a_sorted_map(operations in prop::collection::vec((0_u8..4, 0_u32..8, 0_i64..50), 1..300)) {
            let (mut queue, mut model) = (TimerQueue::new(), BTreeMap::<u32, i64>::new());
            for (operation, index, time) in operations {
                match operation {
                    0 | 1 => {
                        queue.set_timer(index, at(time));
                        model.insert(index, time);
                    }
                    2 => {
                        queue.cancel_timer(index);
                        model.remove(&index);
                    }
                    _ => {
                        let first = model.iter().map(|(&i, &t)| (t, i)).min().filter(|(t, _)| *t <= time);
                        let expected = first.map(|(_, i)| i);
                        prop_assert_eq!(queue.pop_expired(at(time)), expected);
                        expected.map(|i| model.remove(&i));
                    }
                }
                prop_assert_eq!(queue.len(), model.len());
                prop_assert_eq!(queue.next_expiry(), model.values().min().map(|&t| at(t)));
            }
        }
    }
}
