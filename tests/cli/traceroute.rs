//! `vigie traceroute`: text, JSON, exit codes.

use crate::support::binary::{err, out, vigie};

#[test]
fn the_route_to_this_host_has_one_hop() {
    let output = vigie(&["traceroute", "--udp", "localhost", "-4"]);
    assert_eq!(output.status.code(), Some(0), "{}{}", out(&output), err(&output));
    let text = out(&output);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert_eq!(lines[0], "traceroute to localhost (127.0.0.1) over UDP");
    assert!(lines[1].starts_with("  1  127.0.0.1  ") && lines[1].ends_with(" ms"), "{text}");
    assert_eq!(lines[2], "the target replied (after 1 hop)");
}

#[test]
fn json_output_has_every_reply() {
    let output = vigie(&["traceroute", "--udp", "--queries", "3", "--json", "::1"]);
    assert_eq!(output.status.code(), Some(0), "{}{}", out(&output), err(&output));
    let report: serde_json::Value = serde_json::from_str(&out(&output)).unwrap();
    assert_eq!(
        (&report["host"], &report["address"], &report["method"]),
        (&"::1".into(), &"::1".into(), &"udp".into())
    );
    let answers = report["hops"][0]["answers"].as_array().unwrap();
    assert_eq!(answers.len(), 3);
    assert!(answers.iter().all(|answer| answer["from"] == "::1" && answer["rtt_us"].is_u64()), "{report}");
    assert_eq!(report["end"], "reached");
}

#[test]
fn invalid_targets_are_refused_with_the_reason() {
    for (args, code, text) in [
        (vec!["traceroute"], 2, "HOST"),
        (vec!["traceroute", "--udp", "--icmp", "::1"], 2, "cannot be used with"),
        (vec!["traceroute", "--max-hops", "65", "::1"], 2, "65 is not in 1..=64"),
        (vec!["traceroute", "-6", "127.0.0.1"], 1, "`127.0.0.1` is not of the configured family"),
        (vec!["traceroute", "169.254.169.254"], 1, "denied by the egress rule"),
    ] {
        let output = vigie(&args);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {}", err(&output));
        assert!(err(&output).contains(text), "{args:?}: {}", err(&output));
        assert_eq!(out(&output), "", "{args:?}");
    }
}
