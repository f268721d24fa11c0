//! The parts of a page that change by themselves.

use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::domain::escape_html;

/// What of a page changes by itself.
#[derive(Clone, Debug, Default)]
pub(in crate::web) struct LivePage {
    /// Title of the window.
    pub(in crate::web) title: String,
    /// The parts, whose ids are unique.
    pub(in crate::web) blocks: Vec<LiveBlock>,
}

/// A part of a page: an element with an id.
#[derive(Clone, Debug, Default)]
pub(in crate::web) struct LiveBlock {
    /// Id of the element.
    pub(in crate::web) id: &'static str,
    /// HTML before the rows; the whole content of a part without rows.
    pub(in crate::web) before: String,
    /// Rows that are updated one by one.
    pub(in crate::web) rows: Vec<LiveRow>,
    /// HTML behind the rows.
    pub(in crate::web) after: String,
}

/// A row of a part.
#[derive(Clone, Debug)]
pub(in crate::web) struct LiveRow {
    /// Id of its element.
    pub(in crate::web) id: String,
    /// The element, with that id.
    pub(in crate::web) html: String,
}

impl LiveBlock {
    /// Returns a part without rows.
    pub(in crate::web) fn new(id: &'static str, html: String) -> Self {
        Self { id, before: html, ..Self::default() }
    }

    /// Renders the part with all of its rows.
    pub(in crate::web) fn render(&self) -> String {
        let row_bytes: usize = self.rows.iter().map(|row| row.html.len()).sum();
        let mut out = String::with_capacity(self.before.len() + row_bytes + self.after.len() + 32);
        // Writing into a string cannot fail.
        let _ = write!(out, r#"<div id="{}">{}"#, self.id, self.before);
        self.rows.iter().for_each(|row| out.push_str(&row.html));
        out.push_str(&self.after);
        out.push_str("</div>");
        out
    }

    /// Hash of what is around the rows.
    pub(super) fn frame_hash(&self) -> u64 {
        content_hash(&[&self.before, &self.after])
    }
}

impl LiveRow {
    /// Hash of the row.
    pub(super) fn hash(&self) -> u64 {
        content_hash(&[&self.html])
    }
}

impl LivePage {
    /// Renders all parts, and the element that keeps them up to date; `path` is that of the page, with its query.
    pub(in crate::web) fn render(&self, path: &str) -> String {
        let parts: String = self.blocks.iter().map(LiveBlock::render).collect();
        parts + &render_live_element(path, self)
    }

    /// Renders it as [`Self::render`] does, with `unchanging` before the part `before`, which is not kept up to date.
    pub(in crate::web) fn render_with(&self, path: &str, before: &str, unchanging: &str) -> String {
        let mut out = String::new();
        for block in &self.blocks {
            if block.id == before {
                out.push_str(unchanging);
            }
            out.push_str(&block.render());
        }
        out + &render_live_element(path, self)
    }

    /// Returns what tells this state of the page from others, also from those of another process.
    pub(in crate::web) fn fingerprint(&self) -> String {
        let mut hasher = DefaultHasher::new();
        self.title.hash(&mut hasher);
        for block in &self.blocks {
            (block.id, block.frame_hash()).hash(&mut hasher);
            block.rows.iter().for_each(|row| (&row.id, row.hash()).hash(&mut hasher));
        }
        format!("{:016x}", hasher.finish())
    }
}

/// Hashes HTML without the text of its ages, which a script of the page keeps true.
fn content_hash(parts: &[&str]) -> u64 {
    const AGE: (&str, &str) = (" data-age=\"", "</time>");
    let mut hasher = DefaultHasher::new();
    for part in parts {
        let mut rest = *part;
        while let Some(start) = rest.find(AGE.0) {
            let end = rest[start..].find(AGE.1).map_or(rest.len(), |length| start + length);
            rest[..start].hash(&mut hasher);
            rest = &rest[end..];
        }
        rest.hash(&mut hasher);
    }
    hasher.finish()
}

/// Renders the element that reads the updates of the page at `path`, a path with its query, for a browser that shows
/// `page`.
fn render_live_element(path: &str, page: &LivePage) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("page", path).append_pair("shown", &page.fingerprint());
    let query = query.finish();
    let query = escape_html(&query);
    format!(
        r#"<div id="live" hx-sse:connect="/live?{query}" hx-swap="none" hx-trigger="load, reconnect"></div>"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(row: &str) -> LivePage {
        let rows = vec![LiveRow { id: "a".to_owned(), html: row.to_owned() }];
        LivePage {
            title: "t".to_owned(),
            blocks: vec![LiveBlock { id: "rows", rows, ..LiveBlock::default() }],
        }
    }

    #[test]
    fn an_age_that_grows_is_no_change_and_another_time_is() {
        let age = |time: &str, text: &str| {
            format!(r#"<tr id="a"><td><time datetime="{time}" data-age="ago">{text}</time> x</td></tr>"#)
        };
        let first = page(&age("2026-01-01T00:00:00Z", "1 s ago")).fingerprint();
        assert_eq!(page(&age("2026-01-01T00:00:00Z", "2 s ago")).fingerprint(), first);
        assert_ne!(page(&age("2026-01-01T00:00:01Z", "1 s ago")).fingerprint(), first);
        let torn = page(r#"<time data-age="ago"#).fingerprint();
        assert_ne!(torn, first);
    }

    #[test]
    fn the_address_names_the_page_and_its_state() {
        let page = page("x");
        let element = render_live_element("/?q=a&page=2", &page);
        let address = format!("\"/live?page=%2F%3Fq%3Da%26page%3D2&amp;shown={}\"", page.fingerprint());
        assert!(element.contains(&address), "{element}");
    }
}
