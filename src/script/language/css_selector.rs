//! A cheap check of a CSS selector: finds unbalanced brackets and quotes, forbidden characters and misplaced
//! combinators, which every browser rejects. The browser may still refuse a selector that passes, since only it knows
//! its pseudo-classes.

/// Returns the error of the selector `text`; `None` when none is found.
pub(super) fn syntax_error(text: &str) -> Option<String> {
    SelectorChecker::default().check(text).err()
}

#[derive(Default)]
struct SelectorChecker {
    /// The closing bracket expected for each open one, innermost last.
    expected_closers: Vec<char>,
    /// The last character outside of strings that is not white space.
    last_char: Option<char>,
}

impl SelectorChecker {
    fn check(&mut self, text: &str) -> Result<(), String> {
        let mut letters = text.chars().peekable();
        while let Some(c) = letters.next() {
            match c {
                '"' | '\'' => self.skip_string(c, &mut letters)?,
                '\\' => {
                    letters.next().ok_or("it ends with a backslash")?;
                }
                '/' if letters.peek() == Some(&'*') => {
                    return Err("comments are not allowed".to_owned());
                }
                '(' | '[' => self.expected_closers.push(if c == '(' { ')' } else { ']' }),
                ')' | ']' => {
                    if self.expected_closers.pop() != Some(c) {
                        return Err(format!("a `{c}` has no opening bracket"));
                    }
                    if self.last_char == Some('[') || self.last_char == Some('(') {
                        return Err("brackets are empty".to_owned());
                    }
                }
                '{' | '}' | ';' | '@' | '!' => return Err(format!("`{c}` is not allowed in a selector")),
                ',' | '>' | '~' | '+' => self.check_combinator(c)?,
                '.' | '#' if self.is_outside_attribute_selector() => {
                    let starts_name =
                        |c: &char| c.is_ascii_alphabetic() || "_-\\".contains(*c) || !c.is_ascii();
                    if !letters.peek().is_some_and(starts_name) {
                        return Err(format!(
                            "`{c}` must be followed by a name that does not start with a digit"
                        ));
                    }
                }
                _ => {}
            }
            if !c.is_whitespace() {
                self.last_char = Some(c);
            }
        }
        match (self.expected_closers.last(), self.last_char) {
            (Some(missing), _) => Err(format!("a `{missing}` is missing")),
            (None, None) => Err("it is empty".to_owned()),
            (None, Some(last @ (',' | '>' | '~' | '+'))) => Err(format!("it ends with `{last}`")),
            _ => Ok(()),
        }
    }

    /// Checks that a selector precedes `,` or a combinator. Not checked in brackets, as in `:has(> img)`.
    fn check_combinator(&self, c: char) -> Result<(), String> {
        match self.last_char {
            _ if !self.expected_closers.is_empty() => Ok(()),
            None => Err(format!("nothing stands before `{c}`")),
            Some(before @ (',' | '>' | '~' | '+')) => {
                Err(format!("nothing stands between `{before}` and `{c}`"))
            }
            Some(_) => Ok(()),
        }
    }

    fn is_outside_attribute_selector(&self) -> bool {
        !self.expected_closers.contains(&']')
    }

    fn skip_string(&self, quote: char, letters: &mut impl Iterator<Item = char>) -> Result<(), String> {
        if self.expected_closers.is_empty() {
            return Err("quoted text is only allowed in brackets".to_owned());
        }
        while let Some(c) = letters.next() {
            match c {
                '\\' => {
                    letters.next();
                }
                '\n' => break,
                _ if c == quote => return Ok(()),
                _ => {}
            }
        }
        Err(format!("a {quote} is missing"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_selectors_pass_and_invalid_ones_fail() {
        for valid in [
            "a",
            "#go",
            ".a.b",
            "*",
            "div > p + a ~ b",
            "a , b",
            "input[name='q']",
            "a[href$=\".pdf\" i]",
            "li:nth-child(2n + 1)",
            ":not(.a, .b)",
            "a:has(> img)",
            "#\\31 23",
            "[data-x='a]b(']",
            "é",
            ".-x",
            "#_",
            "svg|a",
            "a::before",
            "[a='.5']",
            "a:is(h1,h2):hover",
            "  a  ",
            "[data-n=\"#1\"]",
            "#a\\.b",
        ] {
            assert_eq!(syntax_error(valid), None, "{valid}");
        }
        for invalid in [
            "",
            "  ",
            "a[",
            "a]",
            "a[href='x]",
            "a(b",
            "#",
            ".",
            "#1a",
            ".9",
            "a,,b",
            "a,",
            ",a",
            "> a",
            "a >",
            "a > > b",
            "a{color:red}",
            "a;b",
            "@media",
            "'a'",
            "a\\",
            "a:not()",
            "[]",
            "a/**/b",
            "a[b)]",
            "a[x=\"\n\"]",
            "a + ~ b",
        ] {
            assert!(syntax_error(invalid).is_some(), "{invalid}");
        }
    }
}
