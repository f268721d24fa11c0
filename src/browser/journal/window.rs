//! What a window loaded before Chromium's driver found it: the driver logs nothing of that, and the page has its own
//! measures (Resource Timing). They know no header fields, and of other sites no status and no sizes.

use serde_json::Value;

use super::chrome::{answered, over, whole};
use super::log::{Exchange, Journal, LONGEST_VALUE, MOST_REQUESTS, counted};
use crate::domain::{PageObjectKind, truncate};

/// The body of the function that tells them.
pub const WINDOW: &str = include_str!("window.js");
/// Seconds that the measures of a page and the log of the driver may lie apart.
const APART: f64 = 1.0;

impl Journal {
    /// Takes in what [`WINDOW`] told, but for what is known from the log.
    pub fn chrome_window(&mut self, told: &Value) {
        for entry in told.as_array().into_iter().flatten() {
            let url = truncate(entry["url"].as_str().unwrap_or_default(), LONGEST_VALUE);
            let began = entry["began"].as_f64().unwrap_or_default();
            let is_known = |known: &Exchange| known.url == url && (known.began - began).abs() < APART;
            if !url.starts_with("http") || self.exchanges.iter().any(is_known) {
                continue;
            }
            if self.exchanges.len() >= MOST_REQUESTS {
                self.unlisted += 1;
                continue;
            }
            let by = entry["by"].as_str().unwrap_or_default();
            let mut exchange = Exchange {
                method: "GET".to_owned(),
                url,
                kind: Some(object(by)),
                document: by == "navigation",
                began,
                wire_bytes: whole(&entry["wire"]),
                bytes: whole(&entry["bytes"]),
                ..Exchange::default()
            };
            answered(&mut exchange, &entry["response"]);
            over(&mut exchange, entry["ended"].as_f64().unwrap_or(began));
            counted(&mut exchange);
            self.exchanges.push_back(exchange);
        }
    }
}

/// By what asked for it (Resource Timing 4.3, `initiatorType`).
fn object(by: &str) -> PageObjectKind {
    match by {
        "navigation" | "iframe" | "frame" => PageObjectKind::Frame,
        "img" | "image" | "input" => PageObjectKind::Image,
        "script" => PageObjectKind::Script,
        "link" | "css" => PageObjectKind::Style,
        "audio" | "video" | "track" => PageObjectKind::Media,
        _ => PageObjectKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_the_log_has_is_not_told_twice_and_all_is_in_order() {
        let mut journal = Journal::default();
        let request = json!({ "message": { "method": "Network.requestWillBeSent", "params": {
            "requestId": "1", "timestamp": 5.0, "wallTime": 1005.0, "type": "Fetch",
            "request": { "url": "http://a/late", "method": "POST", "headers": {} } } } });
        journal.chrome_events(&json!([{ "message": request.to_string() }]));
        let entry = |url: &str, by: &str, began: f64| {
            json!({ "url": url, "by": by, "began": began, "ended": began + 0.5, "wire": 300, "bytes": 200,
                "response": { "status": 200, "protocol": "h2", "timing": { "sendEnd": 10, "receiveHeadersEnd": 30 } } })
        };
        journal.chrome_window(&json!([
            entry("http://a/", "navigation", 1004.0),
            entry("http://a/late", "fetch", 1005.2),
            entry("http://a/x.png", "img", 1004.5),
            entry("data:,x", "img", 1004.5),
        ]));
        let told = journal.read().exchanges;
        let seen: Vec<(&str, &str, u16)> =
            told.iter().map(|one| (&*one.method, &*one.url, one.http_status)).collect();
        assert_eq!(
            seen,
            [("GET", "http://a/", 200), ("GET", "http://a/x.png", 200), ("POST", "http://a/late", 0)]
        );
        assert!(told[0].document && told[1].kind == Some(PageObjectKind::Image));
        assert_eq!((told[0].wire_bytes, told[0].bytes, &*told[0].http_version), (300, 200, "HTTP/2"));
        assert_eq!(told[0].phases.iter().count(), 2, "{:?}", told[0].phases);
    }
}
