//! Search of the result with a check id. The id is a reversible hash of time, monitor and location: together with a
//! location it gives the monitor's hash mixed with the time. All stored times lie in one or two aligned blocks with
//! equal leading bits. This determines the leading bits of the monitor's hash and so a few candidate monitors. A wrong
//! candidate gives a time at which nothing was planned.

/// Returns one or two aligned blocks of a power of two that cover `first..=last`.
pub(in crate::store) fn aligned_blocks(first: i64, last: i64) -> impl Iterator<Item = (i64, i64)> {
    let width = last.abs_diff(first);
    let low_bits = width.checked_ilog2().map_or(0, |bits| u64::MAX >> (63 - bits)).cast_signed();
    let block_around = move |at: i64| (at & !low_bits, at | low_bits);
    let (lower, upper) = (block_around(first), block_around(last));
    std::iter::once(lower).chain((lower != upper).then_some(upper))
}

/// Returns the block of monitor hashes that give `hash_xor_time` when mixed with a time in `block_start..=block_end`.
pub(in crate::store) fn hash_range(hash_xor_time: u64, block_start: i64, block_end: i64) -> (i64, i64) {
    let low_bits = (block_start ^ block_end).cast_unsigned();
    let start = (hash_xor_time ^ block_start.cast_unsigned()) & !low_bits;
    (start.cast_signed(), (start | low_bits).cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{CheckId, LocationId, MonitorId, RunId, Timestamp};

    proptest::proptest! {
        #[test]
        fn the_monitor_hash_of_a_result_is_in_the_range_of_its_id(
            monitor: i64, location: i64, first in 0_i64..1 << 52, width in 0_i64..1 << 45, fraction in 0.0..1.0,
        ) {
            #[expect(clippy::cast_possible_truncation, reason = "a place between the two")]
            let planned_at = first + (width as f64 * fraction) as i64;
            let (monitor, location) = (MonitorId(monitor), LocationId(location));
            let id = CheckId::new(RunId::new(monitor, Timestamp::from_micros(planned_at)), location);
            let hash_xor_time = id.monitor_hash_xor_time(location);
            let monitor_hash = monitor.hash().cast_signed();
            let ranges: Vec<_> =
                aligned_blocks(first, first + width).map(|(from, to)| hash_range(hash_xor_time, from, to)).collect();
            proptest::prop_assert!(ranges.iter().any(|&(from, to)| (from..=to).contains(&monitor_hash)));
            let widest = ranges.iter().map(|(from, to)| from.abs_diff(*to)).max().unwrap_or(0);
            proptest::prop_assert!(widest <= width.unsigned_abs() * 2);
            proptest::prop_assert_eq!((hash_xor_time ^ monitor_hash.cast_unsigned()).cast_signed(), planned_at);
            proptest::prop_assert_eq!(MonitorId::from_hash(monitor.hash()), monitor);
        }
    }
}
