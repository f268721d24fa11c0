//! Media queries, evaluated for the fixed window that pages are loaded for (CSS Media Queries 4).

/// Width of the window in CSS pixels.
pub(super) const VIEWPORT_WIDTH: f64 = 1920.0;
/// Height of the window in CSS pixels.
const VIEWPORT_HEIGHT: f64 = 1080.0;
/// Maximum depth of nested parentheses that are evaluated.
const MAX_NESTING: u8 = 8;

/// Whether the list of queries in `text` matches the window. An empty list does; an invalid one does not.
pub(super) fn matches_viewport(text: &str) -> bool {
    let text = text.trim().to_ascii_lowercase();
    text.is_empty()
        || split_outside_parentheses(&text, |rest| rest.starts_with(',').then_some(1))
            .any(|query| query_matches(query, 0))
}

/// Splits `text` at separators outside of parentheses; `separator` returns the length of a separator at the start.
pub(super) fn split_outside_parentheses(
    text: &str,
    separator: fn(&str) -> Option<usize>,
) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let mut depth = 0_u32;
        for (index, byte) in text.bytes().enumerate() {
            match byte {
                b'(' => depth += 1,
                b')' => depth = depth.saturating_sub(1),
                _ if depth > 0 || !text.is_char_boundary(index) => {}
                _ => {
                    if let Some(length) = separator(&text[index..]) {
                        rest = Some(&text[index + length..]);
                        return Some(&text[..index]);
                    }
                }
            }
        }
        rest = None;
        Some(text)
    })
}

fn query_matches(query: &str, depth: u8) -> bool {
    let query = query.trim();
    if depth > MAX_NESTING {
        return false;
    }
    if let Some(rest) = query.strip_prefix("not ").or_else(|| query.strip_prefix("not(").map(|_| &query[3..]))
    {
        return !query_matches(rest, depth + 1);
    }
    let query = query.strip_prefix("only ").unwrap_or(query);
    let or = |rest: &str| rest.starts_with(" or ").then_some(4);
    let and = |rest: &str| rest.starts_with(" and ").then_some(5).or(rest.starts_with(" and(").then_some(4));
    split_outside_parentheses(query, or)
        .any(|part| split_outside_parentheses(part, and).all(|term| self::term_matches(term.trim(), depth)))
}

fn term_matches(term: &str, depth: u8) -> bool {
    match term.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).map(str::trim) {
        Some(inner) if inner.starts_with('(') || inner.starts_with("not") => query_matches(inner, depth + 1),
        Some(inner) => feature_matches(inner),
        None if term.starts_with("not") => query_matches(term, depth + 1),
        None => matches!(term, "all" | "screen"),
    }
}

fn feature_matches(text: &str) -> bool {
    if let Some((name, value)) = text.split_once(':') {
        return feature_value_matches(name.trim(), value.trim());
    }
    if text.contains(['<', '>', '=']) {
        return range_feature_matches(text);
    }
    matches!(
        text,
        "width" | "height" | "color" | "hover" | "any-hover" | "pointer" | "any-pointer" | "resolution"
    )
}

fn feature_value_matches(name: &str, value: &str) -> bool {
    let (is_minimum, base_name) = match name.split_at_checked(4) {
        Some(("min-", base_name)) => (Some(true), base_name),
        Some(("max-", base_name)) => (Some(false), base_name),
        _ => (None, name),
    };
    if let (Some(actual), Some(expected)) = (viewport_feature(base_name), parse_length(value)) {
        return match is_minimum {
            Some(true) => actual >= expected,
            Some(false) => actual <= expected,
            None => (actual - expected).abs() < f64::EPSILON,
        };
    }
    matches!(
        (name, value),
        ("orientation", "landscape")
            | ("hover" | "any-hover", "hover")
            | ("pointer" | "any-pointer", "fine")
            | ("prefers-color-scheme", "light")
            | ("prefers-reduced-motion" | "prefers-contrast" | "prefers-reduced-data", "no-preference")
            | ("display-mode", "browser")
            | ("scripting", "enabled")
    )
}

/// Evaluates ranges: `width >= 600px`, `400px < width <= 700px`.
fn range_feature_matches(text: &str) -> bool {
    let mut operands: Vec<&str> = Vec::new();
    let mut operators: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(position) = rest.find(['<', '>', '=']) {
        let length = 1 + usize::from(rest[position + 1..].starts_with('='));
        operands.push(rest[..position].trim());
        operators.push(&rest[position..position + length]);
        rest = &rest[position + length..];
    }
    operands.push(rest.trim());
    let operand_value = |part: &str| viewport_feature(part).or_else(|| parse_length(part));
    operators.len() <= 2
        && operators.iter().zip(operands.windows(2)).all(|(operator, pair)| {
            match (operand_value(pair[0]), operand_value(pair[1])) {
                (Some(a), Some(b)) => match *operator {
                    "<" => a < b,
                    "<=" => a <= b,
                    ">" => a > b,
                    ">=" => a >= b,
                    _ => (a - b).abs() < f64::EPSILON,
                },
                _ => false,
            }
        })
}

fn viewport_feature(name: &str) -> Option<f64> {
    match name {
        "width" | "device-width" => Some(VIEWPORT_WIDTH),
        "height" | "device-height" => Some(VIEWPORT_HEIGHT),
        "aspect-ratio" | "device-aspect-ratio" => Some(VIEWPORT_WIDTH / VIEWPORT_HEIGHT),
        "resolution" | "-webkit-device-pixel-ratio" | "-webkit-min-device-pixel-ratio" => Some(1.0),
        "color" => Some(8.0),
        _ => None,
    }
}

/// Parses a length in CSS pixels, a resolution in device pixels per CSS pixel, a ratio, or a number.
pub(super) fn parse_length(text: &str) -> Option<f64> {
    if let Some((a, b)) = text.split_once('/') {
        return Some(parse_number(a.trim())? / parse_number(b.trim())?);
    }
    let unit = text.find(|c: char| c.is_ascii_alphabetic() || c == '%').unwrap_or(text.len());
    let number = parse_number(&text[..unit])?;
    let scale = match &text[unit..] {
        "" | "px" | "dppx" | "x" => 1.0,
        "em" | "rem" => 16.0,
        "vw" => VIEWPORT_WIDTH / 100.0,
        "vh" => VIEWPORT_HEIGHT / 100.0,
        "in" => 96.0,
        "cm" => 96.0 / 2.54,
        "mm" => 96.0 / 25.4,
        "pt" => 96.0 / 72.0,
        "dpi" => 1.0 / 96.0,
        "dpcm" => 2.54 / 96.0,
        _ => return None,
    };
    Some(number * scale)
}

fn parse_number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::matches_viewport;

    #[test]
    fn queries_are_evaluated_for_the_window() {
        for (query, expected) in [
            ("", true),
            ("all", true),
            ("screen", true),
            ("print", false),
            ("not print", true),
            ("only screen and (min-width: 600px)", true),
            ("screen and (max-width:600px)", false),
            ("print, (min-width: 100em)", true),
            ("(min-width: 1921px)", false),
            ("(width >= 600px)", true),
            ("(400px <= width < 1000px)", false),
            ("(orientation: portrait)", false),
            ("(prefers-color-scheme: dark)", false),
            ("not all and (prefers-color-scheme: dark)", true),
            ("(min-resolution: 2dppx)", false),
            ("(-webkit-min-device-pixel-ratio: 1.5), (min-resolution: 96dpi)", true),
            ("(hover) and (pointer: fine)", true),
            ("(min-width: 1px) or (max-width: 1px)", true),
            ("((min-width: 1px) and (not (color: 0)))", true),
            ("(min-aspect-ratio: 16/10)", true),
            ("speech", false),
            ("(unheard-of: 3)", false),
            ("((((((((((((((screen))))))))))))))", false),
            ("é and (", false),
        ] {
            assert_eq!(matches_viewport(query), expected, "`{query}`");
        }
    }
}
