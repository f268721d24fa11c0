//! Writes values and labels in the text format of `OpenMetrics` 1.0.

use std::fmt::Write as _;

/// Longest value of a label, in characters: names come from anybody, and are repeated in every series.
const MAX_LABEL_CHARS: usize = 200;

/// Appends `name="value"` to `labels`, after a comma unless it is the first. The value is escaped and shortened; an empty
/// one is left out, since it means the same as none.
pub fn push_label(labels: &mut String, name: &str, value: &str) {
    if value.is_empty() {
        return;
    }
    if !labels.is_empty() {
        labels.push(',');
    }
    labels.push_str(name);
    labels.push_str("=\"");
    for character in value.chars().take(MAX_LABEL_CHARS) {
        match character {
            '\\' => labels.push_str("\\\\"),
            '"' => labels.push_str("\\\""),
            '\n' => labels.push_str("\\n"),
            // Readers that split lines as terminals do must not see a second one.
            control if control.is_control() || matches!(control, '\u{2028}' | '\u{2029}') => labels.push(' '),
            other => labels.push(other),
        }
    }
    labels.push('"');
}

/// Appends `micros` microseconds as seconds, exactly.
pub(super) fn push_seconds(out: &mut String, micros: u64) {
    let (seconds, rest) = (micros / 1_000_000, micros % 1_000_000);
    // Writing to a string cannot fail.
    let _ = match rest {
        0 => write!(out, "{seconds}"),
        _ => write!(out, "{seconds}.{rest:06}"),
    };
}

/// Appends an integer.
pub(super) fn push_integer(out: &mut String, value: i64) {
    // Writing to a string cannot fail.
    let _ = write!(out, "{value}");
}

/// Appends a number; `false`, and nothing appended, for one that is not finite.
pub(super) fn push_number(out: &mut String, value: f64) -> bool {
    value.is_finite() && write!(out, "{value}").is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_labels_are_escaped_shortened_and_on_one_line() {
        let label = |value: &str| {
            let mut labels = String::from("a=\"1\"");
            push_label(&mut labels, "name", value);
            labels
        };
        assert_eq!(label(""), "a=\"1\"");
        assert_eq!(label("x\\\"\n\r\u{2028}\u{0}é"), "a=\"1\",name=\"x\\\\\\\"\\n   é\"");
        assert_eq!(label(&"\"".repeat(1000)).len(), "a=\"1\",name=\"\"".len() + 2 * MAX_LABEL_CHARS);
    }

    #[test]
    fn seconds_are_exact_and_numbers_finite() {
        for (micros, text) in
            [(0, "0"), (1, "0.000001"), (2_000_000, "2"), (u64::MAX, "18446744073709.551615")]
        {
            let mut out = String::new();
            push_seconds(&mut out, micros);
            assert_eq!(out, text);
        }
        let mut out = String::new();
        assert!(![f64::NAN, f64::INFINITY].into_iter().any(|value| push_number(&mut out, value)));
        assert!(push_number(&mut out, -0.25));
        assert_eq!(out, "-0.25");
    }
}
