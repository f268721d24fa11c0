//! What is read of a collection, and what is refused.

use serde_json::json;

use super::*;

fn parsed(items: serde_json::Value) -> Collection {
    let schema = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";
    parse_collection(&json!({"info": {"name": "Shop", "schema": schema}, "item": items}).to_string()).unwrap()
}

#[test]
fn folders_are_walked_in_order_and_pass_on_what_they_hold() {
    let text = r#"{
        "info": {"name": "Shop", "schema": "https://schema.getpostman.com/json/collection/v2.0.0/collection.json"},
        "auth": {"type": "bearer", "bearer": {"token": "root"}},
        "variable": [{"key": "a", "value": 1}, {"key": "off", "value": 2, "disabled": true}, {"key": "k", "value": "s3", "type": "secret"}],
        "event": [{"listen": "prerequest", "script": {"exec": ["one();", "two();"]}}],
        "protocolProfileBehavior": {"disableCookies": true, "maxRedirects": 3},
        "item": [
            {"name": "Read", "request": "http://a.test/"},
            {"name": "Folder", "auth": null, "event": [{"listen": "test", "script": {"exec": "folder()"}},
                                                       {"listen": "test", "disabled": true, "script": {"exec": "no()"}}],
             "item": [{"name": "Write", "id": "w1", "protocolProfileBehavior": {"followRedirects": false, "strictSSL": false,
                                                            "disabledSystemHeaders": {"Accept": true, "user-agent": false}},
                       "event": [{"listen": "test", "script": {"exec": ["own()"]}}],
                       "request": {"method": "POST", "url": "http://b.test", "auth": {"type": "basic", "basic": {}}}}]}]}"#;
    let collection = parse_collection(text).unwrap();
    assert_eq!(collection.unsupported, []);
    assert_eq!(collection.variables, [("a".to_owned(), json!(1)), ("k".to_owned(), json!("s3"))]);
    assert_eq!(collection.secret_values, ["s3"]);
    let [read, write] = &collection.requests[..] else { panic!() };
    assert_eq!(
        (read.name.as_str(), &read.request, read.folders.len()),
        ("Read", &json!({"url": "http://a.test/"}), 0)
    );
    assert_eq!(read.auth.as_ref().unwrap()["type"], "bearer");
    assert_eq!(&*read.prerequest_scripts[0].code, "one();\ntwo();");
    assert_eq!((read.behavior.disable_cookies, read.behavior.max_redirects), (true, 3));
    assert_eq!((write.id.as_str(), &write.folders[..]), ("w1", &["Folder".to_owned()][..]));
    assert_eq!(write.auth.as_ref().unwrap()["type"], "basic");
    let codes: Vec<&str> = write.test_scripts.iter().map(|script| &*script.code).collect();
    assert_eq!(codes, ["folder()", "own()"]);
    assert_eq!(&*write.test_scripts[1].owner, "Folder / Write");
    assert_eq!(
        write.behavior,
        ProtocolBehavior {
            follow_redirects: false,
            verify_certificates: Some(false),
            disable_cookies: true,
            max_redirects: 3,
            disabled_headers: vec!["accept".to_owned()],
            ..ProtocolBehavior::default()
        }
    );
}

#[test]
fn what_is_not_supported_is_listed_with_its_place() {
    let collection = parsed(json!([
        {"name": "Old", "request": {"url": "http://a.test/{{$randomCatImage}}", "auth": {"type": "hawk"},
                                    "proxy": {"host": "p"}, "body": {"mode": "stream"}}},
        {"name": "Vault", "event": [{"listen": "test", "script": {"exec": ["await pm.vault.get('x')"]}},
                                    {"listen": "test", "script": {"src": "lib.js"}}], "request": "http://a.test"},
    ]));
    let lines: Vec<String> = collection.unsupported.iter().map(ToString::to_string).collect();
    assert_eq!(lines.len(), 6, "{lines:#?}");
    for (line, expected) in lines.iter().zip([
        "`Old`: the login `hawk` is not supported",
        "`Old`: `proxy` of a request",
        "`Old`: the body mode `stream`",
        "`Old`: the dynamic variable `{{$randomCatImage}}`",
        "`Vault`: `pm.vault` in a script",
        "`Vault`: a script in a file of its own",
    ]) {
        assert!(line.starts_with("1:") && line.contains(expected), "{line}");
    }
}

#[test]
fn other_files_are_refused_with_their_place() {
    for (text, expected) in [
        ("", "1:"),
        ("{\"info\": {}, \"item\": ", "1:"),
        ("[]", "1:1: this is no collection: it has no `info`"),
        ("{\"name\": \"x\", \"requests\": []}", "1:1: this is a collection of format 1"),
        ("{\"info\": {\"schema\": \"https://x/collection/v3.0\"}, \"item\": []}", "1:10: the format"),
        ("{\"info\": {}}", "1:1: this is no collection: it has no list `item`"),
    ] {
        let error = parse_collection(text).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{text}: {error}");
    }
    let items: Vec<_> =
        (0..=MAX_REQUESTS).map(|n| json!({"name": n.to_string(), "request": "http://a"})).collect();
    let text = json!({"info": {"name": "x"}, "item": items}).to_string();
    assert!(parse_collection(&text).unwrap_err().message.contains("more than 2000 requests"));
}
