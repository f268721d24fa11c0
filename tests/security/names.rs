//! Names take no characters that make them look like others, or that control a terminal.

use serde_json::json;

use super::server_with_other_account;

#[test]
fn names_take_no_control_or_bidi_characters() {
    let (server, _) = server_with_other_account();
    let website = |name: &str| json!({"billing_plancode": "basic", "name": name, "url": "http://192.0.2.1/"});
    let user =
        |name: &str| json!({"login": "anna", "name": name, "role": "READONLY", "password": "correct horse"});
    let recipient = |name: &str| json!({"name": name, "recipient": "anna@a.example"});
    let group = |name: &str| json!({"name": name});
    for hostile in ["a\u{202e}b", "a\u{2066}b", "a\u{200f}b", "a\u{1b}[2Jb", "a\nb", "a\u{2028}b", "a\u{9b}b"]
    {
        for (path, body) in [
            ("/monitors/website", website(hostile)),
            ("/users", user(hostile)),
            ("/users", json!({"login": hostile, "role": "READONLY", "password": "correct horse"})),
            ("/recipients", recipient(hostile)),
            ("/notifier-groups", group(hostile)),
            ("/customers", group(hostile)),
            ("/locations", group(hostile)),
        ] {
            let (status, response) = server.call("POST", path, &body);
            assert_eq!(status, 400, "{path} {hostile:?}: {response}");
            assert!(response.to_string().contains("control characters"), "{path} {hostile:?}: {response}");
        }
    }
    for name in ["Zoë 漢字", "שלום", "a – b 'c' \"d\""] {
        assert_eq!(server.call("POST", "/monitors/website", &website(name)).0, 200, "{name}");
    }
}
