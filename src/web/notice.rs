//! Pages that only say something. Who makes one does not know who reads it: a middleware says it in the language of the
//! reader.

use axum::extract::Request;
use axum::http::{HeaderValue, header};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};

use super::html::escape;
use super::page_frame::{PageFrame, render_page};
use super::preferences::Preferences;

/// A document that only shows a message.
#[derive(Clone, Debug)]
pub(super) struct NoticePage {
    title: String,
    text: String,
    /// Whether it will work again.
    is_retried: bool,
}

/// Renders a document that only shows a message.
pub(super) fn render_notice_page(title: &str, text: &str) -> NoticePage {
    NoticePage { title: title.to_owned(), text: text.to_owned(), is_retried: false }
}

/// Renders a document about something that will work again: a script of the page tries until it does, and then loads it.
pub(super) fn render_retry_page(title: &str, text: &str) -> NoticePage {
    NoticePage { is_retried: true, ..render_notice_page(title, text) }
}

impl NoticePage {
    fn render(&self, preferences: Preferences) -> Html<String> {
        let t = preferences.locale();
        let title = t.text(&self.title);
        // Texts of other parts, such as errors of the API, are in English.
        let text = t.text(&self.text);
        let is_foreign = text == self.text && !preferences.is_english();
        let lang = if is_foreign { r#" lang="en""# } else { "" };
        let (text, again) = (escape(text), t.text("Try again"));
        let content = if self.is_retried {
            format!(r#"<span data-retry><span{lang}>{text}</span> <a href="">{again}</a></span>"#)
        } else if is_foreign {
            format!("<span{lang}>{text}</span>")
        } else {
            text.into_owned()
        };
        let body = format!(r#"<h1>{}</h1><p class="notice">{content}</p>"#, escape(title));
        let window_title = format!("{title} · Vigie");
        // The address may be that of a form that was sent: nothing leads back to it.
        let frame = PageFrame::without_viewer(&window_title, preferences);
        render_page(PageFrame { has_preferences: false, ..frame }, &body)
    }
}

impl IntoResponse for NoticePage {
    fn into_response(self) -> Response {
        let mut response = self.render(Preferences::default()).into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// Middleware: says notices in the language of the reader, and that pages depend on it.
pub(super) async fn localize(request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    let preferences = Preferences::from_head(&head);
    let mut response = next.run(Request::from_parts(head, body)).await;
    if let Some(notice) = response.extensions_mut().remove::<NoticePage>() {
        *response.body_mut() = notice.render(preferences).into_response().into_body();
        response.headers_mut().remove(header::CONTENT_LENGTH);
    }
    let content_type = response.headers().get(header::CONTENT_TYPE);
    if content_type.is_some_and(|value| value.as_bytes().starts_with(b"text/html")) {
        response.headers_mut().append(header::VARY, HeaderValue::from_static("accept-language, cookie"));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_is_said_in_the_language_of_its_reader() {
        let mut preferences = Preferences::default();
        let notice = render_notice_page("Not found", "This page does not exist");
        assert!(notice.render(preferences).0.contains("<h1>Not found</h1>"));
        preferences.set("language", "de");
        let page = notice.render(preferences).0;
        assert!(page.contains("Diese Seite gibt es nicht") && page.contains(r#"<html lang="de""#), "{page}");
        let foreign = render_notice_page("Not done", "`name` is too long").render(preferences).0;
        assert!(foreign.contains(r#"<span lang="en">`name` is too long</span>"#), "{foreign}");
    }
}
