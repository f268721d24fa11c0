//! Pages and documents that have no end: what they take of memory is bounded. Each is checked by a process of its own,
//! which tells the most that it ever had.

use std::process::Command;

use serde_json::json;
use tokio_util::sync::CancellationToken;
use vigie::clock::SystemClock;
use vigie::domain::{FailureKind, MonitorType, Observation};
use vigie::net::{Deadline, Net, NetConfig, Roots, TrustConfig};
use vigie::probe::{ProbeContext, ProbeSettings};
use vigie::schema::MonitorDocument;

use crate::page::check::{Check, page};
use crate::page::site::{Reply, Site, bytes, html};

/// What the process under test is told: the case and the URL.
const CASE: &str = "VIGIE_MEMORY_CASE";
const URL: &str = "VIGIE_MEMORY_URL";

const MIB: u64 = 1024 * 1024;

/// The most memory that this process had so far, in bytes, without the pages of its program, of which more are read
/// the more it does.
fn most() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let bytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
    };
    bytes("VmHWM:") - bytes("RssFile:")
}

/// Whether this process is the one under test of `case`; then the URL that it checks.
fn under_test(case: &str) -> Option<String> {
    std::env::var(CASE).is_ok_and(|named| named == case).then(|| std::env::var(URL).unwrap())
}

/// Lets a process of its own run the test `case` on `url`; how many bytes it took beyond what it began with.
async fn taken(case: &'static str, url: &str) -> u64 {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("page::memory::{case}"), "--nocapture"]).env(CASE, case).env(URL, url);
    let out = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(out.status.success(), "{text}{}", String::from_utf8_lossy(&out.stderr));
    let told = text.split("took ").nth(1).unwrap_or_else(|| panic!("nothing was told: {text}"));
    told.split_whitespace().next().unwrap().parse().unwrap()
}

/// Tells what a check took that was made in here.
async fn tell(check: impl Future<Output = ()>) {
    let before = most();
    check.await;
    println!("took {} bytes", most() - before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn objects_without_end_take_no_memory() {
    let case = "objects_without_end_take_no_memory";
    if let Some(url) = under_test(case) {
        return tell(async {
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
        _ => Reply::Endless,
    })
    .await;
    let taken = taken(case, &site.url("/")).await;
    // A MiB of each of the 40 that are searched may be there at once, and what was read of all of them besides.
    assert!(taken < 120 * MIB, "{} MiB", taken / MIB);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_thousand_objects_take_no_memory() {
    let case = "twenty_thousand_objects_take_no_memory";
    if let Some(url) = under_test(case) {
        return tell(async {
            let observation = Check::of(&url).run().await;
            assert_eq!((page(&observation).objects.len(), page(&observation).unlisted), (500, 19_500));
        })
        .await;
    }
    let site = Site::start("127.0.0.1", |path| match path {
        "/" => html((0..20_000).map(|number| format!("<img src=/{number}>")).collect::<String>()),
        _ => bytes(50_000),
    })
    .await;
    let taken = taken(case, &site.url("/")).await;
    assert!(taken < 32 * MIB, "{} MiB", taken / MIB);
}

/// Checks `url` by an XPath.
async fn by_xpath(url: &str) -> Observation {
    let step = json!({
        "step_number": 1, "step_name": "one", "url": url, "http_method": "GET",
        "assertions": [{"source": "XML Response", "property": "count(//a)", "comparison": "equals", "value": "7"}],
    });
    let fields = json!({"api_steps": [step]});
    let document =
        MonitorDocument::new(MonitorType::WebsiteApi, fields.as_object().unwrap().clone()).unwrap();
    let (probe, _) = vigie::probe::build(&document, &ProbeSettings::default());
    let trust = TrustConfig { roots: Roots::None, ..TrustConfig::default() };
    let net = Net::new(&NetConfig { trust, ..NetConfig::default() }).unwrap();
    let deadline = Deadline::within(std::time::Duration::from_mins(1));
    let cancel = CancellationToken::new();
    probe.attempt(ProbeContext::new(&net, deadline, &cancel, &SystemClock)).await
}

/// So many bytes of XML.
fn xml(length: usize) -> Reply {
    let mut body = b"<r>".to_vec();
    while body.len() < length {
        body.extend_from_slice(b"<a b='c'>text</a>");
    }
    body.extend_from_slice(b"</r>");
    Reply::Full(200, "Content-Type: text/xml\r\n".to_owned(), body)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_megabytes_of_xml_take_what_ten_take() {
    let case = "fifty_megabytes_of_xml_take_what_ten_take";
    if let Some(url) = under_test(case) {
        return tell(async {
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
        // Within the bytes that a body may have, and more nodes than a document may have.
        _ => xml(8_000_000),
    })
    .await;
    for path in ["/huge", "/long"] {
        let taken = taken(case, &site.url(path)).await;
        assert!(taken < 64 * MIB, "{path}: {} MiB", taken / MIB);
    }
}
