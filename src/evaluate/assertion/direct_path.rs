//! Reads one value directly from a JSON text (RFC 8259): most paths are like `$.data.items[0].id`, and need no tree of
//! the whole document.

use std::ops::Range;

use serde_json::Value;

/// Maximum nesting of arrays and objects, as in the parser.
const MAX_DEPTH: u32 = 127;
/// Bytes of a number that is certainly not too large, as long as it has no exponent.
const MAX_NUMBER_BYTES: usize = 300;

/// The bytes that are not special in a string: a table lookup is faster than comparisons.
const UNESCAPED_BYTES: [bool; 256] = {
    let mut plain = [true; 256];
    let mut control = 0;
    while control < 0x20 {
        plain[control] = false;
        control += 1;
    }
    plain[b'"' as usize] = false;
    plain[b'\\' as usize] = false;
    plain
};

/// A path that only goes from member to member and item to item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DirectPath(Box<[PathSegment]>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum PathSegment {
    Member(Box<str>),
    Index(usize),
}

impl DirectPath {
    /// Parses a valid JSONPath; `None` when it is written, or selects, in any other form.
    pub(super) fn parse(property: &str) -> Option<Self> {
        let is_name_char = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut segments = Vec::new();
        let mut rest = property.strip_prefix('$').unwrap_or(property);
        // The leading `$.` may be missing (behaviour.md 4).
        let mut starts_without_dot = rest.len() == property.len() && !rest.starts_with(['.', '[']);
        while !rest.is_empty() {
            if starts_without_dot || rest.starts_with('.') {
                rest = if starts_without_dot { rest } else { &rest[1..] };
                let end = rest.find(|c| !is_name_char(c)).unwrap_or(rest.len());
                let (name, after) = rest.split_at(end);
                name.starts_with(|c: char| !c.is_ascii_digit()).then_some(())?;
                segments.push(PathSegment::Member(name.into()));
                rest = after;
            } else {
                let (digits, after) = rest.strip_prefix('[')?.split_once(']')?;
                let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
                segments.push(PathSegment::Index(digits.parse().ok().filter(|_| is_plain)?));
                rest = after;
            }
            starts_without_dot = false;
        }
        Some(Self(segments.into()))
    }

    /// Returns the value at this path in `text`, if there is one.
    pub(super) fn read_value(&self, text: &str) -> Result<Option<Value>, NeedsParser> {
        let mut scanner = JsonScanner { text: text.as_bytes(), position: 0, depth: 0 };
        scanner.skip_whitespace();
        let range = scanner.scan_value(Some(&self.0)).ok_or(NeedsParser)?;
        scanner.skip_whitespace();
        match range {
            _ if scanner.position < text.len() => Err(NeedsParser),
            Some(range) => serde_json::from_str(&text[range]).map(Some).map_err(|_| NeedsParser),
            None => Ok(None),
        }
    }
}

/// The text is not JSON, or only a parser can decide: numbers with an exponent, names with an escape, and halves of
/// surrogate pairs.
#[derive(Debug)]
pub(super) struct NeedsParser;

/// Scans a text. Returns `None` for anything that it cannot be sure is JSON.
struct JsonScanner<'t> {
    text: &'t [u8],
    position: usize,
    depth: u32,
}

/// The position of the requested value; `None` when the path leads to none.
type ValueRange = Option<Range<usize>>;

impl<'t> JsonScanner<'t> {
    /// Skips one value. Returns the range at `path` inside of it, if there is a path.
    fn scan_value(&mut self, path: Option<&[PathSegment]>) -> Option<ValueRange> {
        let start = self.position;
        let found_range = match self.text.get(self.position)? {
            b'"' => self.scan_string().map(|_| None)?,
            b'{' => self.scan_object(path)?,
            b'[' => self.scan_array(path)?,
            b'-' | b'0'..=b'9' => self.scan_number().map(|()| None)?,
            b't' => self.scan_literal(b"true")?,
            b'f' => self.scan_literal(b"false")?,
            b'n' => self.scan_literal(b"null")?,
            _ => return None,
        };
        Some(if path.is_some_and(<[PathSegment]>::is_empty) {
            Some(start..self.position)
        } else {
            found_range
        })
    }

    fn scan_object(&mut self, path: Option<&[PathSegment]>) -> Option<ValueRange> {
        let (name, rest) = match path.and_then(<[PathSegment]>::split_first) {
            Some((PathSegment::Member(name), rest)) => (Some(name.as_bytes()), rest),
            _ => (None, &[][..]),
        };
        let mut found = None;
        let mut has_next = self.enter_container(b'}')?;
        while has_next {
            let key = self.scan_string()?;
            if name.is_some() && key.contains(&b'\\') {
                return None;
            }
            self.skip_whitespace();
            self.expect_byte(b':')?;
            self.skip_whitespace();
            if name == Some(key) {
                // Of several members with the same name, the last one counts.
                found = self.scan_value(Some(rest))?;
            } else {
                self.scan_value(None)?;
            }
            has_next = self.skip_separator(b'}')?;
        }
        Some(found)
    }

    fn scan_array(&mut self, path: Option<&[PathSegment]>) -> Option<ValueRange> {
        let (index, rest) = match path.and_then(<[PathSegment]>::split_first) {
            Some((PathSegment::Index(index), rest)) => (Some(*index), rest),
            _ => (None, &[][..]),
        };
        let mut found = None;
        let mut has_next = self.enter_container(b']')?;
        let mut position_in_array = 0;
        while has_next {
            let range = self.scan_value((index == Some(position_in_array)).then_some(rest))?;
            found = found.or(range);
            position_in_array += 1;
            has_next = self.skip_separator(b']')?;
        }
        Some(found)
    }

    /// Skips the start of an array or object. Returns whether it has any elements.
    fn enter_container(&mut self, closing_byte: u8) -> Option<bool> {
        self.position += 1;
        self.depth += 1;
        self.skip_whitespace();
        if self.depth > MAX_DEPTH || *self.text.get(self.position)? != closing_byte {
            return (self.depth <= MAX_DEPTH).then_some(true);
        }
        self.position += 1;
        self.depth -= 1;
        Some(false)
    }

    /// Skips the separator after a value in an array or object. Returns whether another element follows.
    fn skip_separator(&mut self, closing_byte: u8) -> Option<bool> {
        self.skip_whitespace();
        let next = *self.text.get(self.position)?;
        self.position += 1;
        if next == b',' {
            self.skip_whitespace();
            return Some(true);
        }
        self.depth -= 1;
        (next == closing_byte).then_some(false)
    }

    /// Skips a string. Returns the raw text between its quotes.
    fn scan_string(&mut self) -> Option<&'t [u8]> {
        self.expect_byte(b'"')?;
        let start = self.position;
        loop {
            let unescaped_len = self.text[self.position..]
                .iter()
                .take_while(|&&byte| UNESCAPED_BYTES[usize::from(byte)])
                .count();
            self.position += unescaped_len;
            match *self.text.get(self.position)? {
                b'"' => break,
                b'\\' => self.scan_escape()?,
                _ => return None,
            }
        }
        self.position += 1;
        Some(&self.text[start..self.position - 1])
    }

    fn scan_escape(&mut self) -> Option<()> {
        self.position += match self.text.get(self.position + 1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 2,
            b'u' => {
                let digits = self.text.get(self.position + 2..self.position + 6)?;
                let is_surrogate =
                    matches!(digits, [b'd' | b'D', b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F', ..]);
                (!is_surrogate && digits.iter().all(u8::is_ascii_hexdigit)).then_some(6)?
            }
            _ => return None,
        };
        Some(())
    }

    fn scan_number(&mut self) -> Option<()> {
        let start = self.position;
        self.position += usize::from(self.text[start] == b'-');
        // No digit may follow a leading zero.
        match self.text.get(self.position)? {
            b'0' => self.position += 1,
            _ => self.scan_digits()?,
        }
        if self.text.get(self.position) == Some(&b'.') {
            self.position += 1;
            self.scan_digits()?;
        }
        let has_exponent = matches!(self.text.get(self.position), Some(b'e' | b'E'));
        (!has_exponent && self.position - start <= MAX_NUMBER_BYTES).then_some(())
    }

    fn scan_digits(&mut self) -> Option<()> {
        let count = self.text[self.position..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.position += count;
        (count > 0).then_some(())
    }

    fn scan_literal(&mut self, literal: &[u8]) -> Option<ValueRange> {
        self.text[self.position..].starts_with(literal).then_some(())?;
        self.position += literal.len();
        Some(None)
    }

    fn expect_byte(&mut self, byte: u8) -> Option<()> {
        (*self.text.get(self.position)? == byte).then_some(())?;
        self.position += 1;
        Some(())
    }

    fn skip_whitespace(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.text.get(self.position) {
            self.position += 1;
        }
    }
}
