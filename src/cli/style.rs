//! Colours on a terminal, plain words elsewhere.

use std::io::IsTerminal;

use crate::domain::Outcome;

/// Paints words, or leaves them as they are.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    is_colored: bool,
}

impl Style {
    /// Never paints.
    pub const PLAIN: Self = Self { is_colored: false };

    /// Paints when standard output is a terminal that can, and `NO_COLOR` is unset or empty
    /// (<https://no-color.org>).
    #[must_use]
    pub fn for_stdout() -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|kind| kind == "dumb");
        Self { is_colored: std::io::stdout().is_terminal() && !refused && !dumb }
    }

    /// Always paints.
    #[must_use]
    pub const fn colored() -> Self {
        Self { is_colored: true }
    }

    /// Whether it paints.
    #[must_use]
    pub const fn is_colored(self) -> bool {
        self.is_colored
    }

    /// Words that stand out.
    #[must_use]
    pub fn bold(self, text: &str) -> String {
        self.with_code("1", text)
    }

    /// Words that stand back.
    #[must_use]
    pub fn dim(self, text: &str) -> String {
        self.with_code("2", text)
    }

    /// Words in the colour of `outcome`.
    #[must_use]
    pub fn outcome(self, outcome: Outcome, text: &str) -> String {
        let code = match outcome {
            Outcome::Ok => "1;32",
            Outcome::Warning => "1;33",
            Outcome::Error => "1;31",
            Outcome::Unknown => "1;35",
            Outcome::Missed | Outcome::Blackout => "1;34",
        };
        self.with_code(code, text)
    }

    /// A bar.
    #[must_use]
    pub fn bar(self, text: &str) -> String {
        self.with_code("36", text)
    }

    fn with_code(self, code: &str, text: &str) -> String {
        if self.is_colored && !text.is_empty() {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_style_leaves_words_alone_and_paint_ends_what_it_begins() {
        assert_eq!(Style::PLAIN.outcome(Outcome::Error, "error"), "error");
        assert_eq!(Style::colored().outcome(Outcome::Error, "error"), "\x1b[1;31merror\x1b[0m");
        assert_eq!(Style::colored().dim(""), "");
    }
}
