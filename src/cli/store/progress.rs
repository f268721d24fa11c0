//! Shows on standard error how far a long command is.

use std::time::{Duration, Instant};

use crate::cli::output;

/// Time between two lines.
const INTERVAL: Duration = Duration::from_secs(2);

/// Prints a line now and then, so that a short command prints none.
pub(super) struct ProgressLines {
    last_line_at: Instant,
}

impl ProgressLines {
    pub(super) fn start() -> Self {
        Self { last_line_at: Instant::now() }
    }

    /// Prints `line` if the last one is old enough.
    pub(super) fn print(&mut self, line: impl FnOnce() -> String) {
        if self.last_line_at.elapsed() >= INTERVAL {
            self.last_line_at = Instant::now();
            output::print_note(&line());
        }
    }

    /// Prints how many pages of a file are copied.
    pub(super) fn print_pages(&mut self, copied: u64, total: u64) {
        self.print(|| format!("{} %", copied.saturating_mul(100) / total.max(1)));
    }
}

/// Returns a size for people.
pub(super) fn size_text(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let mut tenths = bytes.saturating_mul(10) / 1024;
    let mut unit = 0;
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        tenths /= 1024;
        unit += 1;
    }
    let name = UNITS.get(unit).copied().unwrap_or_default();
    format!("{}.{} {name}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_a_unit_that_fits() {
        for (bytes, text) in [
            (0, "0.0 KiB"),
            (1_536, "1.5 KiB"),
            (1_048_575, "1023.9 KiB"),
            (1_048_576, "1.0 MiB"),
            (5_368_709_120, "5.0 GiB"),
            (u64::MAX / 10, "1677721.5 TiB"),
        ] {
            assert_eq!(size_text(bytes), text);
        }
    }
}
