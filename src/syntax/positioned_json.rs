//! Reads JSON with the position of every value.

use std::collections::HashMap;
use std::ops::Range;

use super::node::{Key, Node, NodeValue, Position, SyntaxError};

impl Node {
    /// Reads JSON like [`Self::from_json`], within the same limits, and keeps the position of every value. A mark of byte
    /// order at the beginning is skipped.
    ///
    /// # Errors
    /// Fails as [`Self::from_json`] does.
    pub fn from_json_with_positions(text: &str) -> Result<Self, SyntaxError> {
        Self::from_json_with_offsets(text).map(|(node, _)| node)
    }

    /// Like [`Self::from_json_with_positions`]; also returns the bytes of `text` that each text, number, flag and null takes,
    /// by its position.
    ///
    /// # Errors
    /// Fails as [`Self::from_json`] does.
    pub fn from_json_with_offsets(text: &str) -> Result<(Self, ScalarOffsets), SyntaxError> {
        let whole = text.len();
        let text = text.trim_start_matches('\u{feff}');
        // All errors come from there: what follows walks a text that is known to be JSON.
        let mut node = Self::from_json(text.as_bytes())?;
        let mut walker = Walker {
            text,
            offset: 0,
            marked: 0,
            position: Position { line: 1, column: 1 },
            skipped: whole - text.len(),
            offsets: ScalarOffsets::new(),
        };
        walker.place(&mut node);
        Ok((node, walker.offsets))
    }
}

/// The bytes of single values, by their position.
pub type ScalarOffsets = HashMap<Position, Range<usize>>;

/// Walks through a JSON text.
struct Walker<'t> {
    text: &'t str,
    /// Where it stands, in bytes.
    offset: usize,
    /// The byte that `position` is the position of; never after `offset`.
    marked: usize,
    position: Position,
    /// The bytes before the text, which a mark of byte order takes.
    skipped: usize,
    offsets: ScalarOffsets,
}

impl Walker<'_> {
    /// Gives `node`, which is the next value of the text, and all values in it their positions.
    fn place(&mut self, node: &mut Node) {
        self.skip_separators();
        node.position = self.mark();
        match &mut node.value {
            NodeValue::List(items) => {
                self.offset += 1;
                for item in items {
                    self.place(item);
                }
                self.skip_separators();
                self.offset += 1;
            }
            NodeValue::Map(entries) => {
                self.offset += 1;
                for (Key { position, .. }, value) in entries.iter_mut() {
                    self.skip_separators();
                    *position = self.mark();
                    self.skip_string();
                    self.place(value);
                }
                self.skip_separators();
                self.offset += 1;
            }
            scalar => {
                let start = self.offset;
                if matches!(scalar, NodeValue::Text(_)) {
                    self.skip_string();
                } else {
                    let rest = &self.text[start..];
                    self.offset += rest.find([',', '}', ']', ' ', '\t', '\r', '\n']).unwrap_or(rest.len());
                }
                self.offsets.insert(node.position, self.skipped + start..self.skipped + self.offset);
            }
        }
    }

    /// Skips white space, commas and colons.
    fn skip_separators(&mut self) {
        let rest = &self.text[self.offset..];
        self.offset +=
            rest.find(|c: char| !matches!(c, ' ' | '\t' | '\r' | '\n' | ',' | ':')).unwrap_or(rest.len());
    }

    /// Skips the string that begins here.
    fn skip_string(&mut self) {
        let bytes = self.text.as_bytes();
        self.offset += 1;
        while let Some(byte) = bytes.get(self.offset) {
            match byte {
                b'"' => break,
                b'\\' => self.offset += 2,
                _ => self.offset += 1,
            }
        }
        self.offset += 1;
    }

    /// Returns the position of the current byte.
    fn mark(&mut self) -> Position {
        for c in self.text[self.marked..self.offset].chars() {
            if c == '\n' {
                self.position = Position { line: self.position.line + 1, column: 1 };
            } else {
                self.position.column += 1;
            }
        }
        self.marked = self.offset;
        self.position
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_its_position() {
        let text = "\u{feff}{\n\t\"ä\": [1, \"x\\\"]\",\n  {\"b\": null}], \"c\" : {} ,\"d\":-1.5e3}";
        let root = Node::from_json_with_positions(text).unwrap();
        let at = |path: &str| {
            let position = root.position_of(path);
            (position.line, position.column)
        };
        assert_eq!((root.position.line, root.position.column), (1, 1));
        assert_eq!(at("ä"), (2, 7));
        assert_eq!(at("ä[0]"), (2, 8));
        assert_eq!(at("ä[1]"), (2, 11));
        assert_eq!(at("ä[2]"), (3, 3));
        assert_eq!(at("ä[2].b"), (3, 9));
        assert_eq!(at("c"), (3, 23));
        assert_eq!(at("d"), (3, 31));
        assert_eq!(root.to_json()["ä"][1], "x\"]");
        assert!(Node::from_json_with_positions("{\"a\": ").is_err());
    }
}
