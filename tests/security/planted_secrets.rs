//! Secrets that a target repeats are shown and logged nowhere.

use std::io::{Read, Write};
use std::net::TcpListener;

use serde_json::{Value, json};
use vigie::domain::MonitorType;
use vigie::schema::field::{FieldTable, FieldType};
use vigie::schema::table;

use super::{check_monitor, create};
use crate::daemon::process::{Daemon, command, folder};

/// Every secret field of a monitor type, with the secret planted in it. A new secret field needs a line here.
const PLANTED: &[(&str, &str)] = &[
    ("realm_userid", "planted-realm-user"),
    ("realm_password", "planted-realm/password"),
    ("http_basic_auth_password", "planted-basic-password"),
    ("bearer_token", "planted-bearer-token"),
    ("imap_password", "planted-imap-password"),
    ("pop_password", "planted-pop-password"),
    ("smtp_password", "planted-smtp-password"),
    ("email_password", "planted-mailbox-password"),
    ("ftp_password", "planted-ftp-password"),
    ("transaction_password", "planted-script-password"),
    ("api_key", "planted-provider-key"),
];

fn secret(field: &str) -> &'static str {
    PLANTED.iter().find(|(name, _)| *name == field).unwrap().1
}

fn collect_secret_fields(table: &FieldTable, names: &mut Vec<&'static str>) {
    for field in table.fields() {
        match &field.field_type {
            _ if field.secret => names.push(field.name),
            FieldType::Object(table) | FieldType::List { item_type: FieldType::Object(table), .. } => {
                collect_secret_fields(table, names);
            }
            _ => {}
        }
    }
}

#[test]
fn every_secret_field_is_planted() {
    let mut names = Vec::new();
    for kind in MonitorType::ALL {
        collect_secret_fields(table::for_type(*kind), &mut names);
    }
    for name in names {
        assert!(PLANTED.iter().any(|(planted, _)| *planted == name), "add `{name}` to the table");
    }
}

/// Serves HTTP: every response fails. It repeats the request in its body, and `secrets` there, in the reason and a header.
fn echoing_web_server(secrets: Vec<&'static str>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut request = vec![0; 65_536];
            let length = stream.read(&mut request).unwrap_or(0);
            let request = String::from_utf8_lossy(&request[..length]).into_owned();
            let body = format!("{request}\n{}", secrets.join(" "));
            let response = format!(
                "HTTP/1.1 500 {0}\r\nX-Echo: {0}\r\nContent-Length: {1}\r\nConnection: close\r\n\r\n{body}",
                secrets.join(" "),
                body.len()
            );
            let _ = stream.write_all(response.as_bytes());
        }
    });
    port
}

#[test]
fn secrets_that_a_web_server_repeats_are_shown_and_logged_nowhere() {
    let folder = folder("");
    let child = command(folder.path()).env("VIGIE_LOG_LEVEL", "trace").spawn().unwrap();
    let mut server = Daemon::from_child(child, folder);
    let planted =
        ["planted-url-token", secret("realm_password"), secret("realm_userid"), secret("bearer_token")];
    let (web_port, api_port) =
        (echoing_web_server(planted[..3].to_vec()), echoing_web_server(planted[3..].to_vec()));
    let login = json!({
        "url": format!("http://127.0.0.1:{web_port}/?token=planted-url-token"),
        "realm_userid": secret("realm_userid"), "realm_password": secret("realm_password"),
    });
    let step = json!({
        "url": format!("http://127.0.0.1:{api_port}/"), "step_name": "a", "http_method": "GET",
        "head": {"bearer_token": secret("bearer_token")},
    });
    let mut texts = Vec::new();
    for (kind, fields, own) in
        [("website", login, &planted[..3]), ("website-api", json!({"api_steps": [step]}), &planted[3..])]
    {
        let id = create(&server, 1, kind, fields);
        let result = check_monitor(&server, 1, &id);
        assert_eq!(result["outcome"], "error", "{result:#}");
        texts.push((own, result.to_string()));
        texts.push((own, server.call("GET", &format!("/monitors/{id}"), &Value::Null).1.to_string()));
        texts.push((own, server.get_with_headers(&format!("/monitors/{id}"), "").1));
    }
    for path in ["/audit", "/export", "/results", "/tests"] {
        texts.push((&planted[..], server.call("GET", path, &Value::Null).1.to_string()));
    }
    let mut files: Vec<u8> = Vec::new();
    for entry in std::fs::read_dir(server.folder.path().join("data")).unwrap().map_while(Result::ok) {
        files.extend(std::fs::read(entry.path()).unwrap_or_default());
    }
    texts.push((&planted[..], String::from_utf8_lossy(&files).into_owned()));
    texts.push((&planted[..], server.log_text()));
    for (secrets, text) in texts {
        for secret in secrets {
            let found = text.find(secret);
            let context: String = found.map_or(String::new(), |at| text[at..].chars().take(200).collect());
            assert!(found.is_none(), "`{secret}` at {context}");
        }
    }
}
