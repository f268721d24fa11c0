//! Pages that only say something.

use axum::response::Html;

use super::html::escape;
use super::page_frame::{PageFrame, render_page};
use super::preferences::Preferences;

/// Renders a document that only shows a message.
pub(super) fn render_notice_page(title: &str, text: &str) -> Html<String> {
    render(title, &escape(text))
}

/// Renders a document about something that will work again: a script of the page tries until it does, and then loads it.
pub(super) fn render_retry_page(title: &str, text: &str) -> Html<String> {
    render(title, &format!(r#"<span data-retry>{} <a href="">Try again</a></span>"#, escape(text)))
}

fn render(title: &str, content: &str) -> Html<String> {
    let body = format!(r#"<h1>{}</h1><p class="notice">{content}</p>"#, escape(title));
    let window_title = format!("{title} · Vigie");
    // The address may be that of a form that was sent: nothing leads back to it.
    let frame = PageFrame::without_viewer(&window_title, Preferences::default());
    render_page(PageFrame { has_preferences: false, ..frame }, &body)
}
