//! Coloured text on a terminal, plain text elsewhere.

use std::io::IsTerminal;

use crate::domain::Outcome;

/// Colours text, or leaves it unchanged.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    is_colored: bool,
}

impl Style {
    /// Never colours.
    pub const PLAIN: Self = Self { is_colored: false };

    /// Colours when standard output is a terminal with colours, and `NO_COLOR` is unset or empty
    /// (<https://no-color.org>).
    #[must_use]
    pub fn for_stdout() -> Self {
        let is_color_disabled = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let is_dumb_terminal = std::env::var_os("TERM").is_some_and(|kind| kind == "dumb");
        Self { is_colored: std::io::stdout().is_terminal() && !is_color_disabled && !is_dumb_terminal }
    }

    /// Always colours.
    #[must_use]
    pub const fn colored() -> Self {
        Self { is_colored: true }
    }

    /// Whether text is coloured.
    #[must_use]
    pub const fn is_colored(self) -> bool {
        self.is_colored
    }

    /// Bold text.
    #[must_use]
    pub fn bold(self, text: &str) -> String {
        self.with_ansi_code("1", text)
    }

    /// Dimmed text.
    #[must_use]
    pub fn dim(self, text: &str) -> String {
        self.with_ansi_code("2", text)
    }

    /// Text in the colour of `outcome`.
    #[must_use]
    pub fn in_outcome_color(self, outcome: Outcome, text: &str) -> String {
        let code = match outcome {
            Outcome::Ok => "1;32",
            Outcome::Warning => "1;33",
            Outcome::Error => "1;31",
            Outcome::Unknown => "1;35",
            Outcome::Missed | Outcome::Blackout => "1;34",
        };
        self.with_ansi_code(code, text)
    }

    /// Text of a bar.
    #[must_use]
    pub fn in_chart_color(self, text: &str) -> String {
        self.with_ansi_code("36", text)
    }

    fn with_ansi_code(self, ansi_code: &str, text: &str) -> String {
        if self.is_colored && !text.is_empty() {
            format!("\x1b[{ansi_code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_style_leaves_text_unchanged_and_colours_are_reset_after_the_text() {
        assert_eq!(Style::PLAIN.in_outcome_color(Outcome::Error, "error"), "error");
        assert_eq!(Style::colored().in_outcome_color(Outcome::Error, "error"), "\x1b[1;31merror\x1b[0m");
        assert_eq!(Style::colored().dim(""), "");
    }
}
