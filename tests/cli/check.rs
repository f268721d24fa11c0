//! `vigie check`: exit codes, words for wrong use, JSON.

use crate::support::{Targets, err, out, vigie};

#[test]
fn exit_codes_follow_the_outcome() {
    let targets = Targets::start();
    let at = targets.at();
    let http = format!("http://{}", at.http);
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let (tcp, dns) = (at.tcp.to_string(), at.dns.to_string());
    for (args, code, word) in [
        (vec!["website", &format!("{http}/"), "--set", "keyword_string=All is well"], 0, "ok: "),
        (vec!["tcp", &tcp], 0, "ok: "),
        (vec!["name-server", &dns, "--set", "name_to_resolve=www.example.test"], 0, "ok: "),
        (
            vec!["website", &format!("{http}/redirect"), "--set", "http_follow_redirects=false"],
            1,
            "warning: ",
        ),
        (vec!["website", &format!("{http}/status/503")], 2, "error: "),
        (vec!["website", &format!("{http}/"), "--set", "keyword_string=absent"], 2, "error: "),
        (vec!["tcp", &closed], 2, "error: "),
        (vec!["tcp", "169.254.169.254:80"], 3, "unknown: "),
        (vec!["security-scan", "http://127.0.0.1/"], 3, "unknown: "),
    ] {
        let output = vigie(&[vec!["check"], args.clone()].concat());
        assert_eq!(output.status.code(), Some(code), "{args:?}\n{}{}", out(&output), err(&output));
        assert!(out(&output).starts_with(word), "{args:?}: {}", out(&output));
        assert!(!out(&output).contains('\x1b'), "colour without a terminal");
    }
}

#[test]
fn wrong_use_names_what_is_wrong_and_the_nearest_name() {
    for (args, words) in [
        (vec!["webiste", "http://x/"], vec!["`webiste`", "did you mean `website`?"]),
        (vec!["website"], vec!["`website`", "name a target"]),
        (vec![], vec!["nothing to check"]),
        (
            vec!["website", "http://x/", "--set", "keywrd_string=a"],
            vec!["`keywrd_string`", "did you mean `keyword_string`?"],
        ),
        (vec!["website", "http://x/", "--set", "timeout"], vec!["has no `=`"]),
        (vec!["website", "http://x/", "--set", "{{token}}"], vec!["sets no variable", "'{{name}}=value'"]),
        (vec!["--file", "a.yaml", "--set", "timeout=5"], vec!["does not go with `--file`"]),
        (
            vec!["website", "http://x/", "--set", "http_headers=[{"],
            vec!["`--set http_headers`", "must be a list"],
        ),
        (vec!["website", "http://x/", "--set", "timeout=31"], vec!["`timeout`", "not `31`"]),
        (vec!["website", "https://x/"], vec!["`url`", "`website-ssl`"]),
        (vec!["tcp", "localhost"], vec!["`port` is required"]),
        (vec!["collection-api", "x"], vec!["--file FILE"]),
        (vec!["--file", "no/such.yaml"], vec!["`no/such.yaml` cannot be read"]),
        (vec!["--config", "no/such.yaml", "tcp", "localhost:1"], vec!["no/such.yaml"]),
        (vec!["--bogus"], vec!["--bogus"]),
    ] {
        let output = vigie(&[vec!["check"], args.clone()].concat());
        assert_eq!(output.status.code(), Some(3), "{args:?}");
        assert_eq!(out(&output), "", "{args:?}");
        for word in words {
            assert!(err(&output).contains(word), "{args:?} lacks {word}: {}", err(&output));
        }
    }
}

#[test]
fn a_file_is_checked_as_a_whole_or_by_name() {
    let targets = Targets::start();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("monitors.yaml");
    let text = format!(
        "- {{key: a, type: tcp, name: echo, billing_plancode: p, hostname: 127.0.0.1, port: {}}}\n\
         - {{type: website, name: broken, billing_plancode: p, url: 'http://{}/status/500'}}\n",
        targets.at().tcp.port(),
        targets.at().http
    );
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();

    let output = vigie(&["check", "--file", file, "--json"]);
    assert_eq!(output.status.code(), Some(2), "{}", err(&output));
    let all: serde_json::Value = serde_json::from_str(&out(&output)).unwrap();
    assert_eq!((&all[0]["outcome"], &all[1]["status"]), (&"ok".into(), &7.into()));
    assert_eq!(all[1]["attempts"].as_array().unwrap().len(), 2);

    for name in ["echo", "a"] {
        let output = vigie(&["check", "--file", file, name, "--json"]);
        assert_eq!(output.status.code(), Some(0), "{}", err(&output));
        let one: serde_json::Value = serde_json::from_str(&out(&output)).unwrap();
        assert_eq!(one["monitor_name"], "echo");
        assert!(one["attempts"][0]["phases"]["connect_us"].is_u64());
    }
    let output = vigie(&["check", "--file", file, "ecko"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(err(&output).contains("did you mean `echo`?"), "{}", err(&output));
}

#[test]
fn a_private_authority_comes_from_the_settings() {
    let targets = Targets::start();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ca.pem"), targets.responder.ca_pem()).unwrap();
    let config = folder.path().join("vigie.yaml");
    let ca = folder.path().join("ca.pem");
    std::fs::write(&config, format!("tls:\n  ca_files: ['{}']\n", ca.display())).unwrap();
    let url = format!("https://localhost:{}/", targets.at().https.port());

    let output = vigie(&["check", "website-ssl", &url]);
    assert_eq!(output.status.code(), Some(2), "{}", out(&output));
    assert!(out(&output).contains("unknown issuer"), "{}", out(&output));
    let output = vigie(&["check", "website-ssl", &url, "--config", config.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}{}", out(&output), err(&output));
    assert!(out(&output).contains("days left"), "{}", out(&output));
}

#[test]
fn a_url_that_is_longer_than_a_name_may_be_is_checked() {
    let targets = Targets::start();
    let url = format!("http://{}/?{}", targets.at().http, "a".repeat(300));
    let output = vigie(&["check", "website", &url]);
    assert_eq!(output.status.code(), Some(0), "{}{}", out(&output), err(&output));
    let output = vigie(&["check", "website", ""]);
    assert_eq!(err(&output), "error: `url` must not be empty\n");
}

#[test]
fn an_option_of_a_later_version_is_refused_and_not_swallowed() {
    let output = vigie(&["check", "tcp", "localhost:1", "--har", "x.har"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(err(&output).contains("unexpected argument '--har'"), "{}", err(&output));
}

#[test]
fn a_check_leaves_from_the_location_that_is_named() {
    let targets = Targets::start();
    let tcp = targets.at().tcp.to_string();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("vigie.yaml");
    std::fs::write(&file, "locations:\n  - {id: 2, name: closed, egress_deny: [127.0.0.0/8]}\n").unwrap();
    let check = |location: &str| {
        let config = file.to_str().unwrap();
        vigie(&["check", "tcp", &tcp, "--json", "--config", config, "--location", location])
    };
    for (location, code) in [("1", 0), ("2", 3)] {
        let output = check(location);
        assert_eq!(output.status.code(), Some(code), "{}{}", out(&output), err(&output));
        let result: serde_json::Value = serde_json::from_str(&out(&output)).unwrap();
        assert_eq!(result["location_id"].to_string(), location);
    }
    let output = check("7");
    assert_eq!(output.status.code(), Some(3));
    assert!(err(&output).contains("there is no location `7`"), "{}", err(&output));
    assert!(err(&output).contains("those of the settings are 1, 2"), "{}", err(&output));
}
