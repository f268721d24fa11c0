//! Prints what scripts of collections wrote to the console.

use std::fmt::Write;

use super::text::escape_controls;
use crate::cli::style::Style;
use crate::domain::CheckResult;

/// Most lines that are printed.
const MAX_LINES: usize = 100;

/// Adds the lines of the files `console.txt` of the last attempt.
pub(super) fn render_console(out: &mut String, result: &CheckResult, style: Style) {
    let last_attempt = format!("attempt-{}-console.txt", result.attempts.len());
    let is_shown = |name: &str| name == "console.txt" || name == last_attempt;
    let files = result.captures.iter().filter(|capture| is_shown(&capture.name));
    let texts = files.filter_map(|file| std::str::from_utf8(file.content.as_deref()?).ok());
    let mut lines = texts.flat_map(str::lines);
    for line in lines.by_ref().take(MAX_LINES) {
        let _ = writeln!(out, "{} {}", style.dim("console"), escape_controls(line));
    }
    let left_out = lines.count();
    if left_out > 0 {
        let _ = writeln!(out, "{} {left_out} more lines", style.dim("console"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::CapturedFile;
    use crate::service::result_view::sample_result;

    #[test]
    fn lines_are_printed_and_bounded() {
        let mut result = sample_result::sample_result();
        let text = "log: a\u{1b}[2J\n".repeat(MAX_LINES + 5);
        result.captures = vec![CapturedFile::new("console.txt", "text/plain", text.as_bytes())];
        let mut out = String::new();
        render_console(&mut out, &result, Style::PLAIN);
        assert_eq!(out.lines().count(), MAX_LINES + 1);
        assert!(out.starts_with("console log: a") && !out.contains('\u{1b}'), "{out}");
        assert!(out.ends_with("console 5 more lines\n"), "{out}");
    }
}
