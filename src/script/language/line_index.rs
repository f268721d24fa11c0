//! Line and column of bytes of a text, each in a time that does not depend on its length.

use crate::syntax::node::Position;

/// Bytes between two places that are known beforehand.
const CHECKPOINT_BYTES: usize = 4096;

/// The places of a text.
pub(super) struct LineIndex<'t> {
    text: &'t str,
    /// Of the bytes 0, [`CHECKPOINT_BYTES`], 2 × [`CHECKPOINT_BYTES`], …, or of the first character behind each.
    checkpoints: Vec<(usize, Position)>,
}

impl<'t> LineIndex<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let mut known = Vec::with_capacity(text.len() / CHECKPOINT_BYTES + 1);
        let mut position = Position { line: 1, column: 1 };
        for (at, c) in text.char_indices() {
            if at >= known.len() * CHECKPOINT_BYTES {
                known.push((at, position));
            }
            advance(&mut position, c);
        }
        Self { text, checkpoints: known }
    }

    /// Of the byte `at`.
    pub(super) fn position_at(&self, at: usize) -> Position {
        let before = self.checkpoints.partition_point(|(known, _)| *known <= at).checked_sub(1);
        let (from, mut position) = before
            .and_then(|before| self.checkpoints.get(before))
            .copied()
            .unwrap_or((0, Position { line: 1, column: 1 }));
        let between = self.text.get(from..at).unwrap_or_default();
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
    fn a_place_is_the_same_however_far_the_text_goes() {
        let text = "é\nab\n\ncd".repeat(3000);
        let places = LineIndex::new(&text);
        let mut position = Position { line: 1, column: 1 };
        for (at, c) in text.char_indices() {
            assert_eq!(places.position_at(at), position, "{at}");
            advance(&mut position, c);
        }
        assert_eq!(places.position_at(text.len()), position);
        assert_eq!(LineIndex::new("").position_at(0), Position { line: 1, column: 1 });
    }
}
