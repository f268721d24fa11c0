//! CPU of an API check of ten steps, against the same ten requests and nothing else. The server is a separate process;
//! on this side all threads count. Only the ratio counts; both sides alternate.
//!
//! `cargo bench --bench steps` takes the median of 9 rounds; `-- --quick` of 3 smaller ones. It exits with 1 when
//! the ratio is over its limit.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, missing_docs)]

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, header};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use vigie::domain::MonitorType;

use cpu::{alternate, attempt, net, probe, report};
use web::{handshake, serve, start_server, stream};

#[path = "support/allocator.rs"]
mod allocator;
#[path = "support/cpu.rs"]
mod cpu;
#[path = "support/web.rs"]
mod web;

/// Greatest accepted ratio.
const STEPS: f64 = 1.3;
/// Steps of the check.
const COUNT: u32 = 10;

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    if std::env::args().any(|arg| arg == "--serve") {
        runtime.block_on(serve(answer));
        return ExitCode::SUCCESS;
    }
    let quick = std::env::args().any(|arg| arg == "--quick");
    let (rounds, checks) = if quick { (3, 200) } else { (9, 1_000) };
    let (_server, at) = start_server();
    let ratio = runtime.block_on(compare(at, rounds, checks));
    println!("{}", if ratio <= STEPS { "the bound holds" } else { "THE BOUND DOES NOT HOLD" });
    if ratio <= STEPS { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn compare(at: SocketAddr, rounds: usize, checks: u32) -> f64 {
    let net = net();
    let probe = probe(MonitorType::WebsiteApi, monitor(at));
    let ours = async || {
        let observation = attempt(&net, probe.as_ref(), Duration::from_secs(30)).await;
        assert!(observation.failure.is_none(), "{:?}", observation.failure);
        assert_eq!(observation.details.steps.len(), COUNT as usize);
    };
    let bare = async || {
        for number in 1..=COUNT {
            bare(at, number).await;
        }
    };
    let costs = alternate(rounds, checks, ours, bare).await;
    println!("a check of {COUNT} steps with JSON assertions and a variable, {checks} a round:");
    report("API check", "the bare requests", &costs, checks, STEPS)
}

/// Returns ten requests; the first response sets a variable that the others send, each response has two assertions.
fn monitor(at: SocketAddr) -> Value {
    let step = |number: u32| {
        let headers =
            if number == 1 { json!([]) } else { json!([{"name": "X-Token", "value": "{{token}}"}]) };
        let variables = if number == 1 {
            json!([{"name": "token", "property": "$.token", "source": "JSON Response"}])
        } else {
            json!([])
        };
        let assertion = |source: &str, property: &str, value: String| json!({"source": source, "property": property, "comparison": "equals", "value": value});
        json!({
            "url": format!("http://{at}/items/{number}"), "http_method": "GET", "step_number": number,
            "step_name": format!("item {number}"), "head": {"headers": headers}, "variables": variables,
            "assertions": [
                assertion("Status Code", "", "200".to_owned()),
                assertion("JSON Response", "$.id", number.to_string()),
            ],
        })
    };
    json!({"name": "items", "api_steps": (1..=COUNT).map(step).collect::<Vec<_>>()})
}

/// The least work for one request: its own connection, a deadline, the whole response, and an orderly close.
async fn bare(at: SocketAddr, number: u32) {
    let request_once = async {
        let (mut sender, driver) = handshake(stream(at).await).await;
        let request = Request::get(format!("/items/{number}"))
            .header(header::HOST, at.to_string())
            .header(header::USER_AGENT, "bare")
            .header(header::CONNECTION, "close")
            .body(Full::<Bytes>::default())
            .unwrap();
        let response = sender.send_request(request).await.unwrap();
        assert_eq!(response.status(), 200);
        let body = response.into_body().collect().await.unwrap().to_bytes();
        assert!(body.len() > 500);
        drop(sender);
        driver.await.unwrap().unwrap();
    };
    tokio::time::timeout(Duration::from_secs(30), request_once).await.unwrap();
}

/// Returns the item whose id ends `path`.
fn answer(path: &str) -> (&'static str, Bytes) {
    let id: u32 = path.rsplit('/').next().unwrap().parse().unwrap();
    let rows: Vec<_> = (0..20).map(|row| json!({"row": row, "name": "a name of some length"})).collect();
    let body = json!({"id": id, "token": "0123456789abcdef", "rows": rows}).to_string();
    ("application/json", Bytes::from(body))
}
