//! `vigie check` as a plugin of Nagios: names of links, thresholds, time limit, what its output never holds.

use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::process::{Command, Output};

use crate::cli::support::Targets;
use crate::support::binary::{err, out, program, vigie};

/// Runs the binary by the name `name` with `args`.
fn plugin(name: &str, args: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join(name);
    symlink(fs::canonicalize(program()).unwrap(), &link).unwrap();
    let mut command = Command::new(link);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("VIGIE_")) {
        command.env_remove(name);
    }
    command.args(args).output().unwrap()
}

#[test]
fn a_link_checks_its_type_and_prints_performance_data() {
    let targets = Targets::start();
    let url = format!("http://{}/", targets.at().http);
    let output = plugin("check_vigie_website", &[&url, "-w", "20", "-c", "30", "--critical", "size=1:"]);
    let text = out(&output);
    assert_eq!((output.status.code(), err(&output).as_str()), (Some(0), ""), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    let (summary, data) = text.trim_end().split_once(" | ").unwrap();
    assert!(summary.starts_with(&format!("OK: {url}: HTTP/1.1 200, ")), "{summary}");
    let labels: Vec<&str> = data.split(' ').map(|one| one.split('=').next().unwrap()).collect();
    for label in ["time", "resolve", "connect", "first_byte", "transfer", "size"] {
        assert!(labels.contains(&label), "{label}: {data}");
    }
    let datum = |label: &str| data.split(' ').find(|one| one.starts_with(&format!("{label}="))).unwrap();
    assert!(datum("time").ends_with("s;20;30;0"), "{data}");
    assert!(datum("size").ends_with("B;;1:;0"), "{data}");

    let port = targets.at().tcp.to_string();
    let output = plugin("check_vigie", &["tcp", &port, "-vv"]);
    assert!(out(&output).starts_with(&format!("OK: {port}: in ")), "{}", out(&output));
    let version = plugin("check_vigie_tcp", &["-V"]);
    assert!(version.status.success() && out(&version).starts_with("vigie "), "{}", out(&version));
}

#[test]
fn outcomes_and_thresholds_have_the_codes_of_nagios() {
    let targets = Targets::start();
    let http = format!("http://{}", targets.at().http);
    let closed = crate::support::closed::ClosedPort::new();
    let (fine, failing, closed) = (format!("{http}/"), format!("{http}/status/503"), closed.at.to_string());
    for (args, code, start) in [
        (vec!["website", &fine], 0, "OK: "),
        (vec!["website", &fine, "-w", "@0:60"], 1, "WARNING: "),
        (vec!["website", &fine, "-w", "@0:60", "-c", "@0:60"], 2, "CRITICAL: "),
        (vec!["website", &fine, "-w", "first_byte=60:"], 1, "WARNING: "),
        (vec!["website", &fine, "-c", "cert_days=14:"], 3, "UNKNOWN: "),
        (vec!["website", &failing, "-w", "60"], 2, "CRITICAL: "),
        (vec!["tcp", &closed, "-c", "@0:60"], 2, "CRITICAL: "),
        (vec!["tcp", "169.254.169.254:80", "-c", "@0:60"], 3, "UNKNOWN: "),
    ] {
        let output = vigie(&[&["check", "--format", "nagios"][..], &args].concat());
        assert_eq!(output.status.code(), Some(code), "{args:?}\n{}{}", out(&output), err(&output));
        assert!(out(&output).starts_with(start) && out(&output).contains(" | time="), "{}", out(&output));
        assert_eq!(err(&output), "");
        // The exit code is the same in every format.
        let text = vigie(&[&["check"][..], &args].concat());
        assert_eq!(text.status.code(), Some(code), "{args:?}\n{}{}", out(&text), err(&text));
    }
}

#[test]
fn loss_round_trip_and_days_of_a_certificate_have_thresholds() {
    let targets = Targets::start();
    let folder = tempfile::tempdir().unwrap();
    let (ca, config) = (folder.path().join("ca.pem"), folder.path().join("vigie.yaml"));
    fs::write(&ca, targets.responder.ca_pem()).unwrap();
    fs::write(&config, format!("tls: {{ca_files: ['{}']}}\n", ca.display())).unwrap();
    let url = format!("https://localhost:{}/", targets.at().https.port());
    let config = ["--config", config.to_str().unwrap(), "--critical", "cert_days=100000:"];
    let output = plugin("check_vigie_website_ssl", &[&[url.as_str()][..], &config].concat());
    assert_eq!(output.status.code(), Some(2), "{}", out(&output));
    assert!(
        out(&output).contains("`cert_days` is ") && out(&output).contains(" cert_days="),
        "{}",
        out(&output)
    );
    assert!(out(&output).contains(" tls="), "{}", out(&output));

    let output =
        plugin("check_vigie_ping", &["127.0.0.1", "--set", "ping_count=1", "-w", "pl=@0", "-c", "rta=5000"]);
    let text = out(&output);
    // Where the host permits no echo requests, nothing was measured.
    if output.status.code() == Some(3) && text.contains("permit") {
        crate::support::lacking::lacks("ping as a plugin", "echo requests", "set net.ipv4.ping_group_range");
        return;
    }
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains(" pl=0%;@0") && text.contains(" rta="), "{text}");
}

#[test]
fn a_time_limit_ends_the_check_with_its_state() {
    let stalling = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", stalling.local_addr().unwrap());
    // It reads requests, and never answers.
    std::thread::spawn(move || {
        let mut open = Vec::new();
        for stream in stalling.incoming().map_while(Result::ok) {
            let mut first = [0; 1];
            let mut stream = stream;
            let _ = stream.read(&mut first);
            open.push(stream);
        }
    });
    for (limit, code, word) in [("0.3", 3, "UNKNOWN"), ("0.3:critical", 2, "CRITICAL"), ("0.3:0", 0, "OK")] {
        let output = plugin("check_vigie_website", &[&url, "-t", limit, "-v"]);
        assert_eq!(output.status.code(), Some(code), "{}{}", out(&output), err(&output));
        assert!(out(&output).starts_with(&format!("{word}: ")), "{}", out(&output));
        if code != 0 {
            assert!(out(&output).contains("no result within 0.3 s (`--timeout`)"), "{}", out(&output));
        }
    }
}

#[test]
fn wrong_use_of_a_plugin_is_unknown_on_standard_output() {
    for (args, parts) in [
        (
            vec!["website", "http://x/", "-w", "abc"],
            vec!["`abc` is not a range: `abc` is not a number", "hint: "],
        ),
        (vec!["website", "http://x/", "-c", "5:1"], vec!["its start 5 is above its end 1"]),
        (vec!["website", "http://x/", "-w", "conect=1"], vec!["did you mean `connect`?"]),
        (vec!["website", "http://x/", "-w", "1", "-w", "2"], vec!["`--warning` is given twice for `time`"]),
        (vec!["website", "http://x/", "-t", "5:bad"], vec!["`bad` is not a state"]),
        (vec!["htp", "x"], vec!["did you mean `website` or `website-ssl`?"]),
        (vec!["website"], vec!["no target"]),
        (vec!["--bogus"], vec!["--bogus"]),
        (vec!["website", "-H", "x.test"], vec!["'-H'"]),
        (vec!["tcp", "a\u{1b}[31m|b:1"], vec!["`hostname` must be", "[31m/b`"]),
        (vec!["--file", "/no/such.yaml"], vec!["`/no/such.yaml` cannot be read"]),
    ] {
        let output = plugin("check_vigie", &args);
        assert_eq!((output.status.code(), err(&output).as_str()), (Some(3), ""), "{args:?} {}", out(&output));
        let text = out(&output);
        assert!(text.starts_with("UNKNOWN: ") && !text.contains(['|', '\u{1b}']), "{args:?}: {text}");
        for part in parts {
            assert!(text.contains(part), "{args:?} lacks {part}: {text}");
        }
    }
    let verbose = vigie(&["check", "tcp", "127.0.0.1:1", "-v"]);
    assert_eq!(verbose.status.code(), Some(3));
    assert!(err(&verbose).contains("`--verbose` is for `--format nagios`"), "{}", err(&verbose));
}

#[test]
fn no_format_prints_a_secret() {
    let targets = Targets::start();
    let http = targets.at().http;
    let url = format!("http://anna:hunter2@{http}/status/503");
    let password = format!("{http}/status/401");
    for format in ["text", "json", "nagios", "junit", "tap"] {
        let format = ["--format", format];
        let verbose: &[&str] = if format[1] == "nagios" { &["-vvv"] } else { &[] };
        let first = vigie(&[&["check", "website", &url], &format[..], verbose].concat());
        let secret = ["--set", "realm_userid=anna", "--set", "realm_password=hunter2"];
        let target = format!("http://{password}");
        let second = vigie(&[&["check", "website", &target], &secret[..], &format, verbose].concat());
        for output in [first, second] {
            let text = out(&output) + &err(&output);
            assert_eq!(output.status.code(), Some(2), "{format:?}: {text}");
            assert!(!text.contains("hunter2") && text.contains("status"), "{format:?}: {text}");
        }
    }
}
