//! Decisions of chance that a seed repeats.

use crate::endurance::kill::RandomMoments;

/// Shuffles `items` (Fisher and Yates).
pub fn shuffle<T>(items: &mut [T], random: &mut RandomMoments) {
    for last in (1..items.len()).rev() {
        let other = usize::try_from(random.below(last as u64 + 1)).unwrap();
        items.swap(last, other);
    }
}
