//! Collections that cannot be run: refused or listed with their place, by a check and by the terminal.

use serde_json::{Value, json};
use vigie::domain::FailureKind;
use vigie::probe::ProbeBuildContext;

use super::check::{run, run_fields};
use crate::probe_api::check::failed;

async fn reason_of(script: &str) -> String {
    let fields = json!({"script": script}).as_object().unwrap().clone();
    let observation =
        run_fields(fields, &ProbeBuildContext::default(), std::time::Duration::from_secs(5)).await;
    failed(&observation, FailureKind::ProjectNotStarted, 61).detail.clone()
}

#[tokio::test]
async fn broken_files_are_refused_with_their_place() {
    for (script, expected) in [
        ("{}", "`script` 1:1: this is no collection: it has no `info`"),
        ("{\"requests\": []}", "format 1"),
        ("{\"info\": {}, \"item\": []}", "has no request"),
        (
            "{\"info\": {\"schema\": \"https://x/v9\"}, \"item\": []}",
            "`script` 1:10: the format `https://x/v9` is unknown",
        ),
    ] {
        let reason = reason_of(script).await;
        assert!(reason.contains(expected), "{script}: {reason}");
    }
    for (field, text, expected) in [
        ("environment", "[]", "`environment` 1:1: this is no environment"),
        ("data", "[1]", "`data` 1:2: a row that is no object"),
    ] {
        let mut fields =
            json!({"script": "{\"info\": {}, \"item\": [{\"name\": \"a\", \"request\": \"http://a\"}]}"});
        fields[field] = Value::from(text);
        let fields = fields.as_object().unwrap().clone();
        let observation =
            run_fields(fields, &ProbeBuildContext::default(), std::time::Duration::from_secs(5)).await;
        let failure = failed(&observation, FailureKind::ProjectNotStarted, 61);
        assert!(failure.detail.contains(expected), "{failure}");
    }
}

#[tokio::test]
async fn everything_unsupported_is_listed() {
    let mut items: Vec<Value> = ["oauth1", "hawk", "ntlm", "edgegrid", "asap"]
        .iter()
        .map(|kind| json!({"name": kind, "request": {"url": "http://a", "auth": {"type": kind}}}))
        .collect();
    items.push(json!({"name": "p", "request": {"url": "http://a/{{$randomCatImage}}", "proxy": {"host": "x"}, "certificate": {"name": "c"}}}));
    for call in ["pm.vault.get('a')", "pm.datasets('b')", "pm.execution.runRequest('c')"] {
        items.push(json!({"name": call, "request": "http://a", "event": [{"listen": "test", "script": {"exec": [call]}}]}));
    }
    let observation = run(Value::Array(items)).await;
    let reason = &failed(&observation, FailureKind::ProjectNotStarted, 61).detail;
    for expected in [
        "`hawk`",
        "`oauth1`",
        "`edgegrid`",
        "`proxy`",
        "`certificate`",
        "$randomCatImage",
        "`pm.vault`",
        "`pm.datasets`",
        "runRequest",
    ] {
        assert!(reason.contains(expected), "{expected}: {reason}");
    }
}

#[test]
fn files_with_a_byte_order_mark_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let collection = r#"{"info": {"name": "c"}, "item": [{"name": "ü", "request": "http://a.test/"}]}"#;
    let utf_16: Vec<u8> =
        "\u{feff}".encode_utf16().chain(collection.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    for (name, bytes) in [("8.json", format!("\u{feff}{collection}").into_bytes()), ("16.json", utf_16)] {
        let file = folder.path().join(name);
        std::fs::write(&file, bytes).unwrap();
        let output = crate::support::binary::vigie(&["collection", "check", file.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("1. ü: GET"), "{output:?}");
    }
    let own_file = json!([{"name": "b", "request": "http://a.test/", "event": [{"listen": "test", "script": {"src": "b.js"}}]}]);
    let script = json!({"info": {"name": "c"}, "item": own_file}).to_string();
    std::fs::write(folder.path().join("src.json"), script).unwrap();
    let output = crate::support::binary::vigie(&[
        "collection",
        "check",
        folder.path().join("src.json").to_str().unwrap(),
    ]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("a script in a file of its own"), "{output:?}");
}
