//! What the browser loaded in a step and wrote to its console, as it is kept and judged.

use std::time::Duration;

use url::Url;

use super::look::{kind_of, shown};
use super::play::{Player, micros};
use crate::browser::{BrowserKind, Exchange};
use crate::judge::telling::Masks;
use crate::model::table::parts::is_telling;
use crate::model::{ConsoleEntry, Failure, FailureKind, MASK, ObjectKind, PageObject, Phase};
use crate::page::same_site;

/// Objects of a step that are kept.
const MOST_OBJECTS: usize = 500;

impl Player<'_> {
    /// Takes what happened since the last time into the step; answers what is wrong with its documents.
    pub(super) async fn gather(&mut self) -> Result<(), Failure> {
        self.hear().await;
        let pages = self.journal().read();
        let page = Url::parse(&self.played().url).ok();
        let masks = Masks::of(self.variables.secrets());
        let start = pages.exchanges.first().map_or(0.0, |exchange| exchange.began);
        let document = pages.exchanges.iter().rev().find(|exchange| exchange.kind.is_none());
        let status = document.map(|document| document.http_status);
        let failure = self.document_failure(&pages.exchanges, page.as_ref());
        self.headers = document.cloned();
        let objects: Vec<PageObject> = pages
            .exchanges
            .iter()
            .filter(|exchange| !exchange.cancelled)
            .map(|exchange| object(exchange, page.as_ref(), start, &masks))
            .collect();
        let unlisted = u32::try_from(objects.len().saturating_sub(MOST_OBJECTS)).unwrap_or(u32::MAX);
        let played = self.played();
        if let Some(status) = status.filter(|status| *status > 0) {
            played.http_status = status;
        }
        played.unlisted = pages.unlisted + unlisted;
        played.objects = objects;
        played.objects.truncate(MOST_OBJECTS);
        let hidden =
            |entry: ConsoleEntry| ConsoleEntry { text: masks.masked(&entry.text).into_owned(), ..entry };
        played.console = pages.console.into_iter().map(hidden).collect();
        failure.map_or(Ok(()), Err)
    }

    /// Takes what Chromium's driver logged since the last time into the journal; Firefox tells by itself.
    pub(super) async fn hear(&self) {
        if self.options.wish.kind != BrowserKind::Chrome {
            return;
        }
        for kind in ["performance", "browser"] {
            // A driver that has no such log, as one of a grid, tells less.
            let Ok(entries) = self.session.log(kind, super::ask::soon()).await else { continue };
            let mut journal = self.journal();
            match kind {
                "performance" => journal.chrome_events(&entries),
                _ => journal.chrome_console(&entries),
            }
        }
    }

    /// A frame whose document could not be loaded; those of other sites only where they count (fields.md 3,
    /// `third_party_document_errors`).
    fn document_failure(&self, exchanges: &[Exchange], page: Option<&Url>) -> Option<Failure> {
        let frames = exchanges.iter().filter(|exchange| exchange.document && exchange.kind.is_some());
        let counts =
            |exchange: &&Exchange| self.options.third_party_documents || !is_third_party(page, &exchange.url);
        let failed = frames.filter(counts).find_map(|exchange| Some((exchange, failure_of(exchange)?)));
        failed.map(|(exchange, failure)| failure.of_object(&shown(&exchange.url)))
    }
}

fn object(exchange: &Exchange, page: Option<&Url>, start: f64, masks: &Masks) -> PageObject {
    let time = |seconds: f64| micros(Duration::try_from_secs_f64(seconds).unwrap_or_default());
    PageObject {
        url: masks.masked(&shown(&exchange.url)).into_owned(),
        kind: exchange.kind.unwrap_or(ObjectKind::Frame),
        third_party: is_third_party(page, &exchange.url),
        started_us: time(exchange.began - start),
        total_us: time(exchange.ended - exchange.began),
        phases: exchange.phases,
        http_status: exchange.http_status,
        http_version: exchange.http_version.clone(),
        mimetype: exchange.mimetype.clone(),
        body_wire_bytes: exchange.wire_bytes,
        body_bytes: exchange.bytes,
        failure: failure_of(exchange),
    }
}

pub(super) fn is_third_party(page: Option<&Url>, url: &str) -> bool {
    let url = Url::parse(url).ok();
    page.zip(url.as_ref()).is_some_and(|(page, url)| !same_site(page, url))
}

/// Why an exchange came to nothing.
pub(super) fn failure_of(exchange: &Exchange) -> Option<Failure> {
    // Browsers ask for an icon of their own accord.
    let is_icon = Url::parse(&exchange.url).is_ok_and(|url| url.path() == "/favicon.ico");
    if exchange.cancelled || is_icon {
        return None;
    }
    if let Some(error) = &exchange.error {
        let word = error.strip_prefix("net::").unwrap_or(error);
        return Some(Failure::new(Phase::Play, kind_of(word), word.to_owned()));
    }
    (exchange.http_status >= 400)
        .then(|| Failure::new(Phase::FirstByte, FailureKind::HttpStatus, exchange.http_status.to_string()))
}

/// The header fields of an exchange as text; values that let somebody in are masked.
pub(super) fn headers(exchange: &Exchange, masks: &Masks) -> String {
    let lines = |fields: &[(String, String)]| -> String {
        let line = |(name, value): &(String, String)| {
            let value = if is_telling(name) { MASK } else { value };
            format!("{name}: {value}\r\n")
        };
        fields.iter().map(line).collect()
    };
    let text = format!(
        "{} {}\r\n{}\r\n{} {}\r\n{}",
        exchange.method,
        shown(&exchange.url),
        lines(&exchange.request_headers),
        exchange.http_version,
        exchange.http_status,
        lines(&exchange.response_headers)
    );
    masks.masked(&text).into_owned()
}
