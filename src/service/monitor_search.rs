//! Finding monitors by what a person remembers of them: a part of the name, the address or the key, or the id.

use memchr::memmem::Finder;

use crate::domain::MonitorId;
use crate::schema::Monitor;

/// What a person looks for.
pub(super) struct MonitorSearch {
    /// The text in lower case; empty matches every monitor.
    lower_text: String,
    /// The number that the text is.
    id: Option<i64>,
}

impl MonitorSearch {
    /// Looks for `text`.
    pub(super) fn new(text: &str) -> Self {
        let text = text.trim();
        Self { lower_text: text.to_lowercase(), id: text.parse().ok() }
    }

    /// Returns what finds the text in [`searched_text`]; `None` when every monitor is meant.
    pub(super) fn finder(&self) -> Option<Finder<'_>> {
        (!self.lower_text.is_empty()).then(|| Finder::new(&self.lower_text))
    }

    /// Returns the monitor whose id the text is.
    pub(super) fn id(&self) -> Option<MonitorId> {
        self.id.map(MonitorId)
    }
}

/// Returns name, address and key of `monitor` in lower case, each in a line of its own. Credentials and the query of a URL
/// are no part of its address: who may not see them must not find them by trying.
pub(super) fn searched_text(monitor: &Monitor) -> String {
    let address = monitor.document.url().map(public_part_of_url).or_else(|| monitor.document.hostname());
    let parts = [monitor.name(), address.unwrap_or_default(), monitor.origin.key().unwrap_or_default()];
    parts.join("\n").to_lowercase()
}

/// Returns host and path of `url`, without user, password, query and fragment.
fn public_part_of_url(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let authority_end = rest.find('/').unwrap_or(rest.len());
    match rest[..authority_end].rfind('@') {
        Some(at) => &rest[at + 1..],
        None => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_does_not_matter_in_any_alphabet() {
        let found = |text: &str, wanted: &str| {
            let search = MonitorSearch::new(wanted);
            search.finder().is_none_or(|finder| finder.find(text.to_lowercase().as_bytes()).is_some())
        };
        assert!(found("Shop Front", "OP f") && found("Größe", "GRÖ"));
        assert!(found("КАССА", "касса") && !found("shop", "shops") && !found("", "a"));
    }

    #[test]
    fn credentials_and_queries_are_no_part_of_an_address() {
        for (url, public) in [
            ("https://user:pass@a.test:8/path?token=1#x", "a.test:8/path"),
            ("http://a.test", "a.test"),
            ("http://a.test?x@y", "a.test"),
            ("http://a.test/x@y", "a.test/x@y"),
            ("http://a@b@c.test/", "c.test/"),
        ] {
            assert_eq!(public_part_of_url(url), public);
        }
    }
}
