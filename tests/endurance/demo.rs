//! The first command of the README: within a minute, a newcomer sees results of all five types.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::endurance::daemon::{Daemon, vigie};

const TYPES: [&str; 5] = ["name-server", "ping", "tcp", "website", "website-ssl"];
/// A minute, and time to start.
const TIME_LIMIT: Duration = Duration::from_secs(75);

#[test]
fn the_demo_shows_real_results_of_all_five_types_within_a_minute() {
    let started = Instant::now();
    let server = Daemon::start(&["--demo"]);
    let url = format!("http://{}/", server.address);
    loop {
        let results = results(&url);
        let passed: BTreeSet<&str> =
            results.iter().filter(|r| r["outcome"] == "ok").filter_map(|r| r["type"].as_str()).collect();
        if TYPES.iter().all(|kind| passed.contains(kind)) {
            break;
        }
        assert!(started.elapsed() < TIME_LIMIT, "results of {passed:?} only: {results:#?}");
        std::thread::sleep(Duration::from_millis(250));
    }
    // Only the monitors that are meant to fail do so: the one that is always red, and the one that fails at times.
    for result in results(&url) {
        let expected = ["Name that is gone", "Checkout that fails now and then"];
        let name = result["monitor_name"].as_str().unwrap();
        assert!(result["outcome"] == "ok" || expected.contains(&name), "{result:#}");
    }
    let cookie = sign_in(&server, &url);
    // The page shows states with a delay of up to a second.
    let page = loop {
        let (head, page) = server.request("GET", "/", &cookie, "").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        if ["Shop front page", "Account page over HTTPS", "Order queue port", "This host"]
            .iter()
            .chain(&["Internal name server"])
            .all(|name| shows_ok(&page, name))
        {
            break page;
        }
        assert!(started.elapsed() < TIME_LIMIT, "{page}");
        std::thread::sleep(Duration::from_millis(250));
    };
    assert!(TYPES.iter().all(|kind| page.contains(&format!(">{kind}<"))), "{page}");
}

/// Whether the row of the monitor with this name shows ok.
fn shows_ok(page: &str, name: &str) -> bool {
    page.split("<tr").any(|row| row.contains(name) && row.contains(">ok<"))
}

/// Signs in with a link of `vigie open` and returns the header with the cookie.
fn sign_in(server: &Daemon, url: &str) -> String {
    let output = vigie().args(["open", "--server", url]).output().unwrap();
    let link = String::from_utf8(output.stdout).unwrap();
    let token = link.trim().strip_prefix(&format!("{url}sign-in/link?token=")).unwrap();
    let (head, _) =
        server.request("POST", "/sign-in/link", "Origin: null\r\n", &format!("token={token}")).unwrap();
    let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    format!("Cookie: {}\r\n", cookie.split(';').next().unwrap())
}

/// Returns what `vigie results` prints for the server at `url`.
fn results(url: &str) -> Vec<Value> {
    let output = vigie().args(["results", "--server", url, "--limit", "1000", "--json"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}
