//! `GET /metrics/monitors`: the metrics of each monitor.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use futures::{Stream, StreamExt as _, stream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::monitors::to_status_query;
use super::page_state::PageState;
use crate::domain::{CustomerId, StoreError};
use crate::service::{ListQuery, MonitorMetricsPage, MonitorMetricsRequest, PagePart};

/// Content type of `OpenMetrics` 1.0.
pub(super) const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// Most monitors of all pages that are sent at once, which bounds their memory; a larger page is sent alone.
const MAX_MONITORS: u32 = 200_000;
/// Longest wait for the pages before.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// After which time a client that takes nothing loses its page.
const MAX_STALL: Duration = Duration::from_secs(30);
/// Parts that are made before the client takes them.
const PARTS_AHEAD: usize = 2;
/// What the list can show that the metrics cannot: an order, and what a page of it looks like.
const LIST_ONLY: [&str; 4] = ["sort", "group", "column", "page"];

/// Whose monitors a client may see; `None` for those of all accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MetricsScope(pub(super) Option<CustomerId>);

/// Returns the metrics of the monitors that the query of the address selects.
pub(super) async fn get_monitor_metrics(
    State(state): State<PageState>,
    Extension(MetricsScope(customer)): Extension<MetricsScope>,
    uri: Uri,
) -> Response {
    let (query, part) = match parse_query(uri.query().unwrap_or_default()) {
        Ok(parsed) => parsed,
        Err(message) => return (StatusCode::BAD_REQUEST, message).into_response(),
    };
    match load_page(&state, customer, &query, part).await {
        Ok(Some((page, permit))) => {
            ([(header::CONTENT_TYPE, OPEN_METRICS)], Body::from_stream(page_stream(page, permit)))
                .into_response()
        }
        Ok(None) => {
            let retry = [(header::RETRY_AFTER, "10")];
            let message = "Too many pages of metrics are sent now; try again";
            (StatusCode::SERVICE_UNAVAILABLE, retry, message).into_response()
        }
        Err(error) => {
            tracing::warn!(error = %error, "failed to load the metrics of monitors");
            (StatusCode::SERVICE_UNAVAILABLE, "The store does not respond; see the server log")
                .into_response()
        }
    }
}

/// Reads the filters of the list, and `part`.
fn parse_query(text: &str) -> Result<(ListQuery, PagePart), String> {
    let (mut part, mut filters) = (PagePart::WHOLE, url::form_urlencoded::Serializer::new(String::new()));
    for (name, value) in url::form_urlencoded::parse(text.as_bytes()) {
        match &*name {
            "part" => {
                part = PagePart::parse(&value).ok_or_else(|| {
                    "`part` must be `K/N`, part K of N parts, such as `2/4`; N is at most 1000".to_owned()
                })?;
            }
            name if LIST_ONLY.contains(&name) => {
                return Err(format!("`{name}` has no meaning for metrics; remove it"));
            }
            name => drop(filters.append_pair(name, &value)),
        }
    }
    let (query, unknown) = ListQuery::parse_strictly(&filters.finish());
    match unknown.first() {
        None => Ok((query, part)),
        Some(unknown) => Err(format!(
            "`{unknown}` is not a filter; filters are those of the list of monitors: `standing`, `type`, `location`, \
             `recipient`, `down=1`, `q`, `property=NAME:VALUE`, `has=NAME:VALUE`; and `part=K/N`"
        )),
    }
}

/// Loads a page; `None` when the pages before it take too long.
async fn load_page(
    state: &PageState,
    customer: Option<CustomerId>,
    query: &ListQuery,
    part: PagePart,
) -> Result<Option<(MonitorMetricsPage, OwnedSemaphorePermit)>, StoreError> {
    let (reader, now) = (&state.monitor_reader, state.clock.now());
    let mut board = reader.status_board(now).await?;
    if let Some(customer) = customer {
        board = board.for_customer(customer);
    }
    let is_known = |account| customer.is_none_or(|customer| customer == account);
    let query = to_status_query(query, reader, &board, is_known).await?;
    let request = MonitorMetricsRequest {
        board,
        customer,
        query,
        part,
        max_series: state.max_monitor_series,
        properties: state
            .metrics
            .property_labels()
            .into_iter()
            .zip(state.metrics_properties.to_vec())
            .collect(),
        now,
    };
    let rows = request.rows(reader);
    let weight = u32::try_from(rows.len()).unwrap_or(MAX_MONITORS).clamp(1, MAX_MONITORS);
    let permit = Arc::clone(&state.metrics_permits).acquire_many_owned(weight);
    let Ok(Ok(permit)) = tokio::time::timeout(MAX_WAIT, permit).await else { return Ok(None) };
    let page = MonitorMetricsPage::load(reader, &state.metrics, &request, rows).await?;
    Ok(Some((page, permit)))
}

/// Returns the permits of the pages of a server.
#[must_use]
pub fn metrics_permits() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(MAX_MONITORS as usize))
}

/// Returns the parts of `page`. The stream fails instead of ending when not all were made, so that nobody takes what was
/// sent for the whole page. A client that takes nothing loses the page and its permit.
fn page_stream(
    mut page: MonitorMetricsPage,
    permit: OwnedSemaphorePermit,
) -> impl Stream<Item = io::Result<Bytes>> {
    let (sender, parts) = mpsc::channel(PARTS_AHEAD);
    tokio::spawn(async move {
        let _permit = permit;
        while let Some(part) = page.next_part() {
            if !matches!(sender.send_timeout(Some(Bytes::from(part)), MAX_STALL).await, Ok(())) {
                return;
            }
        }
        // The end of the page.
        let _ = sender.send_timeout(None, MAX_STALL).await;
    });
    whole_stream(parts)
}

/// Streams `parts` up to the `None` after the last one; fails when that does not come.
fn whole_stream(parts: mpsc::Receiver<Option<Bytes>>) -> impl Stream<Item = io::Result<Bytes>> {
    stream::unfold(Some(parts), async |parts| {
        let mut parts = parts?;
        match parts.recv().await {
            Some(Some(part)) => Some((Ok(part), Some(parts))),
            Some(None) => None,
            None => Some((Err(io::Error::other("the page of metrics was not finished")), None)),
        }
    })
    // Compression polls once more after the end.
    .fuse()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_named() {
        for (query, named) in [
            ("part=0/2", "`part` must be"),
            ("part=x", "`part` must be"),
            ("part=", "`part` must be"),
            ("sort=name", "`sort` has no meaning"),
            ("type=teapot", "`type=teapot`"),
            ("colour=red", "`colour=red`"),
        ] {
            let message = parse_query(query).unwrap_err();
            assert!(message.contains(named), "{query}: {message}");
        }
        let (query, part) = parse_query("part=2/2&type=website&q=a%26b&has=x:y").unwrap();
        assert_eq!((query.search_text.as_str(), part), ("a&b", PagePart::parse("2/2").unwrap()));
        assert_eq!(query.exact_properties, ["x:y"]);
    }

    #[tokio::test]
    async fn a_page_that_is_not_finished_fails() {
        let (sender, parts) = mpsc::channel(PARTS_AHEAD);
        sender.send(Some(Bytes::from("a"))).await.unwrap();
        drop(sender);
        let parts: Vec<_> = whole_stream(parts).collect().await;
        assert!(matches!(&parts[..], [Ok(_), Err(_)]), "{parts:?}");
        let (sender, parts) = mpsc::channel(PARTS_AHEAD);
        sender.send(Some(Bytes::from("a"))).await.unwrap();
        sender.send(None).await.unwrap();
        let mut stream = std::pin::pin!(whole_stream(parts));
        assert!(matches!(stream.next().await, Some(Ok(_))));
        assert!(stream.next().await.is_none() && stream.next().await.is_none(), "polled after its end");
    }
}
