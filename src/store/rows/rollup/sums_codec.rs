//! The stored form of [`RollupSums`]: a version byte, then numbers of 1 to 10 bytes (LEB128).

use super::sums::{MeanSum, RollupSums, ViewSums};
use crate::domain::Phase;

/// Version of the form.
const VERSION: u64 = 1;

/// Returns the stored code of a phase. Codes never change; new phases get new ones.
const fn phase_code(phase: Phase) -> u64 {
    match phase {
        Phase::Prepare => 0,
        Phase::Resolve => 1,
        Phase::Connect => 2,
        Phase::Tls => 3,
        Phase::Banner => 4,
        Phase::Ehlo => 5,
        Phase::Capability => 6,
        Phase::Starttls => 7,
        Phase::Auth => 8,
        Phase::Select => 9,
        Phase::Send => 10,
        Phase::FirstByte => 11,
        Phase::Transfer => 12,
        Phase::OpenDataConnection => 13,
        Phase::List => 14,
        Phase::Upload => 15,
        Phase::Download => 16,
        Phase::Delete => 17,
        Phase::Submit => 18,
        Phase::Transit => 19,
        Phase::Fetch => 20,
        Phase::Quit => 21,
        Phase::Launch => 22,
        Phase::FirstPaint => 23,
        Phase::DomLoad => 24,
        Phase::PageLoad => 25,
        Phase::RunScript => 26,
        Phase::Validate => 27,
        Phase::Echo => 28,
    }
}

/// Encodes `sums`; `None` when they are empty.
pub(in crate::store) fn encode(sums: &RollupSums) -> Option<Vec<u8>> {
    if sums.is_empty() {
        return None;
    }
    let mut numbers = vec![VERSION, sums.phases.len() as u64];
    for (phase, sum) in &sums.phases {
        numbers.extend([phase_code(*phase), sum.count, sum.sum]);
    }
    numbers.push(sums.pages);
    numbers.extend(sums.experience.iter().flat_map(|sum| [sum.count, sum.sum]));
    numbers.push(sums.views.len() as u64);
    for (id, view) in &sums.views {
        let ViewSums { runs, errors, duration_us, objects, bytes } = *view;
        numbers.extend([id.cast_unsigned(), runs, errors, duration_us, objects, bytes]);
    }
    let mut bytes = Vec::with_capacity(numbers.len() * 2);
    for number in numbers {
        push_number(&mut bytes, number);
    }
    Some(bytes)
}

/// Decodes what [`encode`] returned.
///
/// # Errors
/// Returns what is wrong with the bytes.
pub(in crate::store) fn decode(mut bytes: &[u8]) -> Result<RollupSums, &'static str> {
    let bytes = &mut bytes;
    if take_number(bytes)? != VERSION {
        return Err("unknown version");
    }
    let mut sums = RollupSums::default();
    for _ in 0..take_number(bytes)? {
        let (code, sum) = (take_number(bytes)?, take_sum(bytes)?);
        let phase = Phase::ALL.into_iter().find(|phase| phase_code(*phase) == code).ok_or("unknown phase")?;
        sums.phases.insert(phase, sum);
    }
    sums.pages = take_number(bytes)?;
    for sum in &mut sums.experience {
        *sum = take_sum(bytes)?;
    }
    for _ in 0..take_number(bytes)? {
        let id = take_number(bytes)?.cast_signed();
        let mut next = || take_number(bytes);
        let view = ViewSums {
            runs: next()?,
            errors: next()?,
            duration_us: next()?,
            objects: next()?,
            bytes: next()?,
        };
        sums.views.insert(id, view);
    }
    if bytes.is_empty() { Ok(sums) } else { Err("more bytes than expected") }
}

fn take_sum(bytes: &mut &[u8]) -> Result<MeanSum, &'static str> {
    Ok(MeanSum { count: take_number(bytes)?, sum: take_number(bytes)? })
}

fn push_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push((number & 0x7f) as u8);
}

fn take_number(bytes: &mut &[u8]) -> Result<u64, &'static str> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first().ok_or("too few bytes")?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            return Err("number too large");
        }
        number |= bits << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err("number too large")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_phase_has_a_code_of_its_own() {
        let codes: BTreeSet<u64> = Phase::ALL.into_iter().map(phase_code).collect();
        assert_eq!(codes.len(), Phase::ALL.len());
    }

    #[test]
    fn the_largest_row_is_small_and_empty_parts_have_none() {
        assert_eq!(encode(&RollupSums::default()), None);
        let mut sums = RollupSums { pages: 3600, ..RollupSums::default() };
        let sum = MeanSum { count: 3600, sum: 3600 * 60_000_000 };
        sums.phases = Phase::ALL.into_iter().map(|phase| (phase, sum)).collect();
        sums.experience = [sum; 6];
        let view = ViewSums { runs: 3600, errors: 1, duration_us: sum.sum, objects: 100_000, bytes: 1 << 40 };
        sums.views = (0..100).map(|id| (1_000_000 + id, view)).collect();
        let bytes = encode(&sums).unwrap();
        assert!(bytes.len() < 3000, "{}", bytes.len());
        assert_eq!(decode(&bytes).unwrap(), sums);
    }

    proptest! {
        #[test]
        fn numbers_are_read_as_they_were_written(numbers in prop::collection::vec(any::<u64>(), 0..9)) {
            let mut bytes = Vec::new();
            for &number in &numbers {
                push_number(&mut bytes, number);
            }
            let mut rest = bytes.as_slice();
            for number in numbers {
                prop_assert_eq!(take_number(&mut rest), Ok(number));
            }
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(sums) = decode(&bytes) {
                prop_assert_eq!(decode(&encode(&sums).unwrap_or_else(|| bytes.clone())), Ok(sums));
            }
        }
    }
}
