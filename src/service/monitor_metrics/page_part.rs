//! Splits the monitors over several pages.

use crate::domain::MonitorId;

/// Most parts.
const MAX_PARTS: u64 = 1_000;

/// One of several parts of all monitors. Which monitor is in which part depends on its id alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PagePart {
    /// From 0.
    index: u64,
    count: u64,
}

impl PagePart {
    /// All monitors.
    pub const WHOLE: Self = Self { index: 0, count: 1 };

    /// Parses `K/N`: part K of N, from `1/1` to `1000/1000`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok());
        let (part, count) = text.split_once('/')?;
        let (part, count): (u64, u64) = (number(part)??, number(count)??);
        let is_valid = (1..=count).contains(&part) && count <= MAX_PARTS;
        is_valid.then(|| Self { index: part - 1, count })
    }

    /// Whether `monitor` is in this part.
    #[must_use]
    pub fn contains(self, monitor: MonitorId) -> bool {
        // The low bits of the hash are as good as the high ones.
        monitor.hash() % self.count == self.index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_parts_that_exist_are_parsed() {
        assert_eq!(PagePart::parse("1/1"), Some(PagePart::WHOLE));
        assert_eq!(PagePart::parse("1000/1000"), Some(PagePart { index: 999, count: 1000 }));
        for odd in [
            "",
            "1",
            "0/2",
            "3/2",
            "1/0",
            "1/1001",
            "-1/2",
            "+1/2",
            "1/2/3",
            " 1/2",
            "a/b",
            "1/99999999999999999999",
        ] {
            assert_eq!(PagePart::parse(odd), None, "{odd}");
        }
    }

    #[test]
    fn every_monitor_is_in_one_part_and_parts_are_even() {
        let parts: Vec<_> = (1..=4).map(|part| PagePart::parse(&format!("{part}/4")).unwrap()).collect();
        let mut counts = [0; 4];
        for id in (0..10_000).map(MonitorId) {
            let found: Vec<_> = (0..4).filter(|index| parts[*index].contains(id)).collect();
            assert_eq!(found.len(), 1);
            counts[found[0]] += 1;
        }
        assert!(counts.iter().all(|count| (2_300..2_700).contains(count)), "{counts:?}");
    }
}
