//! Line and column of bytes of a text, each in a time that does not depend on its length.

use crate::syntax::source::Position;

/// Bytes between two places that are known beforehand.
const APART: usize = 4096;

/// The places of a text.
pub(super) struct Places<'t> {
    text: &'t str,
    /// Of the bytes 0, [`APART`], 2 × [`APART`], …, or of the first character behind each.
    known: Vec<(usize, Position)>,
}

impl<'t> Places<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let mut known = Vec::with_capacity(text.len() / APART + 1);
        let mut place = Position { line: 1, column: 1 };
        for (at, c) in text.char_indices() {
            if at >= known.len() * APART {
                known.push((at, place));
            }
            pass(&mut place, c);
        }
        Self { text, known }
    }

    /// Of the byte `at`.
    pub(super) fn of(&self, at: usize) -> Position {
        let before = self.known.partition_point(|(known, _)| *known <= at).checked_sub(1);
        let (from, mut place) = before
            .and_then(|before| self.known.get(before))
            .copied()
            .unwrap_or((0, Position { line: 1, column: 1 }));
        let between = self.text.get(from..at).unwrap_or_default();
        between.chars().for_each(|c| pass(&mut place, c));
        place
    }
}

fn pass(place: &mut Position, c: char) {
    if c == '\n' {
        place.line = place.line.saturating_add(1);
        place.column = 1;
    } else {
        place.column = place.column.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_the_same_however_far_the_text_goes() {
        let text = "é\nab\n\ncd".repeat(3000);
        let places = Places::new(&text);
        let mut place = Position { line: 1, column: 1 };
        for (at, c) in text.char_indices() {
            assert_eq!(places.of(at), place, "{at}");
            pass(&mut place, c);
        }
        assert_eq!(places.of(text.len()), place);
        assert_eq!(Places::new("").of(0), Position { line: 1, column: 1 });
    }
}
