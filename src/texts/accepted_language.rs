//! The header `Accept-Language` (RFC 9110, 12.5.4).

use super::language::Language;

/// Most entries that are read.
const MAX_ENTRIES: usize = 20;

/// Returns the language of pages that `header` likes best; `None` when it likes none of them.
#[must_use]
pub fn accepted_language(header: &str) -> Option<Language> {
    let mut best: Option<(Language, f32)> = None;
    for entry in header.split(',').take(MAX_ENTRIES) {
        let (range, weight) = entry.split_once(';').unwrap_or((entry, "q=1"));
        let code = range.trim().split('-').next().unwrap_or_default();
        let weight =
            weight.trim().strip_prefix("q=").and_then(|text| text.parse::<f32>().ok()).unwrap_or(0.0);
        let Some(language) = Language::from_code(code) else { continue };
        // Of equals, the first counts.
        if weight > best.map_or(0.0, |(_, weight)| weight) {
            best = Some((language, weight));
        }
    }
    best.map(|(language, _)| language)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_with_the_highest_weight_is_taken() {
        for (header, language) in [
            ("fr", Some(Language::French)),
            ("de-AT,de;q=0.9,en;q=0.8", Some(Language::German)),
            ("it, en;q=0.2, fr-CH;q=0.7", Some(Language::French)),
            ("de;q=0, en;q=0.1", Some(Language::English)),
            ("ja,*;q=0.5", None),
            ("", None),
            ("de;q=x", None),
        ] {
            assert_eq!(accepted_language(header), language, "{header}");
        }
    }
}
