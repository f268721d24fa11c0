//! The grade of a scan, by a written rule.

use crate::domain::FindingCounts;

/// The rule, from the worst grade on; the first line that applies is the grade. The manual shows it.
pub const GRADE_RULES: &[(&str, &str)] = &[
    ("F", "a finding of severity critical, or three of severity high"),
    ("D", "a finding of severity high"),
    ("C", "three findings of severity medium"),
    ("B", "a finding of severity medium"),
    ("A", "a finding of severity low, or a question that stayed open"),
    ("A+", "nothing but findings of severity info"),
];

/// Returns the grade of a scan. A question that stayed open, such as a refused connection, rules the best grade out.
#[must_use]
pub fn grade(counts: &FindingCounts, has_open_questions: bool) -> &'static str {
    match counts {
        FindingCounts { critical: 1.., .. } | FindingCounts { high: 3.., .. } => "F",
        FindingCounts { high: 1.., .. } => "D",
        FindingCounts { medium: 3.., .. } => "C",
        FindingCounts { medium: 1.., .. } => "B",
        FindingCounts { low: 1.., .. } => "A",
        _ if has_open_questions => "A",
        _ => "A+",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_the_rule_gives_its_grade() {
        let counts = |critical, high, medium, low| FindingCounts { critical, high, medium, low, info: 5 };
        let cases = [
            (counts(1, 0, 0, 0), false, "F"),
            (counts(0, 3, 0, 0), false, "F"),
            (counts(0, 2, 9, 9), false, "D"),
            (counts(0, 1, 0, 0), false, "D"),
            (counts(0, 0, 3, 0), false, "C"),
            (counts(0, 0, 2, 50), false, "B"),
            (counts(0, 0, 1, 0), true, "B"),
            (counts(0, 0, 0, 1), false, "A"),
            (counts(0, 0, 0, 0), true, "A"),
            (counts(0, 0, 0, 0), false, "A+"),
        ];
        for (counts, has_open_questions, expected) in cases {
            assert_eq!(grade(&counts, has_open_questions), expected, "{counts:?} {has_open_questions}");
            assert!(GRADE_RULES.iter().any(|(grade, _)| *grade == expected));
        }
    }
}
