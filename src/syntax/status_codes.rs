//! Lists of HTTP status codes (behaviour.md 4).

use std::ops::RangeInclusive;

/// Status codes that are accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpStatusCodes(Vec<RangeInclusive<u16>>);

impl HttpStatusCodes {
    /// Parses `200`, `200-299` and `2xx`, with commas between them; `None` when `text` is not such a list.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        text.split(',').map(|part| parse_range(part.trim())).collect::<Option<_>>().map(Self)
    }

    /// Whether `status` is one of them.
    #[must_use]
    pub fn contains(&self, status: u16) -> bool {
        self.0.iter().any(|range| range.contains(&status))
    }
}

fn parse_range(part: &str) -> Option<RangeInclusive<u16>> {
    let code = |text: &str| text.parse::<u16>().ok().filter(|code| (100..=999).contains(code));
    if let Some((first, last)) = part.split_once('-') {
        let (first, last) = (code(first)?, code(last)?);
        return (first <= last).then_some(first..=last);
    }
    if let [leading_digit @ b'1'..=b'9', b'x' | b'X', b'x' | b'X'] = part.as_bytes() {
        let first = u16::from(leading_digit - b'0') * 100;
        return Some(first..=first + 99);
    }
    code(part).map(|code| code..=code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_ranges_and_classes() {
        let codes = HttpStatusCodes::parse("200, 204-206,3XX").unwrap();
        let accepted: Vec<u16> = (100..=999).filter(|code| codes.contains(*code)).collect();
        assert_eq!(accepted.len(), 1 + 3 + 100);
        assert!(codes.contains(206) && codes.contains(399) && !codes.contains(201));
        for wrong in ["", "abc", "99", "1000", "206-204", "xx", "0xx", "20x", "200;201", "200,"] {
            assert_eq!(HttpStatusCodes::parse(wrong), None, "{wrong}");
        }
    }
}
