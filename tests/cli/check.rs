//! `vigie check`: exit codes, messages for wrong usage, JSON.

use crate::cli::support::Targets;
use crate::support::binary::{err, out, vigie};

#[test]
fn exit_codes_follow_the_outcome() {
    let targets = Targets::start();
    let at = targets.at();
    let http = format!("http://{}", at.http);
    let closed_port = crate::support::closed::ClosedPort::new();
    let closed = closed_port.at.to_string();
    let (tcp, dns) = (at.tcp.to_string(), at.dns.to_string());
    for (args, code, prefix) in [
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
    ] {
        let output = vigie(&[vec!["check"], args.clone()].concat());
        assert_eq!(output.status.code(), Some(code), "{args:?}\n{}{}", out(&output), err(&output));
        assert!(out(&output).starts_with(prefix), "{args:?}: {}", out(&output));
        assert!(!out(&output).contains('\x1b'), "colour without a terminal");
    }
}

#[test]
fn wrong_usage_names_the_error_and_the_nearest_name() {
    for (args, parts) in [
        (vec!["webiste", "http://x/"], vec!["`webiste`", "did you mean `website`?"]),
        (vec!["website"], vec!["`website`", "name a target"]),
        (vec![], vec!["no type and target given"]),
        (
            vec!["website", "http://x/", "--set", "keywrd_string=a"],
            vec!["`keywrd_string`", "did you mean `keyword_string`?"],
        ),
        (vec!["website", "http://x/", "--set", "timeout"], vec!["has no `=`"]),
        (
            vec!["website", "http://x/", "--set", "{{token}}"],
            vec!["is not a variable assignment", "'{{name}}=value'"],
        ),
        (vec!["--file", "a.yaml", "--set", "timeout=5"], vec!["cannot be used with `--file`"]),
        (
            vec!["website", "http://x/", "--set", "http_headers=[{"],
            vec!["`--set http_headers`", "must be a list"],
        ),
        (vec!["website", "http://x/", "--set", "timeout=31"], vec!["`timeout`", "not `31`"]),
        (vec!["website", "https://x/"], vec!["`url`", "`website-ssl`"]),
        (vec!["htp", "x"], vec!["`htp`", "did you mean `website` or `website-ssl`?"]),
        (vec!["website", "127.0.0.1:8080"], vec!["`url`", "did you mean `http://127.0.0.1:8080/`?"]),
        (vec!["ping", "https://x.test/"], vec!["`hostname`", "did you mean `x.test`?"]),
        (vec!["tcp", "localhost"], vec!["`port` is required"]),
        (vec!["collection-api", "x"], vec!["--file FILE"]),
        (vec!["--file", "no/such.yaml"], vec!["`no/such.yaml` cannot be read"]),
        (vec!["--config", "no/such.yaml", "tcp", "localhost:1"], vec!["no/such.yaml"]),
        (vec!["--bogus"], vec!["--bogus"]),
    ] {
        let output = vigie(&[vec!["check"], args.clone()].concat());
        assert_eq!(output.status.code(), Some(3), "{args:?}");
        assert_eq!(out(&output), "", "{args:?}");
        for part in parts {
            assert!(err(&output).contains(part), "{args:?} lacks {part}: {}", err(&output));
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
fn a_private_authority_is_read_from_the_settings() {
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
fn a_url_longer_than_the_limit_of_names_is_checked() {
    let targets = Targets::start();
    let url = format!("http://{}/?{}", targets.at().http, "a".repeat(300));
    let output = vigie(&["check", "website", &url]);
    assert_eq!(output.status.code(), Some(0), "{}{}", out(&output), err(&output));
    let output = vigie(&["check", "website", ""]);
    assert_eq!(err(&output), "error: `url` must not be empty\n");
}

#[test]
fn the_exchanges_of_a_check_are_written_as_a_har_file() {
    let targets = Targets::start();
    let http = format!("http://{}", targets.at().http);
    let folder = tempfile::tempdir().unwrap();
    let har = folder.path().join("check.har");
    let read = || -> serde_json::Value { serde_json::from_slice(&std::fs::read(&har).unwrap()).unwrap() };
    let file = har.to_str().unwrap();

    // The file is longer than its new content: it must be truncated.
    std::fs::write(&har, " ".repeat(200_000)).unwrap();
    let headers = r#"http_headers=[{"name":"X-Api-Key","value":"hunter2"}]"#;
    let url = format!("{http}/redirect");
    let output = vigie(&["check", "website", &url, "--set", headers, "--har", file]);
    assert_eq!(output.status.code(), Some(0), "{}{}", out(&output), err(&output));
    let log = &read()["log"];
    let entries = log["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 2, "{log}");
    assert_eq!(entries[0]["request"]["url"], url);
    assert_eq!(entries[0]["response"]["redirectURL"], "/");
    assert_eq!(entries[1]["response"]["status"], 200);
    assert!(entries[1]["response"]["content"]["text"].as_str().unwrap().contains("All is well"), "{log}");
    assert!(entries[1]["timings"]["connect"].as_f64().unwrap() > 0.0, "{log}");
    assert!(!log.to_string().contains("hunter2") && log.to_string().contains("********"), "{log}");

    // A type without HTTP: a file without entries, and a message.
    let output = vigie(&["check", "tcp", &targets.at().tcp.to_string(), "--har", file]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    assert!(err(&output).contains("type `tcp` has no HTTP exchanges"), "{}", err(&output));
    assert_eq!(read()["log"]["entries"], serde_json::json!([]));

    // No check is made when the file cannot be written.
    let output = vigie(&["check", "tcp", "127.0.0.1:1", "--har", "/nonexistent/x.har"]);
    assert_eq!((output.status.code(), out(&output).as_str()), (Some(3), ""));
    assert!(err(&output).contains("the HAR file `/nonexistent/x.har` cannot be written"), "{}", err(&output));
}

#[test]
fn a_har_file_has_a_page_for_each_monitor_of_a_file() {
    let targets = Targets::start();
    let http = format!("http://{}", targets.at().http);
    let folder = tempfile::tempdir().unwrap();
    let (monitors, har) = (folder.path().join("monitors.yaml"), folder.path().join("all.har"));
    let text = format!(
        "- {{type: website, name: fine, billing_plancode: p, url: '{http}/'}}\n- {{type: website, name: broken, billing_plancode: p, retry_on_failure: false, url: '{http}/status/503'}}\n",
    );
    std::fs::write(&monitors, text).unwrap();
    let output = vigie(&["check", "--file", monitors.to_str().unwrap(), "--har", har.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2), "{}", err(&output));
    let har: serde_json::Value = serde_json::from_slice(&std::fs::read(&har).unwrap()).unwrap();
    let titles: Vec<_> = har["log"]["pages"].as_array().unwrap().iter().map(|page| &page["title"]).collect();
    assert_eq!(titles, ["fine", "broken"]);
    let entries = har["log"]["entries"].as_array().unwrap();
    let pages_and_statuses: Vec<_> =
        entries.iter().map(|one| (&one["pageref"], &one["response"]["status"])).collect();
    assert_eq!(pages_and_statuses, [(&"page_1".into(), &200.into()), (&"page_2".into(), &503.into())]);
}

#[test]
fn a_check_runs_from_the_given_location() {
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
    assert!(err(&output).contains("location `7` does not exist"), "{}", err(&output));
    assert!(err(&output).contains("locations of the settings: 1, 2"), "{}", err(&output));
}

#[test]
fn collections_and_projects_are_run_as_they_are() {
    let targets = Targets::start();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        file.display().to_string()
    };
    let url = format!("http://{}/", targets.at().http);
    let collection = |extra: &str| {
        format!(
            "{{\"info\": {{\"name\": \"c\"}},\n \"item\": [{{\"name\": \"a\", \"request\": {{\"url\": \"{{{{base}}}}\"{extra}}}, \
             \"event\": [{{\"listen\": \"test\", \"script\": {{\"exec\": [\"pm.test('fine', () => {{}})\"]}}}}]}}]}}"
        )
    };
    let project = |steps: &str| {
        format!(
            "<con:soapui-project name=\"P\" xmlns:con=\"http://eviware.com/soapui/config\"><con:testSuite name=\"S\">\n\
             <con:testCase name=\"C\">{steps}</con:testCase></con:testSuite></con:soapui-project>"
        )
    };
    let request = format!(
        "<con:testStep type=\"httprequest\" name=\"Get\"><con:config method=\"GET\"><con:endpoint>{url}</con:endpoint></con:config></con:testStep>"
    );
    let fine = write("fine.json", &collection(""));
    let odd = write("odd.json", &collection(", \"auth\": {\"type\": \"ntlm\"}"));
    let case = write("case.xml", &project(&request));
    let groovy = write(
        "groovy.xml",
        &project("<con:testStep type=\"groovy\" name=\"G\"><con:config/></con:testStep>"),
    );
    let two = write(
        "two.xml",
        &project(&request).replace("</con:testSuite>", "<con:testCase name=\"D\"/></con:testSuite>"),
    );
    let base = format!("{{{{base}}}}={url}");
    for (args, code, expected) in [
        (vec![fine.as_str(), "--set", &base], 0, "ok: `fine` (collection-api)"),
        (vec![&odd, "--set", &base], 3, "odd.json:2:"),
        (vec![&case], 0, "ok: `case` (api)"),
        (vec![&case, "--set", "test_suite=S", "--set", "test_case=X"], 3, "has no case `X`"),
        (vec![&groovy], 3, "groovy.xml:2:"),
        (vec![&two], 3, "it has several cases; choose one with `--set test_suite=…`"),
        (vec![&two, "--set", "test_suite=S", "--set", "test_case=C"], 0, "ok: `two` (api)"),
    ] {
        let output = vigie(&[&["check", "--file"], args.as_slice()].concat());
        let text = format!("{}{}", out(&output), err(&output));
        assert_eq!(output.status.code(), Some(code), "{args:?}\n{text}");
        assert!(text.contains(expected), "{args:?}: {text}");
    }
}
