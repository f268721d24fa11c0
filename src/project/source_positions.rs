//! Lines and columns of offsets in a file, without reading it again for each.

/// Longest line in bytes whose characters are counted; columns of longer ones are in bytes.
const MAX_COUNTED_LINE_BYTES: usize = 64 * 1024;

/// The starts of the lines of a file.
pub(super) struct SourcePositions<'t> {
    text: &'t str,
    /// Offsets of the line feeds.
    line_feeds: Vec<usize>,
}

impl<'t> SourcePositions<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, line_feeds: memchr::memchr_iter(b'\n', text.as_bytes()).collect() }
    }

    /// Returns line and column of `offset`, both from 1.
    pub(super) fn line_and_column(&self, offset: usize) -> (u32, u32) {
        let line = self.line_feeds.partition_point(|&line_feed| line_feed < offset);
        let line_start = line.checked_sub(1).map_or(0, |previous| self.line_feeds[previous] + 1);
        let before = self.text.get(line_start..offset).unwrap_or_default();
        let column =
            if before.len() > MAX_COUNTED_LINE_BYTES { before.len() } else { before.chars().count() };
        let to_number = |number: usize| u32::try_from(number + 1).unwrap_or(u32::MAX);
        (to_number(line), to_number(column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_counted_from_one() {
        let positions = SourcePositions::new("aé<\n<b>\n");
        assert_eq!(positions.line_and_column(0), (1, 1));
        assert_eq!(positions.line_and_column(3), (1, 3));
        assert_eq!(positions.line_and_column(5), (2, 1));
        assert_eq!(positions.line_and_column(9), (3, 1));
    }
}
