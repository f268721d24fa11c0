//! Selects the image of a `srcset` that a browser would load (WHATWG HTML 4.8.4.3).

use super::media_query;

/// Maximum number of candidates that are evaluated.
const MAX_CANDIDATES: usize = 100;

/// Returns the URL chosen from `srcset`, `sizes` and `src`: the candidate with the lowest density of at least
/// 1, or else the one with the highest density; among equal densities the first.
pub(super) fn select_image_url<'a>(srcset: &'a str, sizes: &str, src: Option<&'a str>) -> Option<&'a str> {
    let mut best: Option<(&str, f64)> = None;
    let mut known_source_size = None;
    let mut consider_candidate = |url: &'a str, density: f64| {
        let is_better = best.is_none_or(|(_, best_density)| match (density >= 1.0, best_density >= 1.0) {
            (true, true) => density < best_density,
            (is_sufficient, best_is_sufficient) => {
                is_sufficient && !best_is_sufficient
                    || (is_sufficient == best_is_sufficient && density > best_density)
            }
        });
        if is_better {
            best = Some((url, density));
        }
    };
    let mut has_widths = false;
    for (url, descriptors) in candidates(srcset).take(MAX_CANDIDATES) {
        let candidate_density = parse_density(
            descriptors,
            || *known_source_size.get_or_insert_with(|| source_size(sizes)),
            &mut has_widths,
        );
        if let Some(density) = candidate_density {
            consider_candidate(url, density);
        }
    }
    if let Some(src) = src.filter(|src| !has_widths && !src.trim().is_empty()) {
        consider_candidate(src, 1.0);
    }
    best.map(|(url, _)| url).or(src)
}

fn parse_density(descriptors: &str, source_size: impl FnOnce() -> f64, has_widths: &mut bool) -> Option<f64> {
    let mut density = Some(1.0);
    let mut source_size = Some(source_size);
    for descriptor in descriptors.split_ascii_whitespace() {
        let (number, unit) = descriptor.split_at_checked(descriptor.len() - 1)?;
        match unit {
            "x" => density = number.parse().ok(),
            "w" => {
                *has_widths = true;
                let number: f64 = number.parse().ok()?;
                density = source_size.take().map(|source_size| number / source_size().max(1.0));
            }
            // The height is redundant with the width.
            "h" => {}
            _ => return None,
        }
    }
    density.filter(|density: &f64| density.is_finite() && *density >= 0.0)
}

/// Returns URL and descriptors of each candidate.
fn candidates(srcset: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = srcset;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ',');
        if rest.is_empty() {
            return None;
        }
        let end = rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len());
        let (url, after) = rest.split_at(end);
        if let Some(url_without_comma) = url.strip_suffix(',') {
            rest = after;
            return Some((url_without_comma.trim_end_matches(','), ""));
        }
        let descriptors =
            media_query::split_outside_parentheses(after, |rest| rest.starts_with(',').then_some(1))
                .next()
                .unwrap_or("");
        rest = after.get(descriptors.len() + 1..).unwrap_or("");
        Some((url, descriptors))
    })
}

/// Returns the source size by `sizes`, in CSS pixels: that of the first matching condition, otherwise the width of the
/// window.
fn source_size(sizes: &str) -> f64 {
    let sizes = sizes.to_ascii_lowercase();
    media_query::split_outside_parentheses(&sizes, |rest| rest.starts_with(',').then_some(1))
        .find_map(|size| {
            let size = size.trim();
            let (condition, length) =
                size.rsplit_once(|c: char| c.is_ascii_whitespace()).unwrap_or(("", size));
            media_query::parse_length(length)
                .filter(|length| *length >= 0.0 && media_query::matches_viewport(condition))
        })
        .unwrap_or(media_query::VIEWPORT_WIDTH)
}
