//! One value of a JSON text (RFC 8259), taken out in passing: paths such as `$.data.items[0].id` are most of all, and
//! need no tree of the whole document.

use std::ops::Range;

use serde_json::Value;

/// Arrays and objects inside each other that a parser takes.
const MAX_DEPTH: u32 = 127;
/// Bytes of a number that is surely none too large, as long as it has no exponent.
const MAX_NUMBER_BYTES: usize = 300;

/// Which bytes stand for themselves in a string: to look there takes less time than to compare.
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

/// Where a path leads that goes from member to member and item to item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DirectPath(Box<[PathSegment]>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum PathSegment {
    Member(Box<str>),
    Index(usize),
}

impl DirectPath {
    /// That of a JSONPath which is known to be good; `None` when it is written, or selects, in any other way.
    pub(super) fn parse(property: &str) -> Option<Self> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut steps = Vec::new();
        let mut rest = property.strip_prefix('$').unwrap_or(property);
        // The leading `$.` may be missing (behaviour.md 4).
        let mut bare = rest.len() == property.len() && !rest.starts_with(['.', '[']);
        while !rest.is_empty() {
            if bare || rest.starts_with('.') {
                rest = if bare { rest } else { &rest[1..] };
                let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                let (name, behind) = rest.split_at(end);
                name.starts_with(|c: char| !c.is_ascii_digit()).then_some(())?;
                steps.push(PathSegment::Member(name.into()));
                rest = behind;
            } else {
                let (digits, behind) = rest.strip_prefix('[')?.split_once(']')?;
                let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
                steps.push(PathSegment::Index(digits.parse().ok().filter(|_| is_plain)?));
                rest = behind;
            }
            bare = false;
        }
        Some(Self(steps.into()))
    }

    /// What it leads to in `text`, or nothing.
    pub(super) fn find_in(&self, text: &str) -> Result<Option<Value>, NeedsParser> {
        let mut reader = JsonScanner { text: text.as_bytes(), position: 0, depth: 0 };
        reader.skip_whitespace();
        let place = reader.scan_value(Some(&self.0)).ok_or(NeedsParser)?;
        reader.skip_whitespace();
        match place {
            _ if reader.position < text.len() => Err(NeedsParser),
            Some(place) => serde_json::from_str(&text[place]).map(Some).map_err(|_| NeedsParser),
            None => Ok(None),
        }
    }
}

/// The text is no JSON, or it takes a parser to tell: of numbers with an exponent, names with an escape, and halves of
/// surrogate pairs.
#[derive(Debug)]
pub(super) struct NeedsParser;

/// Goes through a text. What it cannot say surely to be JSON is `None`.
struct JsonScanner<'t> {
    text: &'t [u8],
    position: usize,
    depth: u32,
}

/// Where what was wanted stands.
type ValueRange = Option<Range<usize>>;

impl<'t> JsonScanner<'t> {
    /// Passes one value. What the steps lead to in it is told, when there are any.
    fn scan_value(&mut self, wanted: Option<&[PathSegment]>) -> Option<ValueRange> {
        let from = self.position;
        let within = match self.text.get(self.position)? {
            b'"' => self.scan_string().map(|_| None)?,
            b'{' => self.scan_object(wanted)?,
            b'[' => self.scan_array(wanted)?,
            b'-' | b'0'..=b'9' => self.scan_number().map(|()| None)?,
            b't' => self.scan_literal(b"true")?,
            b'f' => self.scan_literal(b"false")?,
            b'n' => self.scan_literal(b"null")?,
            _ => return None,
        };
        Some(if wanted.is_some_and(<[PathSegment]>::is_empty) { Some(from..self.position) } else { within })
    }

    fn scan_object(&mut self, wanted: Option<&[PathSegment]>) -> Option<ValueRange> {
        let (name, rest) = match wanted.and_then(<[PathSegment]>::split_first) {
            Some((PathSegment::Member(name), rest)) => (Some(name.as_bytes()), rest),
            _ => (None, &[][..]),
        };
        let mut found = None;
        let mut goes_on = self.enter_container(b'}')?;
        while goes_on {
            let own = self.scan_string()?;
            if name.is_some() && own.contains(&b'\\') {
                return None;
            }
            self.skip_whitespace();
            self.expect_byte(b':')?;
            self.skip_whitespace();
            if name == Some(own) {
                // Of several members of one name the last one counts.
                found = self.scan_value(Some(rest))?;
            } else {
                self.scan_value(None)?;
            }
            goes_on = self.next_element(b'}')?;
        }
        Some(found)
    }

    fn scan_array(&mut self, wanted: Option<&[PathSegment]>) -> Option<ValueRange> {
        let (index, rest) = match wanted.and_then(<[PathSegment]>::split_first) {
            Some((PathSegment::Index(index), rest)) => (Some(*index), rest),
            _ => (None, &[][..]),
        };
        let mut found = None;
        let mut goes_on = self.enter_container(b']')?;
        let mut number = 0;
        while goes_on {
            let place = self.scan_value((index == Some(number)).then_some(rest))?;
            found = found.or(place);
            number += 1;
            goes_on = self.next_element(b']')?;
        }
        Some(found)
    }

    /// Passes what an array or object begins with. Whether there is anything in it.
    fn enter_container(&mut self, end: u8) -> Option<bool> {
        self.position += 1;
        self.depth += 1;
        self.skip_whitespace();
        if self.depth > MAX_DEPTH || *self.text.get(self.position)? != end {
            return (self.depth <= MAX_DEPTH).then_some(true);
        }
        self.position += 1;
        self.depth -= 1;
        Some(false)
    }

    /// Passes what stands behind a value in an array or object. Whether another one comes.
    fn next_element(&mut self, end: u8) -> Option<bool> {
        self.skip_whitespace();
        let next = *self.text.get(self.position)?;
        self.position += 1;
        if next == b',' {
            self.skip_whitespace();
            return Some(true);
        }
        self.depth -= 1;
        (next == end).then_some(false)
    }

    /// Passes a string, and gives what stands between its quotes, as it is written.
    fn scan_string(&mut self) -> Option<&'t [u8]> {
        self.expect_byte(b'"')?;
        let from = self.position;
        loop {
            let plain = self.text[self.position..]
                .iter()
                .take_while(|&&byte| UNESCAPED_BYTES[usize::from(byte)])
                .count();
            self.position += plain;
            match *self.text.get(self.position)? {
                b'"' => break,
                b'\\' => self.scan_escape()?,
                _ => return None,
            }
        }
        self.position += 1;
        Some(&self.text[from..self.position - 1])
    }

    fn scan_escape(&mut self) -> Option<()> {
        self.position += match self.text.get(self.position + 1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 2,
            b'u' => {
                let digits = self.text.get(self.position + 2..self.position + 6)?;
                let is_half = matches!(digits, [b'd' | b'D', b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F', ..]);
                (!is_half && digits.iter().all(u8::is_ascii_hexdigit)).then_some(6)?
            }
            _ => return None,
        };
        Some(())
    }

    fn scan_number(&mut self) -> Option<()> {
        let from = self.position;
        self.position += usize::from(self.text[from] == b'-');
        // Nothing stands behind a zero that leads.
        match self.text.get(self.position)? {
            b'0' => self.position += 1,
            _ => self.scan_digits()?,
        }
        if self.text.get(self.position) == Some(&b'.') {
            self.position += 1;
            self.scan_digits()?;
        }
        let has_exponent = matches!(self.text.get(self.position), Some(b'e' | b'E'));
        (!has_exponent && self.position - from <= MAX_NUMBER_BYTES).then_some(())
    }

    fn scan_digits(&mut self) -> Option<()> {
        let count = self.text[self.position..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.position += count;
        (count > 0).then_some(())
    }

    fn scan_literal(&mut self, word: &[u8]) -> Option<ValueRange> {
        self.text[self.position..].starts_with(word).then_some(())?;
        self.position += word.len();
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
