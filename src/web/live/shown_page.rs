//! What a browser shows of a page, and what has to be sent so that it shows another state of it.

use std::fmt::Write;

use super::page::{LiveBlock, LivePage, LiveRow};
use crate::domain::escape_html;

/// What a browser shows of a page.
#[derive(Debug, Default)]
pub(super) struct ShownPage {
    title: String,
    blocks: Vec<ShownBlock>,
}

#[derive(Debug)]
struct ShownBlock {
    id: &'static str,
    frame_hash: u64,
    rows: Vec<(String, u64)>,
}

impl ShownPage {
    /// Records that the browser shows `page`.
    pub(super) fn record(&mut self, page: &LivePage) {
        self.title.clone_from(&page.title);
        self.blocks = page.blocks.iter().map(ShownBlock::new).collect();
    }

    /// Returns what makes the browser show `page`, and records that it does; `None` when it shows it already. The parts
    /// are replaced in place, so that the element with the focus keeps it.
    pub(super) fn update(&mut self, page: &LivePage) -> Option<String> {
        let mut out = String::new();
        for block in &page.blocks {
            let shown = self.blocks.iter().find(|shown| shown.id == block.id);
            match shown {
                Some(shown) if shown.has_same_frame(block) => {
                    let rows = block.rows.iter().zip(&shown.rows);
                    for (row, _) in rows.filter(|(row, (_, hash))| row.hash() != *hash) {
                        push_element(&mut out, &row.id, &row.html);
                    }
                }
                _ => push_element(&mut out, block.id, &block.render()),
            }
        }
        if self.title != page.title {
            // Writing into a string cannot fail.
            let _ = write!(out, "<title>{}</title>", escape_html(&page.title));
        }
        self.record(page);
        Some(out).filter(|out| !out.is_empty())
    }
}

impl ShownBlock {
    fn new(block: &LiveBlock) -> Self {
        let rows = block.rows.iter().map(|row| (row.id.clone(), row.hash())).collect();
        Self { id: block.id, frame_hash: block.frame_hash(), rows }
    }

    /// Whether at most the content of rows differs.
    fn has_same_frame(&self, block: &LiveBlock) -> bool {
        let same_row = |((id, _), row): (&(String, u64), &LiveRow)| *id == row.id;
        self.frame_hash == block.frame_hash()
            && self.rows.len() == block.rows.len()
            && self.rows.iter().zip(&block.rows).all(same_row)
    }
}

/// Appends the instruction to replace the element `id` by `html`.
fn push_element(out: &mut String, id: &str, html: &str) {
    let id = escape_html(id);
    // Writing into a string cannot fail.
    let _ = write!(out, r##"<hx-partial hx-target="#{id}" hx-swap="outerMorph">{html}</hx-partial>"##);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(title: &str, before: &str, rows: &[(&str, &str)]) -> LivePage {
        let to_row = |(id, html): &(&str, &str)| LiveRow { id: (*id).to_owned(), html: (*html).to_owned() };
        let rows = rows.iter().map(to_row).collect();
        let block = LiveBlock { id: "rows", before: before.to_owned(), rows, after: String::new() };
        LivePage { title: title.to_owned(), blocks: vec![LiveBlock::new("tiles", "one".to_owned()), block] }
    }

    #[test]
    fn only_what_changed_is_sent() {
        let mut shown = ShownPage::default();
        let first = page("t", "", &[("a", "1"), ("b", "2")]);
        let all = shown.update(&first).unwrap();
        assert!(all.contains("#tiles") && all.contains("#rows") && all.contains("<title>t</title>"), "{all}");
        assert_eq!(shown.update(&first), None);
        let row = shown.update(&page("t", "", &[("a", "1"), ("b", "3")])).unwrap();
        assert_eq!(row, r##"<hx-partial hx-target="#b" hx-swap="outerMorph">3</hx-partial>"##);
        let title = shown.update(&page("<t>", "", &[("a", "1"), ("b", "3")])).unwrap();
        assert_eq!(title, "<title>&lt;t&gt;</title>");
    }

    #[test]
    fn a_part_is_sent_whole_when_its_rows_are_others() {
        let base = [("a", "1"), ("b", "2")];
        for other in [&[("b", "2"), ("a", "1")][..], &[("a", "1")], &[]] {
            let mut shown = ShownPage::default();
            shown.record(&page("t", "", &base));
            let sent = shown.update(&page("t", "", other)).unwrap();
            assert!(sent.contains("#rows") && !sent.contains("#tiles"), "{sent}");
        }
        let mut shown = ShownPage::default();
        shown.record(&page("t", "", &base));
        assert!(shown.update(&page("t", "head", &base)).unwrap().contains("#rows"));
    }
}
