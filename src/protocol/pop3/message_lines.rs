//! A message as it comes line by line (RFC 1939 3), and one header of it.

/// Bytes of a header's value that are kept; nothing that is looked for is longer.
const MAX_VALUE_BYTES: usize = 512;
/// Values of one name that are kept.
const MAX_VALUES: usize = 4;

/// What a line of an answer of many lines is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataLine<'a> {
    /// A line of the message, without the dot that was put in front of one that begins with a dot.
    Content(&'a [u8]),
    /// The lone dot that ends it.
    End,
}

impl<'a> DataLine<'a> {
    /// What `line` is, which comes without its CR LF.
    #[must_use]
    pub fn parse(line: &'a [u8]) -> Self {
        match line {
            b"." => Self::End,
            [b'.', rest @ ..] => Self::Content(rest),
            whole => Self::Content(whole),
        }
    }
}

/// The values of one header, gathered while a message passes by. Keeps nothing else of it.
#[derive(Debug)]
pub struct HeaderScanner {
    name: &'static str,
    in_head: bool,
    /// Whether the line before belongs to the header.
    open: bool,
    values: Vec<Vec<u8>>,
    bytes: usize,
}

impl HeaderScanner {
    /// One that looks for the header `name`.
    #[must_use]
    pub fn new(name: &'static str) -> Self {
        Self { name, in_head: true, open: false, values: Vec::new(), bytes: 0 }
    }

    /// Takes a line of the message.
    pub fn push_line(&mut self, line: &[u8]) {
        self.bytes += line.len() + 2;
        if !self.in_head {
            return;
        }
        if line.is_empty() {
            self.in_head = false;
        } else if line.starts_with(b" ") || line.starts_with(b"\t") {
            self.append_value(line);
        } else {
            self.open = false;
            if let Some(value) = self.value(line) {
                // One more than anybody asks for says that there are too many.
                if self.values.len() < MAX_VALUES {
                    self.values.push(Vec::new());
                    self.open = true;
                    self.append_value(value);
                }
            }
        }
    }

    /// Bytes of the message so far.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The value, without white space around it or in it: servers fold where they like (RFC 5322 2.2.3).
    /// `None` when the header is not there, or more than once.
    #[must_use]
    pub fn single_value(&self) -> Option<String> {
        let [value] = self.values.as_slice() else { return None };
        let dense: Vec<u8> = value.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
        String::from_utf8(dense).ok()
    }

    fn value<'l>(&self, line: &'l [u8]) -> Option<&'l [u8]> {
        let (name, rest) = line.split_at_checked(self.name.len())?;
        let fits = name.eq_ignore_ascii_case(self.name.as_bytes());
        fits.then(|| rest.trim_ascii_start().strip_prefix(b":")).flatten()
    }

    fn append_value(&mut self, part: &[u8]) {
        if let Some(value) = self.values.last_mut().filter(|_| self.open) {
            let capacity = MAX_VALUE_BYTES.saturating_sub(value.len());
            value.extend_from_slice(&part[..part.len().min(capacity)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(lines: &[&str]) -> Option<String> {
        let mut scanner = HeaderScanner::new("X-Vigie-Trip");
        for line in lines {
            scanner.push_line(line.as_bytes());
        }
        scanner.single_value()
    }

    #[test]
    fn the_header_is_found_however_it_is_folded_and_only_in_the_head() {
        let found = Some("one.two".to_owned());
        assert_eq!(read(&["Subject: x", "X-Vigie-Trip: one.two", "", "body"]), found);
        assert_eq!(read(&["x-VIGIE-trip :one.two"]), found);
        assert_eq!(read(&["X-Vigie-Trip:", " one.", "\ttwo ", "To: x"]), found);
        assert_eq!(read(&["To: x", " X-Vigie-Trip: one.two"]), None, "belongs to another header");
        assert_eq!(read(&["To: x", "", "X-Vigie-Trip: one.two"]), None, "stands in the body");
        assert_eq!(read(&["X-Vigie-Trip-Too: one.two"]), None);
        assert_eq!(read(&["X-Vigie-Trip one.two"]), None);
        assert_eq!(read(&["X-Vigie-Trip: a", "X-Vigie-Trip: b"]), None, "twice");
        assert_eq!(read(&[]), None);
    }

    #[test]
    fn a_header_of_a_mebibyte_takes_little_memory() {
        let mut scanner = HeaderScanner::new("X-Vigie-Trip");
        scanner.push_line(b"X-Vigie-Trip: a");
        for _ in 0..1024 {
            scanner.push_line(&[b' '; 1024]);
            scanner.push_line(b"X-Vigie-Trip: b");
        }
        assert!(
            scanner.values.len() <= MAX_VALUES
                && scanner.values.iter().all(|value| value.len() <= MAX_VALUE_BYTES)
        );
        assert_eq!(scanner.single_value(), None);
        assert!(scanner.bytes() > 1024 * 1024);
    }

    #[test]
    fn dots_in_front_are_taken_off_once() {
        assert_eq!(DataLine::parse(b"."), DataLine::End);
        assert_eq!(DataLine::parse(b".."), DataLine::Content(b"."));
        assert_eq!(DataLine::parse(b"...x"), DataLine::Content(b"..x"));
        assert_eq!(DataLine::parse(b""), DataLine::Content(b""));
        assert_eq!(DataLine::parse(b"x."), DataLine::Content(b"x."));
    }

    proptest! {
        /// What a server stuffs comes back, and never ends the message early (RFC 1939 3).
        #[test]
        fn stuffing_is_undone(line in proptest::collection::vec(any::<u8>().prop_filter("no line end", |b| *b != b'\n'), 0..80)) {
            let stuffed = if line.starts_with(b".") { [b".", line.as_slice()].concat() } else { line.clone() };
            prop_assert_eq!(DataLine::parse(&stuffed), DataLine::Content(&line));
        }

        /// Whatever comes, nothing panics.
        #[test]
        fn any_lines_can_be_read(lines in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..60), 0..20)) {
            let mut scanner = HeaderScanner::new("X-Vigie-Trip");
            for line in &lines {
                scanner.push_line(line);
            }
            let _ = scanner.single_value();
        }
    }
}
