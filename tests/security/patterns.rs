//! Regular expressions of users take bounded memory, wherever they stand.

use std::io::Write;
use std::net::TcpListener;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::{check_monitor, create, server_with_other_account};
use crate::daemon::process::Daemon;

/// Takes 10 MiB or more when it is compiled.
const HUGE: &str = r"(?:\w{30}.){20}";

/// Returns the resident memory of the server, in MiB.
fn resident_mib(server: &Daemon) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.process_id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() / 1024
}

/// Accepts connections until the test ends, and sends a line to each.
fn greeting_service() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || (&stream).write_all(b"220 ready\r\n"));
        }
    });
    port
}

#[test]
fn a_huge_pattern_is_refused_wherever_it_stands() {
    let (server, other) = server_with_other_account();
    let step = |fields: Value| {
        let mut step =
            json!({"step_name": "a", "url": "http://example.com/", "http_method": "GET", "head": {}});
        step.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        json!({"api_steps": [step]})
    };
    let assertion = json!({"source": "Response", "comparison": "regular expression includes", "value": HUGE});
    let variable = json!({"name": "v", "source": "Response", "property": HUGE});
    let script = format!(
        "<script><step name=\"a\"><open url=\"http://example.com/\"/>\
                          <wait-for-url matches=\"{HUGE}\"/></step></script>"
    );
    for (kind, fields, field) in [
        (
            "tcp",
            json!({"hostname": "example.com", "port": 25, "dialogue": [{"expect": HUGE}]}),
            "dialogue[0].expect",
        ),
        (
            "website",
            json!({"url": "http://example.com/", "keyword_string": HUGE, "keyword_match_type": "Regular Expression"}),
            "keyword_string",
        ),
        ("website-api", step(json!({"assertions": [assertion]})), "api_steps[0].assertions[0].value"),
        ("website-api", step(json!({"variables": [variable]})), "api_steps[0].variables[0].property"),
    ] {
        let mut body = json!({"billing_plancode": "basic", "name": kind});
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let (status, response) = server.call_in(other, "POST", &format!("/monitors/{kind}"), &body);
        let text = response.to_string();
        assert_eq!(status, 400, "{text}");
        assert!(text.contains(field) && text.contains("compiled it takes more than the limit"), "{text}");
    }
    // A script is stored with a warning, as one with a syntax error is.
    let body = json!({"billing_plancode": "basic", "name": "script", "script": script});
    let (_, response) = server.call_in(other, "POST", "/monitors/browserscript", &body);
    assert!(response.to_string().contains("compiled it takes more than the limit"), "{response}");
}

#[test]
fn many_patterns_of_one_account_take_bounded_memory() {
    let (server, other) = server_with_other_account();
    let port = greeting_service();
    let dialogue = |index: u32| -> Vec<Value> {
        (0..10)
            .map(|line| json!({"expect": format!("{index}x{line}|22|[a-z0-9]{{2000}}|\\w{{10}}")}))
            .collect()
    };
    let before = resident_mib(&server);
    for index in 0..20 {
        let fields = json!({"hostname": "127.0.0.1", "port": port, "dialogue": dialogue(index)});
        let id = create(&server, 1, "tcp", fields.clone());
        let result = check_monitor(&server, 1, &id);
        assert!(result.to_string().contains("step 2 expects"), "{result:#}");
        create(&server, other, "tcp", fields);
    }
    let growth = resident_mib(&server).saturating_sub(before);
    assert!(growth < 64, "{growth} MiB");
}

#[test]
fn a_stored_pattern_that_is_too_large_gives_unknown_and_names_its_field() {
    let (mut server, _) = server_with_other_account();
    let port = greeting_service();
    let fields =
        json!({"hostname": "127.0.0.1", "port": port, "dialogue": [{"expect": "220"}, {"expect": "ready"}]});
    let id = create(&server, 1, "tcp", fields);
    assert_eq!(check_monitor(&server, 1, &id)["outcome"], "ok");
    server.signal(Signal::SIGTERM);
    server.wait_for_exit();
    let path = server.folder.path().join("data/vigie.db");
    let database = rusqlite::Connection::open(path).unwrap();
    // As an earlier version stored it.
    let sql = "UPDATE monitors SET document = json_set(document, '$.dialogue[1].expect', ?1) WHERE id = ?2";
    assert_eq!(database.execute(sql, (HUGE, id.parse::<i64>().unwrap())).unwrap(), 1);
    drop(database);
    server.start_again();
    let result = check_monitor(&server, 1, &id);
    assert_eq!((&result["status"], &result["outcome"]), (&json!(95), &json!("unknown")), "{result:#}");
    let reason = result["reasons"][0].as_str().unwrap();
    assert!(reason.contains("`dialogue[1].expect` cannot be used: compiled it takes"), "{reason}");
}
