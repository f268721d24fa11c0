//! Reads names, labels and numbers of metrics from one line of text.

use std::borrow::Cow;

use crate::syntax::validation_error::truncate_value;

/// Maximum number of labels of a series.
pub(super) const MAX_LABELS: usize = 64;

/// What is wrong at a position of the line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ScanError {
    /// Offset in the line, in bytes.
    pub offset: usize,
    /// What is wrong.
    pub message: String,
}

/// Whether an escape other than `\\`, `\"` and `\n` in the value of a label is an error. Pages of programs have them,
/// and then the backslash stands for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnknownEscape {
    /// It is an error.
    Refused,
    /// The backslash stands for itself.
    Kept,
}

/// A position in a line.
#[derive(Debug)]
pub(super) struct Scanner<'t> {
    text: &'t str,
    offset: usize,
}

impl<'t> Scanner<'t> {
    pub(super) const fn new(text: &'t str) -> Self {
        Self { text, offset: 0 }
    }

    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.offset..]
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.offset == self.text.len()
    }

    pub(super) const fn offset(&self) -> usize {
        self.offset
    }

    pub(super) fn skip_blanks(&mut self) {
        self.offset = self.text.len() - self.rest().trim_start_matches([' ', '\t']).len();
    }

    /// Skips `expected` if it comes next.
    pub(super) fn accept(&mut self, expected: char) -> bool {
        let is_next = self.rest().starts_with(expected);
        if is_next {
            self.offset += expected.len_utf8();
        }
        is_next
    }

    /// Skips `expected`, which must come next.
    pub(super) fn expect(&mut self, expected: char) -> Result<(), ScanError> {
        if self.accept(expected) { Ok(()) } else { Err(self.unexpected(&format!("`{expected}`"))) }
    }

    /// Returns an error that says what comes next, and what should.
    pub(super) fn unexpected(&self, expected: &str) -> ScanError {
        self.error(match self.rest().chars().next() {
            Some(c) => format!("expected {expected}, not `{}`", truncate_value(&c.to_string())),
            None => format!("expected {expected}, but it ends"),
        })
    }

    pub(super) fn error(&self, message: String) -> ScanError {
        ScanError { offset: self.offset, message }
    }

    /// Reads the name of a metric: `[a-zA-Z_:][a-zA-Z0-9_:]*`.
    pub(super) fn metric_name(&mut self) -> Result<&'t str, ScanError> {
        self.name("the name of a metric", |byte| is_label_byte(byte) || byte == b':')
    }

    /// Reads the name of a label: `[a-zA-Z_][a-zA-Z0-9_]*`.
    fn label_name(&mut self) -> Result<&'t str, ScanError> {
        self.name("the name of a label", is_label_byte)
    }

    fn name(&mut self, expected: &str, is_allowed: impl Fn(u8) -> bool) -> Result<&'t str, ScanError> {
        let rest = self.rest();
        let length = rest.bytes().take_while(|byte| is_allowed(*byte)).count();
        if length == 0 || rest.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.unexpected(expected));
        }
        self.offset += length;
        Ok(&rest[..length])
    }

    /// Reads `{name="value",…}` into `labels`, if a brace comes next; a comma may stand before the closing brace.
    pub(super) fn labels(
        &mut self,
        labels: &mut Vec<(&'t str, Cow<'t, str>)>,
        max_labels: usize,
        unknown_escape: UnknownEscape,
    ) -> Result<(), ScanError> {
        if !self.accept('{') {
            return Ok(());
        }
        self.skip_blanks();
        while !self.accept('}') {
            let start = self.offset;
            let name = self.label_name()?;
            if labels.iter().any(|(earlier, _)| *earlier == name) {
                let message = format!("the label `{}` occurs twice", truncate_value(name));
                return Err(ScanError { offset: start, message });
            }
            if labels.len() == max_labels {
                let message = format!("there are more than {max_labels} labels");
                return Err(ScanError { offset: start, message });
            }
            self.skip_blanks();
            self.expect('=')?;
            self.skip_blanks();
            let value = self.label_value(unknown_escape)?;
            labels.push((name, value));
            self.skip_blanks();
            if !self.accept(',') && !self.rest().starts_with('}') {
                return Err(self.unexpected("`,` or `}`"));
            }
            self.skip_blanks();
        }
        Ok(())
    }

    /// Reads a value in quotes; it is copied only if it has escapes.
    fn label_value(&mut self, unknown_escape: UnknownEscape) -> Result<Cow<'t, str>, ScanError> {
        let start = self.offset;
        self.expect('"')?;
        let mut unescaped = String::new();
        loop {
            let rest = self.rest();
            let Some(length) = rest.find(['"', '\\']) else {
                return Err(ScanError {
                    offset: start,
                    message: "the value has no closing quote".to_owned(),
                });
            };
            let plain = &rest[..length];
            self.offset += length + 1;
            if rest[length..].starts_with('"') {
                return Ok(if unescaped.is_empty() {
                    Cow::Borrowed(plain)
                } else {
                    unescaped.push_str(plain);
                    Cow::Owned(unescaped)
                });
            }
            unescaped.push_str(plain);
            let escaped = self.rest().chars().next();
            match escaped {
                Some('n') => unescaped.push('\n'),
                Some(c @ ('"' | '\\')) => unescaped.push(c),
                Some(c) if unknown_escape == UnknownEscape::Kept => unescaped.extend(['\\', c]),
                Some(_) => return Err(self.unexpected("`\\`, `\"` or `n` after a backslash")),
                None => {}
            }
            self.offset += escaped.map_or(0, char::len_utf8);
        }
    }

    /// Reads the characters up to the next blank.
    pub(super) fn word(&mut self) -> &'t str {
        let rest = self.rest();
        let length = rest.find([' ', '\t']).unwrap_or(rest.len());
        self.offset += length;
        &rest[..length]
    }
}

const fn is_label_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Appends `{name="value",…}` to `text`; nothing without labels.
pub(super) fn write_labels<N: AsRef<str>, V: AsRef<str>>(
    f: &mut std::fmt::Formatter<'_>,
    labels: &[(N, V)],
) -> std::fmt::Result {
    use std::fmt::Write as _;

    if labels.is_empty() {
        return Ok(());
    }
    for (index, (name, value)) in labels.iter().enumerate() {
        f.write_str(if index == 0 { "{" } else { "," })?;
        f.write_str(name.as_ref())?;
        f.write_str("=\"")?;
        for c in value.as_ref().chars() {
            match c {
                '\n' => f.write_str("\\n")?,
                '"' | '\\' => {
                    f.write_char('\\')?;
                    f.write_char(c)?;
                }
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')?;
    }
    f.write_char('}')
}
