//! Counts the entries of a list without storing it. Pure.

/// Counts the lines of LIST that are entries: all but empty ones, and the `total` that some servers send first. Formats
/// differ between servers, so lines are not parsed.
#[derive(Debug, Default)]
pub struct ListEntryCounter {
    count: u64,
    /// The start of the current line: enough to recognise `total`.
    line_prefix: Vec<u8>,
}

/// Bytes of a line that distinguish `total 12345` from an entry.
const MAX_LINE_PREFIX: usize = 32;

impl ListEntryCounter {
    /// Adds the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if byte == b'\n' {
                self.finish_line();
            } else if self.line_prefix.len() < MAX_LINE_PREFIX && byte != b'\r' {
                self.line_prefix.push(byte);
            }
        }
    }

    /// Returns the number of entries so far; a last line without a line end counts.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count + u64::from(is_entry(&self.line_prefix))
    }

    fn finish_line(&mut self) {
        self.count += u64::from(is_entry(&self.line_prefix));
        self.line_prefix.clear();
    }
}

fn is_entry(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let total = line.strip_prefix(b"total").map(<[u8]>::trim_ascii);
    let is_total = total.is_some_and(|rest| !rest.is_empty() && rest.iter().all(u8::is_ascii_digit));
    !line.is_empty() && !is_total
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn count(chunks: &[&[u8]]) -> u64 {
        let mut entries = ListEntryCounter::default();
        for chunk in chunks {
            entries.push(chunk);
        }
        entries.count()
    }

    #[test]
    fn entries_of_unix_and_dos_lists_are_counted() {
        assert_eq!(count(&[]), 0);
        assert_eq!(count(&[b"\r\n\r\n"]), 0);
        assert_eq!(count(&[b"total 8\r\n-rw-r--r-- 1 a a 5 Nov 1 00:00 total\r\ndrwx 2 a a .."]), 2);
        assert_eq!(count(&[b"11-01-26  10:00AM  <DIR>  a b\n11-01-26 10:00AM 5 c\n"]), 2);
        assert_eq!(count(&[b"total\ntotal x\n"]), 2);
    }

    proptest! {
        #[test]
        fn the_chunking_makes_no_difference(text in proptest::collection::vec(any::<u8>(), 0..300), at in 0_usize..300) {
            let (one, two) = text.split_at(at.min(text.len()));
            prop_assert_eq!(count(&[&text]), count(&[one, two]));
            prop_assert!(count(&[&text]) <= text.len() as u64);
        }
    }
}
