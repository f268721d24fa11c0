//! Search in the manual for the sections that contain every word.

use super::manual_page::ManualPage;
use super::pages::PAGES;

/// A section that matches a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchHit {
    /// Page of the section.
    pub page: ManualPage,
    /// Heading of the section.
    pub section_heading: &'static str,
    /// First line that contains one of the words.
    pub first_matching_line: String,
}

/// Most sections that a search returns.
const MAX_HITS: usize = 50;

/// Weight of a word in a heading. In the text, a word counts once per occurrence, up to [`MAX_COUNTED_OCCURRENCES`].
const HEADING_WEIGHT: usize = 10;
/// Most occurrences of a word that are counted: more of them do not make a better match.
const MAX_COUNTED_OCCURRENCES: usize = 5;

/// Returns the sections that contain all words of `query`, in any case; best first, at most 50. Empty for an empty
/// query.
#[must_use]
pub fn search_manual(query: &str) -> Vec<SearchHit> {
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    if words.is_empty() {
        return Vec::new();
    }
    let mut scored_hits: Vec<(usize, SearchHit)> =
        PAGES.iter().flat_map(|page| search_page(*page, &words)).collect();
    scored_hits.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    scored_hits.truncate(MAX_HITS);
    scored_hits.into_iter().map(|(_, hit)| hit).collect()
}

fn search_page(page: ManualPage, words: &[String]) -> impl Iterator<Item = (usize, SearchHit)> {
    page.sections().into_iter().filter_map(move |section| {
        let (title, text) = (section.heading.to_lowercase(), section.text.to_lowercase());
        let score_word = |word: &String| {
            let heading = if title.contains(word.as_str()) { HEADING_WEIGHT } else { 0 };
            heading + text.matches(word.as_str()).take(MAX_COUNTED_OCCURRENCES).count()
        };
        let scores: Vec<usize> = words.iter().map(score_word).collect();
        let contains_a_word =
            |line: &&str| words.iter().any(|word| line.to_lowercase().contains(word.as_str()));
        let first_matching_line =
            section.text.lines().find(contains_a_word).unwrap_or_default().trim().to_owned();
        let hit = SearchHit { page, section_heading: section.heading, first_matching_line };
        scores.iter().all(|score| *score > 0).then(|| (scores.iter().sum(), hit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_with_all_words_are_found_headings_first() {
        let hits = search_manual("start_threshold");
        assert!(
            !hits.is_empty()
                && hits.iter().all(|hit| hit.first_matching_line.to_lowercase().contains("start_threshold"))
        );
        assert!(search_manual("rotate keys").iter().any(|hit| hit.page.path == "operations"));
        assert_eq!(search_manual("no-such-word-anywhere"), []);
        assert_eq!(search_manual("  "), []);
        assert!(search_manual("a").len() <= MAX_HITS);
    }
}
