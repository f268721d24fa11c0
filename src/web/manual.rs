//! The manual: its pages as HTML, and a search.

use std::fmt::Write;

use axum::Extension;
use axum::extract::{Path, Query};
use axum::response::{Html, IntoResponse, Redirect, Response};
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd};
use serde::Deserialize;

use super::html::escape;
use super::page_frame::{self, Breadcrumb, PageFrame, Section};
use super::responses::not_found;
use super::viewer::Viewer;
use crate::manual::{self, ManualPage};
use crate::texts::Locale;

/// Longest line in a search result, in characters.
const MAX_HIT_LINE_CHARS: usize = 200;

/// Name of the first page.
const INDEX: &str = "index";

/// The query of a search: `?q=`.
#[derive(Deserialize)]
pub(super) struct ManualSearchQuery {
    #[serde(default)]
    #[serde(rename = "q")]
    search_text: String,
}

/// `GET /manual`: redirects to `/manual/`, since links in the pages are relative to that path.
pub(super) async fn redirect_to_index() -> Redirect {
    Redirect::permanent("/manual/")
}

/// `GET /manual/?q=`: the index page, or the search results.
pub(super) async fn get_index_or_search_results(
    Extension(viewer): Extension<Viewer>,
    Query(query): Query<ManualSearchQuery>,
) -> Response {
    if query.search_text.trim().is_empty() {
        return get_page(Extension(viewer), Path(INDEX.to_owned())).await;
    }
    let (text, t) = (query.search_text.as_str(), viewer.locale());
    let body = format!("{}{}", render_search_form(text, t), render_hits(text, t));
    let title = format!("{} · Vigie", t.text("Search the manual"));
    let article = format!("<article class=\"manual\" lang=\"en\">{body}</article>");
    let mut frame = manual_frame(&title, &viewer);
    frame.breadcrumbs.push(manual_breadcrumb(t));
    page_frame::render_page(frame, &article).into_response()
}

/// `GET /manual/{name}`
pub(super) async fn get_page(Extension(viewer): Extension<Viewer>, Path(name): Path<String>) -> Response {
    match manual::PAGES.iter().find(|page| page.path == name) {
        Some(page) => render_page(*page, &viewer).into_response(),
        None => not_found("The manual has no page with this name"),
    }
}

fn render_page(page: ManualPage, viewer: &Viewer) -> Html<String> {
    let t = viewer.locale();
    let body = format!(
        "<article class=\"manual\" lang=\"en\">{}{}</article>",
        render_search_form("", t),
        render_markdown(page.markdown)
    );
    let title = format!("{} · Vigie manual", page.first_heading());
    let mut frame = manual_frame(&title, viewer);
    if page.path != INDEX {
        frame.breadcrumbs.push(manual_breadcrumb(t));
    }
    page_frame::render_page(frame, &body)
}

/// Returns the breadcrumb of the first page.
fn manual_breadcrumb(t: Locale) -> Breadcrumb {
    Breadcrumb { name: t.text(Section::Manual.name()).to_owned(), path: Section::Manual.path().to_owned() }
}

fn manual_frame<'a>(title: &'a str, viewer: &'a Viewer) -> PageFrame<'a> {
    PageFrame { section: Some(Section::Manual), ..PageFrame::new(title, viewer) }
}

/// Renders the form in the language of the reader, unlike the pages.
fn render_search_form(search_text: &str, t: Locale) -> String {
    format!(
        "<form class=\"filter\" action=\"/manual/\" lang=\"{}\">\
         <input type=\"search\" name=\"q\" value=\"{}\" aria-label=\"{}\"> \
         <button>{}</button></form>",
        t.language.code(),
        escape(search_text),
        t.text("Search the manual"),
        t.text("Search")
    )
}

fn render_hits(search_text: &str, t: Locale) -> String {
    let hits = manual::search_manual(search_text);
    if hits.is_empty() {
        return format!(
            "<p class=\"notice\" lang=\"{}\">{}</p>",
            t.language.code(),
            t.html("No section contains all of “{text}”.", &[("text", search_text)])
        );
    }
    let mut list_html = String::from("<ul>");
    for hit in hits {
        let line: String = hit.first_matching_line.chars().take(MAX_HIT_LINE_CHARS).collect();
        let _ = write!(
            list_html,
            "<li><a href=\"/manual/{}#{}\">{}: {}</a><br>{}</li>",
            hit.page.path,
            escape(&manual::heading_anchor(hit.section_heading)),
            escape(hit.page.first_heading()),
            escape(hit.section_heading),
            escape(&line)
        );
    }
    list_html + "</ul>"
}

/// Renders Markdown as HTML. Headings get ids; links to files of pages become links to the pages, without `.md`.
fn render_markdown(text: &str) -> String {
    let mut events: Vec<Event<'_>> = Parser::new_ext(text, Options::ENABLE_TABLES).collect();
    for index in 0..events.len() {
        if let Event::Start(Tag::Heading { .. }) = &events[index] {
            let title = heading_text(&events[index + 1..]);
            if let Event::Start(Tag::Heading { id, .. }) = &mut events[index] {
                *id = Some(CowStr::from(manual::heading_anchor(&title)));
            }
        } else if let Event::Start(Tag::Link { dest_url, .. }) = &mut events[index]
            && let Some(url) = page_url_from_link(dest_url)
        {
            *dest_url = CowStr::from(url);
        }
    }
    let mut html = String::with_capacity(text.len() * 2);
    pulldown_cmark::html::push_html(&mut html, events.into_iter());
    // What is wider than the window is scrolled with the keyboard, too.
    html.replace("<pre>", r#"<pre tabindex="0">"#)
}

/// Returns the text of the heading that `events` start with.
fn heading_text(events: &[Event<'_>]) -> String {
    let heading_events = events.iter().take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))));
    heading_events
        .filter_map(
            |event| if let Event::Text(text) | Event::Code(text) = event { Some(&**text) } else { None },
        )
        .collect()
}

/// Converts a relative link to the file of a page into the address of the page.
fn page_url_from_link(link: &str) -> Option<String> {
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let path = path.strip_suffix(".md").filter(|path| !path.contains(':'))?;
    Some(if anchor.is_empty() { path.to_owned() } else { format!("{path}#{anchor}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_pages_and_headings_have_ids() {
        let html = render_markdown(
            "## A `b` c\n[x](../alerting.md#one-two) [y](https://a.test/z.md)\n\n|a|\n|-|\n|b|\n",
        );
        assert!(html.contains("<h2 id=\"a-b-c\">"), "{html}");
        assert!(
            html.contains("<a href=\"../alerting#one-two\">x</a> <a href=\"https://a.test/z.md\">y</a>"),
            "{html}"
        );
        assert!(html.contains("<table>"), "{html}");
    }

    #[test]
    fn search_queries_are_escaped() {
        assert!(!render_hits("<script>", Locale::default()).contains("<script>"));
        assert!(render_hits("start_threshold", Locale::default()).contains("href=\"/manual/alerting#"));
    }
}
