//! Maps byte offsets of a text to lines and columns, in a time that does not depend on its length.

use super::node::Position;

/// Distance of precomputed positions, in bytes.
const CHECKPOINT_BYTES: usize = 4096;

/// The positions of a text.
pub(crate) struct LineIndex<'t> {
    text: &'t str,
    /// Positions of the bytes 0, [`CHECKPOINT_BYTES`], 2 × [`CHECKPOINT_BYTES`], …, or of the first character after
    /// each.
    checkpoints: Vec<(usize, Position)>,
}

impl<'t> LineIndex<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let mut checkpoints = Vec::with_capacity(text.len() / CHECKPOINT_BYTES + 1);
        let mut position = Position { line: 1, column: 1 };
        for (offset, c) in text.char_indices() {
            if offset >= checkpoints.len() * CHECKPOINT_BYTES {
                checkpoints.push((offset, position));
            }
            advance(&mut position, c);
        }
        Self { text, checkpoints }
    }

    /// Returns the line and column of the byte at `byte_offset`.
    pub(crate) fn position_at(&self, byte_offset: usize) -> Position {
        let checkpoint =
            self.checkpoints.partition_point(|(offset, _)| *offset <= byte_offset).checked_sub(1);
        let (checkpoint_offset, mut position) = checkpoint
            .and_then(|checkpoint| self.checkpoints.get(checkpoint))
            .copied()
            .unwrap_or((0, Position { line: 1, column: 1 }));
        let between = self.text.get(checkpoint_offset..byte_offset).unwrap_or_default();
        between.chars().for_each(|c| advance(&mut position, c));
        position
    }
}

fn advance(position: &mut Position, c: char) {
    if c == '\n' {
        position.line = position.line.saturating_add(1);
        position.column = 1;
    } else {
        position.column = position.column.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_correct_across_checkpoints() {
        let text = "é\nab\n\ncd".repeat(3000);
        let index = LineIndex::new(&text);
        let mut position = Position { line: 1, column: 1 };
        for (offset, c) in text.char_indices() {
            assert_eq!(index.position_at(offset), position, "{offset}");
            advance(&mut position, c);
        }
        assert_eq!(index.position_at(text.len()), position);
        assert_eq!(LineIndex::new("").position_at(0), Position { line: 1, column: 1 });
    }

    #[test]
    fn positions_are_counted_from_one() {
        let index = LineIndex::new("aé<\n<b>\n");
        for (offset, line, column) in [(0, 1, 1), (3, 1, 3), (5, 2, 1), (9, 3, 1)] {
            assert_eq!(index.position_at(offset), Position { line, column });
        }
    }
}
