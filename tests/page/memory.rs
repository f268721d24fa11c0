//! The memory for endless pages and documents is bounded. Each case runs in its own process, which reports its peak
//! memory.

use std::process::Command;

use serde_json::json;
use tokio_util::sync::CancellationToken;
use vigie::clock::SystemClock;
use vigie::domain::{FailureKind, MonitorType, Observation};
use vigie::net::{Deadline, Net, NetConfig, PublicRoots, TrustConfig};
use vigie::probe::{ProbeBuildContext, ProbeContext};
use vigie::schema::MonitorDocument;

use crate::page::check::{Check, page};
use crate::page::site::{Response, Site, bytes, html};

/// Environment variables for the process under test: the case and the URL.
const CASE: &str = "VIGIE_MEMORY_CASE";
const URL: &str = "VIGIE_MEMORY_URL";

const MIB: u64 = 1024 * 1024;

/// Returns the peak memory of this process in bytes. Mapped program pages are left out, since their number grows with
/// the code that runs.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let bytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
    };
    bytes("VmHWM:") - bytes("RssFile:")
}

/// Returns the URL to check when this process is the one under test of `case`.
fn url_under_test(case: &str) -> Option<String> {
    std::env::var(CASE).is_ok_and(|named| named == case).then(|| std::env::var(URL).unwrap())
}

/// Runs the test `case` on `url` in its own process; returns the bytes that it used beyond its start.
async fn memory_used(case: &'static str, url: &str) -> u64 {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("page::memory::{case}"), "--nocapture"]).env(CASE, case).env(URL, url);
    let out = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(out.status.success(), "{text}{}", String::from_utf8_lossy(&out.stderr));
    let number = text.split("took ").nth(1).unwrap_or_else(|| panic!("nothing was told: {text}"));
    number.split_whitespace().next().unwrap().parse().unwrap()
}

/// Runs `check` and prints the bytes that it used.
async fn print_memory_used(check: impl Future<Output = ()>) {
    let before = peak_memory();
    check.await;
    println!("took {} bytes", peak_memory() - before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn endless_objects_use_bounded_memory() {
    let case = "endless_objects_use_bounded_memory";
    if let Some(url) = url_under_test(case) {
        return print_memory_used(async {
            let observation = Check::of(&url).run().await;
            for object in &page(&observation).objects {
                let kind = object.failure.as_ref().map(|failure| failure.kind);
                assert_eq!(kind, Some(FailureKind::ResponseTooLarge), "{object:?}");
            }
            assert_eq!(page(&observation).objects.len(), 60);
        })
        .await;
    }
    let site = Site::start("127.0.0.1", |path| match path {
        "/" => html(
            (0..20)
                .map(|number| {
                    format!(
                        "<img src=/{number}.png><link rel=stylesheet href=/{number}.css><iframe src=/{number}.html>\
                         </iframe>"
                    )
                })
                .collect::<String>(),
        ),
        _ => Response::Endless,
    })
    .await;
    let memory_used = memory_used(case, &site.url("/")).await;
    // Bodies of up to 1 MiB of the 40 parsed objects may be in memory at once, and the read parts of all 60.
    assert!(memory_used < 120 * MIB, "{} MiB", memory_used / MIB);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_thousand_objects_use_bounded_memory() {
    let case = "twenty_thousand_objects_use_bounded_memory";
    if let Some(url) = url_under_test(case) {
        return print_memory_used(async {
            let observation = Check::of(&url).run().await;
            assert_eq!(
                (page(&observation).objects.len(), page(&observation).unlisted_objects),
                (500, 19_500)
            );
        })
        .await;
    }
    let site = Site::start("127.0.0.1", |path| match path {
        "/" => html((0..20_000).map(|number| format!("<img src=/{number}>")).collect::<String>()),
        _ => bytes(50_000),
    })
    .await;
    let memory_used = memory_used(case, &site.url("/")).await;
    assert!(memory_used < 32 * MIB, "{} MiB", memory_used / MIB);
}

/// Checks `url` with an XPath assertion.
async fn by_xpath(url: &str) -> Observation {
    let step = json!({
        "step_number": 1, "step_name": "one", "url": url, "http_method": "GET",
        "assertions": [{"source": "XML Response", "property": "count(//a)", "comparison": "equals", "value": "7"}],
    });
    let fields = json!({"api_steps": [step]});
    let document =
        MonitorDocument::new(MonitorType::WebsiteApi, fields.as_object().unwrap().clone()).unwrap();
    let (probe, _) = vigie::probe::build_probe(&document, &ProbeBuildContext::default());
    let trust = TrustConfig { public_roots: PublicRoots::None, ..TrustConfig::default() };
    let net = Net::new(&NetConfig { trust_config: trust, ..NetConfig::default() }).unwrap();
    let deadline = Deadline::within(std::time::Duration::from_mins(1));
    let cancel = CancellationToken::new();
    probe.attempt(ProbeContext::new(&net, deadline, &cancel, &SystemClock)).await
}

/// Returns a response with about `length` bytes of XML.
fn xml(length: usize) -> Response {
    let mut body = b"<r>".to_vec();
    while body.len() < length {
        body.extend_from_slice(b"<a b='c'>text</a>");
    }
    body.extend_from_slice(b"</r>");
    Response::Full(200, "Content-Type: text/xml\r\n".to_owned(), body)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_megabytes_of_xml_use_bounded_memory() {
    let case = "fifty_megabytes_of_xml_use_bounded_memory";
    if let Some(url) = url_under_test(case) {
        return print_memory_used(async {
            let kind = by_xpath(&url).await.failure.map(|failure| failure.kind);
            let expected = if url.ends_with("/huge") {
                FailureKind::ResponseTooLarge
            } else {
                FailureKind::AssertionFailed
            };
            assert_eq!(kind, Some(expected));
        })
        .await;
    }
    let site = Site::start("127.0.0.1", |path| match path {
        "/huge" => xml(50_000_000),
        // Fewer bytes than the limit of a body, but more nodes than the limit of a document.
        _ => xml(8_000_000),
    })
    .await;
    for path in ["/huge", "/long"] {
        let memory_used = memory_used(case, &site.url(path)).await;
        assert!(memory_used < 64 * MIB, "{path}: {} MiB", memory_used / MIB);
    }
}
