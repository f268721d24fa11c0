//! Whether the colours of `style.css` can be read: WCAG 2.2, 1.4.3 asks for a contrast of 4.5 between text and what is behind it.

use std::collections::HashMap;

const STYLE: &str = include_str!("assets/style.css");
const LEAST_CONTRAST: f64 = 4.5;
/// How much of its own colour a pill has behind its text, and a row of the colour of links under the pointer.
const PILL_TINT: f64 = 0.15;
const ROW_TINT: f64 = 0.06;

type Colour = [f64; 3];

fn parse_colour(text: &str) -> Colour {
    let digits = text.trim().trim_start_matches('#');
    let wide: String = if digits.len() == 3 {
        digits.chars().flat_map(|digit| [digit, digit]).collect()
    } else {
        digits.to_owned()
    };
    [0, 2, 4].map(|at| f64::from(u8::from_str_radix(&wide[at..at + 2], 16).unwrap()) / 255.0)
}

/// Returns the colours of one theme by their names.
fn colours(theme: usize) -> HashMap<&'static str, Colour> {
    let lines = STYLE.lines().filter_map(|line| line.trim().strip_prefix("--")?.split_once(": light-dark("));
    let pick = |(name, values): (&'static str, &str)| {
        let value = values.trim_end_matches(");").split(',').nth(theme).unwrap();
        (name, parse_colour(value))
    };
    lines.map(pick).collect()
}

fn mix(colour: Colour, behind: Colour, share: f64) -> Colour {
    std::array::from_fn(|part| share * colour[part] + (1.0 - share) * behind[part])
}

/// The relative luminance of WCAG 2.2.
fn luminance(colour: Colour) -> f64 {
    let linear = |part: f64| if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) };
    let [red, green, blue] = colour.map(linear);
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

fn contrast(a: Colour, b: Colour) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn every_text_can_be_read_in_both_themes() {
    for (theme, theme_name) in ["light", "dark"].into_iter().enumerate() {
        let colours = colours(theme);
        let backgrounds = [colours["card"], colours["bg"], mix(colours["link"], colours["card"], ROW_TINT)];
        let check = |name: &str, tint: f64| {
            let colour = colours[name];
            for behind in backgrounds {
                let found = contrast(colour, mix(colour, behind, tint));
                assert!(found >= LEAST_CONTRAST, "{name} in {theme_name}: {found:.2}");
            }
        };
        for name in ["text", "soft", "link"] {
            check(name, 0.0);
        }
        for name in ["ok", "warning", "error", "unknown", "missed", "quiet"] {
            check(name, PILL_TINT);
        }
    }
}
