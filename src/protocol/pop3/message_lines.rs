//! The lines of a message (RFC 1939 3), and one header of it.

/// Longest header value that is kept, in bytes; the expected ones are shorter.
const MAX_HEADER_VALUE_BYTES: usize = 512;
/// Maximum number of values kept for one header name.
const MAX_HEADER_VALUES: usize = 4;

/// A line of a multi-line reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataLine<'a> {
    /// A line of the message, without the dot that was added in front of a leading dot.
    Content(&'a [u8]),
    /// The single dot that ends it.
    End,
}

impl<'a> DataLine<'a> {
    /// Parses `line`, given without its CR LF.
    #[must_use]
    pub fn parse(line: &'a [u8]) -> Self {
        match line {
            b"." => Self::End,
            [b'.', rest @ ..] => Self::Content(rest),
            content_line => Self::Content(content_line),
        }
    }
}

/// Collects the values of one header while a message is read, and keeps nothing else.
#[derive(Debug)]
pub struct HeaderScanner {
    header_name: &'static str,
    is_in_header: bool,
    /// Whether the previous line belongs to the header.
    is_in_value: bool,
    values: Vec<Vec<u8>>,
    message_bytes: usize,
}

impl HeaderScanner {
    /// Creates a scanner for the header `name`.
    #[must_use]
    pub fn new(name: &'static str) -> Self {
        Self {
            header_name: name,
            is_in_header: true,
            is_in_value: false,
            values: Vec::new(),
            message_bytes: 0,
        }
    }

    /// Adds a line of the message.
    pub fn push_line(&mut self, line: &[u8]) {
        self.message_bytes += line.len() + 2;
        if !self.is_in_header {
            return;
        }
        if line.is_empty() {
            self.is_in_header = false;
        } else if line.starts_with(b" ") || line.starts_with(b"\t") {
            self.append_value(line);
        } else {
            self.is_in_value = false;
            if let Some(value) = self.value_in_line(line) {
                // More than one value is enough to detect duplicates.
                if self.values.len() < MAX_HEADER_VALUES {
                    self.values.push(Vec::new());
                    self.is_in_value = true;
                    self.append_value(value);
                }
            }
        }
    }

    /// Returns the number of bytes of the message so far.
    #[must_use]
    pub fn message_bytes(&self) -> usize {
        self.message_bytes
    }

    /// Returns the value without any white space, since servers fold headers anywhere (RFC 5322 2.2.3). `None` when the
    /// header is missing or occurs more than once.
    #[must_use]
    pub fn single_value(&self) -> Option<String> {
        let [value] = self.values.as_slice() else { return None };
        let compact: Vec<u8> = value.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
        String::from_utf8(compact).ok()
    }

    fn value_in_line<'l>(&self, line: &'l [u8]) -> Option<&'l [u8]> {
        let (name, rest) = line.split_at_checked(self.header_name.len())?;
        let matches = name.eq_ignore_ascii_case(self.header_name.as_bytes());
        matches.then(|| rest.trim_ascii_start().strip_prefix(b":")).flatten()
    }

    fn append_value(&mut self, part: &[u8]) {
        if let Some(value) = self.values.last_mut().filter(|_| self.is_in_value) {
            let remaining = MAX_HEADER_VALUE_BYTES.saturating_sub(value.len());
            value.extend_from_slice(&part[..part.len().min(remaining)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scan_trip_header(lines: &[&str]) -> Option<String> {
        let mut scanner = HeaderScanner::new("X-Vigie-Trip");
        for line in lines {
            scanner.push_line(line.as_bytes());
        }
        scanner.single_value()
    }

    #[test]
    fn the_header_is_found_despite_folding_and_only_in_the_head() {
        let trip_value = Some("one.two".to_owned());
        assert_eq!(scan_trip_header(&["Subject: x", "X-Vigie-Trip: one.two", "", "body"]), trip_value);
        assert_eq!(scan_trip_header(&["x-VIGIE-trip :one.two"]), trip_value);
        assert_eq!(scan_trip_header(&["X-Vigie-Trip:", " one.", "\ttwo ", "To: x"]), trip_value);
        assert_eq!(scan_trip_header(&["To: x", " X-Vigie-Trip: one.two"]), None, "belongs to another header");
        assert_eq!(scan_trip_header(&["To: x", "", "X-Vigie-Trip: one.two"]), None, "stands in the body");
        assert_eq!(scan_trip_header(&["X-Vigie-Trip-Too: one.two"]), None);
        assert_eq!(scan_trip_header(&["X-Vigie-Trip one.two"]), None);
        assert_eq!(scan_trip_header(&["X-Vigie-Trip: a", "X-Vigie-Trip: b"]), None, "twice");
        assert_eq!(scan_trip_header(&[]), None);
    }

    #[test]
    fn a_header_of_a_mebibyte_uses_little_memory() {
        let mut scanner = HeaderScanner::new("X-Vigie-Trip");
        scanner.push_line(b"X-Vigie-Trip: a");
        for _ in 0..1024 {
            scanner.push_line(&[b' '; 1024]);
            scanner.push_line(b"X-Vigie-Trip: b");
        }
        assert!(
            scanner.values.len() <= MAX_HEADER_VALUES
                && scanner.values.iter().all(|value| value.len() <= MAX_HEADER_VALUE_BYTES)
        );
        assert_eq!(scanner.single_value(), None);
        assert!(scanner.message_bytes() > 1024 * 1024);
    }

    #[test]
    fn a_leading_dot_is_removed_once() {
        assert_eq!(DataLine::parse(b"."), DataLine::End);
        assert_eq!(DataLine::parse(b".."), DataLine::Content(b"."));
        assert_eq!(DataLine::parse(b"...x"), DataLine::Content(b"..x"));
        assert_eq!(DataLine::parse(b""), DataLine::Content(b""));
        assert_eq!(DataLine::parse(b"x."), DataLine::Content(b"x."));
    }

    proptest! {
        /// Dot-stuffing is reversed, and never ends the message early (RFC 1939 3).
        #[test]
        fn stuffing_is_undone(line in proptest::collection::vec(any::<u8>().prop_filter("no line end", |b| *b != b'\n'), 0..80)) {
            let stuffed = if line.starts_with(b".") { [b".", line.as_slice()].concat() } else { line.clone() };
            prop_assert_eq!(DataLine::parse(&stuffed), DataLine::Content(&line));
        }

        /// Parsing never panics.
        #[test]
        fn parsing_never_panics(lines in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..60), 0..20)) {
            let mut scanner = HeaderScanner::new("X-Vigie-Trip");
            for line in &lines {
                scanner.push_line(line);
            }
            let _ = scanner.single_value();
        }
    }
}
