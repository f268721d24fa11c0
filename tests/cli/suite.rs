//! `vigie test`, and the reports for CI systems that `vigie check` prints too.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;

use crate::cli::support::Targets;
use crate::support::binary::{err, out, program, vigie};

/// Returns a folder with these files of monitors.
fn suite(files: &[(&str, String)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn website(key: &str, url: &str, rest: &str) -> String {
    format!(
        "- {{key: {key}, type: website, name: The {key}, billing_plancode: p, retry_on_failure: false, url: '{url}'{rest}}}\n"
    )
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Answers each request with the status that `status_of` returns for its number, counted from 0.
fn answering_server(mut status_of: impl FnMut(usize) -> &'static str + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for (number, mut stream) in listener.incoming().map_while(Result::ok).enumerate() {
            let _ = stream.read(&mut [0; 4096]);
            let status = status_of(number);
            let _ = write!(stream, "HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        }
    });
    address
}

#[test]
fn a_suite_runs_in_the_order_of_its_files_and_fails_with_a_monitor() {
    let targets = Targets::start();
    let http = format!("http://{}", targets.at().http);
    let names = |output: &str| {
        let lines = output.lines().filter(|line| line.contains("`The "));
        lines.map(|line| line.split('`').nth(1).unwrap().to_owned()).collect::<Vec<_>>()
    };
    let reports = tempfile::tempdir().unwrap();
    let report = reports.path().join("report.xml");
    let mut last_folder = None;
    for jobs in ["1", "8"] {
        // Side by side, the first monitor ends after the second.
        let (sender, receiver) = mpsc::channel();
        let is_side_by_side = jobs == "8";
        let slow = answering_server(move |_| {
            if is_side_by_side {
                receiver.recv().unwrap();
            }
            "200 OK"
        });
        let fine = answering_server(move |_| {
            sender.send(()).unwrap();
            "200 OK"
        });
        let folder = suite(&[
            (
                "b.yaml",
                website("broken", &format!("{http}/status/503"), "")
                    + &website("off", &http, ", enabled: false"),
            ),
            (
                "a.yaml",
                website("slow", &format!("http://{slow}/"), "")
                    + &website("fine", &format!("http://{fine}/"), ""),
            ),
            // Settings are no monitors.
            ("vigie.yaml", "engine: {}\n".to_owned()),
        ]);
        let output = vigie(&["test", text(folder.path()), "--jobs", jobs, "--junit", text(&report)]);
        let printed = out(&output);
        assert_eq!(output.status.code(), Some(1), "{printed}{}", err(&output));
        assert_eq!(names(&printed), ["The slow", "The fine", "The broken", "The off"], "{printed}");
        assert!(printed.contains("skipped  `The off`: it is disabled\n"), "{printed}");
        assert!(printed.contains("\n2 passed, 1 failed, 1 skipped in "), "{printed}");
        assert!(printed.contains("error    `The broken` (website) in "), "{printed}");
        last_folder = Some(folder);
    }
    let folder = last_folder.unwrap();
    let xml = fs::read_to_string(&report).unwrap();
    assert!(xml.contains("tests=\"4\" failures=\"1\" errors=\"0\" skipped=\"1\""), "{xml}");
    assert!(xml.contains("<testcase name=\"The broken\""), "{xml}");

    let passing =
        vigie(&["test", text(folder.path()), "--key", "fine", "--key", "The slow", "--format", "json"]);
    assert_eq!(passing.status.code(), Some(0), "{}{}", out(&passing), err(&passing));
    let cases: Value = serde_json::from_str(&out(&passing)).unwrap();
    assert_eq!(
        (&cases[0]["key"], &cases[1]["key"], &cases[2]),
        (&"slow".into(), &"fine".into(), &Value::Null)
    );
    assert_eq!((&cases[0]["verdict"], &cases[0]["result"]["outcome"]), (&"passed".into(), &"ok".into()));
}

#[test]
fn a_failing_monitor_is_tried_again_as_often_as_asked() {
    for (retries, code, tries) in [("1", 1, 2), ("2", 0, 3), ("9", 0, 3)] {
        let server =
            answering_server(|number| if number < 2 { "500 Internal Server Error" } else { "200 OK" });
        let folder = suite(&[("a.yaml", website("flaky", &format!("http://{server}/"), ""))]);
        let output = vigie(&["test", text(folder.path()), "--retries", retries, "--format", "json"]);
        assert_eq!(output.status.code(), Some(code), "{}{}", out(&output), err(&output));
        let cases: Value = serde_json::from_str(&out(&output)).unwrap();
        assert_eq!(cases[0]["tries"], tries, "{cases}");
    }
}

#[test]
fn wrong_use_and_errors_in_files_have_their_own_code() {
    let folder = suite(&[("a.yaml", website("one", "http://127.0.0.1:1/", ", enabled: false"))]);
    let bad = suite(&[
        ("a.yaml", website("one", "nonsense", "")),
        ("b.yaml", "- {key: x, type: tcp}\n".to_owned()),
    ]);
    let empty = tempfile::tempdir().unwrap();
    let (folder_path, bad_path, empty_path) = (text(folder.path()), text(bad.path()), text(empty.path()));
    for (args, parts) in [
        (vec![], vec!["PATH"]),
        (vec!["/no/such"], vec!["`/no/such` does not exist"]),
        (vec![empty_path], vec!["holds no monitor files"]),
        (vec![bad_path], vec!["a.yaml:1:", "b.yaml:1:"]),
        (vec![folder_path], vec!["every monitor of the suite is disabled", "hint: "]),
        (
            vec![folder_path, "--key", "onne"],
            vec!["no monitor has the key or name `onne`", "did you mean `one`?"],
        ),
        (vec![folder_path, "--type", "tcp"], vec!["none of the 1 monitors"]),
        (vec![folder_path, "--type", "dns"], vec!["did you mean `name-server`?"]),
        (vec![folder_path, "--jobs", "0"], vec!["0 is not in 1..=1000"]),
        (vec![folder_path, "--set", "timeout=5"], vec!["`--set timeout=5` sets no variable"]),
    ] {
        let output = vigie(&[&["test"][..], &args].concat());
        assert_eq!((output.status.code(), out(&output).as_str()), (Some(2), ""), "{args:?} {}", err(&output));
        for part in parts {
            assert!(err(&output).contains(part), "{args:?} lacks {part}: {}", err(&output));
        }
    }
}

#[test]
fn an_interruption_ends_it_and_says_what_did_not_run() {
    let stalling = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", stalling.local_addr().unwrap());
    let (sender, requests) = mpsc::channel();
    std::thread::spawn(move || {
        let mut open = Vec::new();
        for stream in stalling.incoming().map_while(Result::ok) {
            let _ = sender.send(());
            open.push(stream);
        }
    });
    let folder = suite(&[("a.yaml", website("first", &url, ", timeout: 30") + &website("second", &url, ""))]);
    let report = folder.path().join("report.xml");
    for (signal, code) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143)] {
        let mut command = Command::new(program());
        command.args(["test", text(folder.path()), "--jobs", "1", "--junit", text(&report)]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        requests.recv_timeout(std::time::Duration::from_secs(30)).expect("the first check connects");
        kill(Pid::from_raw(child.id().try_into().unwrap()), signal).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}{}", out(&output), err(&output));
        assert!(out(&output).contains("not run  `The first`\nnot run  `The second`\n"), "{}", out(&output));
        assert!(out(&output).contains("0 passed, 0 failed, 2 not run in "), "{}", out(&output));
        assert_eq!(err(&output), "interrupted: without a result are `The first`, `The second`\n");
        let xml = fs::read_to_string(&report).unwrap();
        assert_eq!(xml.matches("<skipped message=\"interrupted\"/>").count(), 2, "{xml}");
    }
}

/// Names that end an element, an attribute, a section of text or the description of a test.
const HOSTILE: &[&str] = &["a]]><b>", "\\\"'&amp;&#0;", "# TODO done", "漢字 🦀", "x|y=1;2"];

#[test]
fn reports_hold_any_name() {
    let closed = crate::support::closed::ClosedPort::new();
    let monitor = |(index, name): (usize, &&str)| {
        let port = closed.at.port();
        let name = serde_json::Value::from(*name);
        format!(
            "{{\"key\": \"k{index}\", \"type\": \"tcp\", \"name\": {name}, \"billing_plancode\": \"p\", \"hostname\": \"127.0.0.1\", \"port\": {port}, \"retry_on_failure\": false}}"
        )
    };
    let monitors: Vec<String> = HOSTILE.iter().enumerate().map(monitor).collect();
    let folder = suite(&[("<&\".json", format!("[{}]", monitors.join(",\n")))]);
    let file = folder.path().join("<&\".json");
    for command in [vec!["check", "--file"], vec!["test"]] {
        let output = vigie(&[&command[..], &[text(&file), "--format", "junit"]].concat());
        assert!(matches!(output.status.code(), Some(1 | 2)), "{}", err(&output));
        let report = folder.path().join("report.xml");
        fs::write(&report, out(&output)).unwrap();
        let parsed = Command::new("xmllint").args(["--noout", text(&report)]).output().unwrap();
        assert!(parsed.status.success(), "{}\n{}", err(&parsed), out(&output));
        let count =
            Command::new("xmllint").args(["--xpath", "count(//testcase/failure)", text(&report)]).output();
        assert_eq!(out(&count.unwrap()).trim(), HOSTILE.len().to_string());

        let output = vigie(&[&command[..], &[text(&file), "--format", "tap"]].concat());
        let tap = out(&output);
        let tests: Vec<&str> = tap.lines().filter(|line| line.starts_with("not ok ")).collect();
        assert_eq!(tests.len(), HOSTILE.len(), "{tap}");
        assert_eq!(tests[2], "not ok 3 - \\# TODO done");
    }
}
