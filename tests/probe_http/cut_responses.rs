//! A valid response that ends at any byte: the attempt always ends in time, with a sensible status.

use std::time::Duration;

use futures::StreamExt;
use serde_json::json;
use vigie::domain::{FailureKind, Observation, Phase};

use crate::probe_http::check::Check;
use crate::probe_http::server::{Act, Server, send};

const LENGTH: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 12\r\n\r\nhello needle";
const CHUNKED: &[u8] =
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nhello \r\n6\r\nneedle\r\n0\r\n\r\n";

async fn cut_response(response: &[u8], at: usize, end: &Act) -> Observation {
    let server = Server::start(vec![vec![Act::Request, send(&response[..at]), end.clone()]]).await;
    let timeout = Duration::from_millis(if matches!(end, Act::Stall) { 1_000 } else { 20_000 });
    Check::new(&server.url("/")).with(json!({"keyword_string": "needle"})).within(timeout).run().await
}

/// Cuts `response` at every byte and compares each observation with `is_expected`.
async fn at_every_byte(response: &'static [u8], end: Act, is_expected: fn(&Observation, usize) -> bool) {
    let offsets = futures::stream::iter(0..=response.len());
    let observations: Vec<_> =
        offsets
            .map(|at| {
                let end = end.clone();
                async move {
                    (at, tokio::spawn(async move { cut_response(response, at, &end).await }).await.unwrap())
                }
            })
            .buffer_unordered(40)
            .collect()
            .await;
    assert_eq!(observations.len(), response.len() + 1);
    for (at, observation) in observations {
        assert!(
            is_expected(&observation, at),
            "at byte {at} of {}, {end:?}: {observation:#?}",
            response.len()
        );
    }
}

fn failed(observation: &Observation, kinds: &[FailureKind], phase: Phase) -> bool {
    observation.failure.as_ref().is_some_and(|f| kinds.contains(&f.kind) && f.phase == phase)
        && observation.phases.micros(phase).is_some()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_close_at_every_byte() {
    for response in [LENGTH, CHUNKED] {
        at_every_byte(response, Act::Cut, |observation, at| match at {
            0 => failed(observation, &[FailureKind::NoResponse], Phase::FirstByte),
            _ => {
                observation.failure.is_none()
                    || failed(observation, &[FailureKind::ResponseTruncated], Phase::Transfer)
            }
        })
        .await;
    }
    at_every_byte(LENGTH, Act::Cut, |observation, at| observation.failure.is_none() == (at == LENGTH.len()))
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stall_at_every_byte() {
    at_every_byte(LENGTH, Act::Stall, |observation, at| match at {
        0 => failed(observation, &[FailureKind::TimedOut], Phase::FirstByte),
        _ if at == LENGTH.len() => observation.failure.is_none(),
        _ => failed(observation, &[FailureKind::TimedOut], Phase::Transfer),
    })
    .await;
    at_every_byte(CHUNKED, Act::Stall, |observation, at| match at {
        0 => failed(observation, &[FailureKind::TimedOut], Phase::FirstByte),
        _ => observation.failure.is_none() == (at == CHUNKED.len()),
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reset_at_every_byte() {
    // A reset may overtake the bytes sent before it; only the bytes that were read count.
    for response in [LENGTH, CHUNKED] {
        at_every_byte(response, Act::Reset, move |observation, _| {
            observation.failure.as_ref().is_none_or(|f| {
                [FailureKind::ResponseReset, FailureKind::ResponseTruncated].contains(&f.kind)
                    && matches!(f.phase, Phase::FirstByte | Phase::Transfer)
            })
        })
        .await;
    }
}
