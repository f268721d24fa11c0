//! One value of a JSON text (RFC 8259), taken out in passing: paths such as `$.data.items[0].id` are most of all, and
//! need no tree of the whole document.

use std::ops::Range;

use serde_json::Value;

/// Arrays and objects inside each other that a parser takes.
const DEEPEST: u32 = 127;
/// Bytes of a number that is surely none too large, as long as it has no exponent.
const NUMBER: usize = 300;

/// Which bytes stand for themselves in a string: to look there takes less time than to compare.
const PLAIN: [bool; 256] = {
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
pub(super) struct Trail(Box<[Step]>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Member(Box<str>),
    Item(usize),
}

impl Trail {
    /// That of a JSONPath which is known to be good; `None` when it is written, or selects, in any other way.
    pub(super) fn of(property: &str) -> Option<Self> {
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
                steps.push(Step::Member(name.into()));
                rest = behind;
            } else {
                let (digits, behind) = rest.strip_prefix('[')?.split_once(']')?;
                let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
                steps.push(Step::Item(digits.parse().ok().filter(|_| is_plain)?));
                rest = behind;
            }
            bare = false;
        }
        Some(Self(steps.into()))
    }

    /// What it leads to in `text`, or nothing.
    pub(super) fn follow(&self, text: &str) -> Result<Option<Value>, Unsure> {
        let mut reader = Reader { text: text.as_bytes(), at: 0, depth: 0 };
        reader.spaces();
        let place = reader.value(Some(&self.0)).ok_or(Unsure)?;
        reader.spaces();
        match place {
            _ if reader.at < text.len() => Err(Unsure),
            Some(place) => serde_json::from_str(&text[place]).map(Some).map_err(|_| Unsure),
            None => Ok(None),
        }
    }
}

/// The text is no JSON, or it takes a parser to tell: of numbers with an exponent, names with an escape, and halves of
/// surrogate pairs.
#[derive(Debug)]
pub(super) struct Unsure;

/// Goes through a text. What it cannot say surely to be JSON is `None`.
struct Reader<'t> {
    text: &'t [u8],
    at: usize,
    depth: u32,
}

/// Where what was wanted stands.
type Place = Option<Range<usize>>;

impl<'t> Reader<'t> {
    /// Passes one value. What the steps lead to in it is told, when there are any.
    fn value(&mut self, wanted: Option<&[Step]>) -> Option<Place> {
        let from = self.at;
        let within = match self.text.get(self.at)? {
            b'"' => self.string().map(|_| None)?,
            b'{' => self.object(wanted)?,
            b'[' => self.array(wanted)?,
            b'-' | b'0'..=b'9' => self.number().map(|()| None)?,
            b't' => self.word(b"true")?,
            b'f' => self.word(b"false")?,
            b'n' => self.word(b"null")?,
            _ => return None,
        };
        Some(if wanted.is_some_and(<[Step]>::is_empty) { Some(from..self.at) } else { within })
    }

    fn object(&mut self, wanted: Option<&[Step]>) -> Option<Place> {
        let (name, rest) = match wanted.and_then(<[Step]>::split_first) {
            Some((Step::Member(name), rest)) => (Some(name.as_bytes()), rest),
            _ => (None, &[][..]),
        };
        let mut found = None;
        let mut goes_on = self.enters(b'}')?;
        while goes_on {
            let own = self.string()?;
            if name.is_some() && own.contains(&b'\\') {
                return None;
            }
            self.spaces();
            self.passes(b':')?;
            self.spaces();
            if name == Some(own) {
                // Of several members of one name the last one counts.
                found = self.value(Some(rest))?;
            } else {
                self.value(None)?;
            }
            goes_on = self.goes_on(b'}')?;
        }
        Some(found)
    }

    fn array(&mut self, wanted: Option<&[Step]>) -> Option<Place> {
        let (index, rest) = match wanted.and_then(<[Step]>::split_first) {
            Some((Step::Item(index), rest)) => (Some(*index), rest),
            _ => (None, &[][..]),
        };
        let mut found = None;
        let mut goes_on = self.enters(b']')?;
        let mut number = 0;
        while goes_on {
            let place = self.value((index == Some(number)).then_some(rest))?;
            found = found.or(place);
            number += 1;
            goes_on = self.goes_on(b']')?;
        }
        Some(found)
    }

    /// Passes what an array or object begins with. Whether there is anything in it.
    fn enters(&mut self, end: u8) -> Option<bool> {
        self.at += 1;
        self.depth += 1;
        self.spaces();
        if self.depth > DEEPEST || *self.text.get(self.at)? != end {
            return (self.depth <= DEEPEST).then_some(true);
        }
        self.at += 1;
        self.depth -= 1;
        Some(false)
    }

    /// Passes what stands behind a value in an array or object. Whether another one comes.
    fn goes_on(&mut self, end: u8) -> Option<bool> {
        self.spaces();
        let next = *self.text.get(self.at)?;
        self.at += 1;
        if next == b',' {
            self.spaces();
            return Some(true);
        }
        self.depth -= 1;
        (next == end).then_some(false)
    }

    /// Passes a string, and gives what stands between its quotes, as it is written.
    fn string(&mut self) -> Option<&'t [u8]> {
        self.passes(b'"')?;
        let from = self.at;
        loop {
            let plain = self.text[self.at..].iter().take_while(|&&byte| PLAIN[usize::from(byte)]).count();
            self.at += plain;
            match *self.text.get(self.at)? {
                b'"' => break,
                b'\\' => self.escape()?,
                _ => return None,
            }
        }
        self.at += 1;
        Some(&self.text[from..self.at - 1])
    }

    fn escape(&mut self) -> Option<()> {
        self.at += match self.text.get(self.at + 1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 2,
            b'u' => {
                let digits = self.text.get(self.at + 2..self.at + 6)?;
                let is_half = matches!(digits, [b'd' | b'D', b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F', ..]);
                (!is_half && digits.iter().all(u8::is_ascii_hexdigit)).then_some(6)?
            }
            _ => return None,
        };
        Some(())
    }

    fn number(&mut self) -> Option<()> {
        let from = self.at;
        self.at += usize::from(self.text[from] == b'-');
        // Nothing stands behind a zero that leads.
        match self.text.get(self.at)? {
            b'0' => self.at += 1,
            _ => self.digits()?,
        }
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        let has_exponent = matches!(self.text.get(self.at), Some(b'e' | b'E'));
        (!has_exponent && self.at - from <= NUMBER).then_some(())
    }

    fn digits(&mut self) -> Option<()> {
        let count = self.text[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        (count > 0).then_some(())
    }

    fn word(&mut self, word: &[u8]) -> Option<Place> {
        self.text[self.at..].starts_with(word).then_some(())?;
        self.at += word.len();
        Some(None)
    }

    fn passes(&mut self, byte: u8) -> Option<()> {
        (*self.text.get(self.at)? == byte).then_some(())?;
        self.at += 1;
        Some(())
    }

    fn spaces(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.text.get(self.at) {
            self.at += 1;
        }
    }
}
