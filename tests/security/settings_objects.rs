//! Proxies and certificates of the settings are for the accounts that the settings name.

use std::fs;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::{check_monitor, server_with_other_account};
use crate::daemon::process::{Daemon, command};
use crate::support::binary::{out, vigie};
use crate::support::tls_server::Authority;

/// Starts `server` again with `settings`.
fn restart_with(mut server: Daemon, settings: &str) -> Daemon {
    server.signal(Signal::SIGTERM);
    server.wait_for_exit();
    let folder = std::mem::replace(&mut server.folder, tempfile::tempdir().unwrap());
    let file = folder.path().join("vigie.yaml");
    // The data folder is the flag's; `vigie config check` reads it here.
    let data = folder.path().join("data").display().to_string();
    fs::write(&file, format!("{settings}data: '{data}'\n")).unwrap();
    let mut command = command(folder.path());
    command.arg("--config").arg(&file);
    Daemon::from_child(command.spawn().unwrap(), folder)
}

fn website(fields: &Value) -> Value {
    let mut body = json!({"billing_plancode": "basic", "name": "Through", "url": "https://target.test/",
                          "retry_on_failure": false});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    body
}

#[test]
fn other_accounts_use_only_the_proxies_and_certificates_that_name_them() {
    let (server, other) = server_with_other_account();
    let ca = rcgen::generate_simple_self_signed(["ca.test".to_owned()]).unwrap().cert.pem();
    let ca_file = server.folder.path().join("ca.pem");
    fs::write(&ca_file, ca).unwrap();
    let settings = |accounts: &str| {
        format!(
            "proxies: [{{id: 7, kind: http, server: 'proxy.test:1'{accounts}}}]\n\
             certificates: [{{id: 8, name: ours, ca_file: '{}'{accounts}}}]\n",
            ca_file.display()
        )
    };
    let server = restart_with(server, &settings(&format!(", accounts: [{other}]")));
    let ids: Vec<String> = [json!({"proxy_id": 7}), json!({"ca_cert_id": 8})]
        .iter()
        .map(|fields| {
            let (status, response) = server.call_in(other, "POST", "/monitors/website-ssl", &website(fields));
            assert_eq!(status, 200, "{response}");
            response["id"].as_str().unwrap().to_owned()
        })
        .collect();
    let server = restart_with(server, &settings(""));
    for (fields, message) in [
        (json!({"proxy_id": 7}), "there is no proxy `7`"),
        (json!({"ca_cert_id": 8}), "there is no certificate authority `8`"),
    ] {
        let (status, response) = server.call_in(other, "POST", "/monitors/website-ssl", &website(&fields));
        assert_eq!(status, 400, "{response}");
        assert!(response.to_string().contains(message), "{response}");
        let (status, response) = server.call_in(1, "POST", "/monitors/website-ssl", &website(&fields));
        assert_eq!(status, 200, "account 1 always may: {response}");
    }
    // The start and `vigie config check` list what stored monitors lost.
    let mut server = server;
    let log = server.log_text();
    let settings_file = server.folder.path().join("vigie.yaml");
    let arguments = ["config", "check", settings_file.to_str().unwrap()];
    let check = vigie(&arguments);
    assert_eq!(check.status.code(), Some(0));
    for (id, problem) in [
        (
            &ids[0],
            "`proxy_id`: proxy `7` is not for this account; add the account to its `accounts` in the setting `proxies`",
        ),
        (
            &ids[1],
            "`ca_cert_id`: certificate `8` is not for this account; add the account to its `accounts` in the setting `certificates`",
        ),
    ] {
        let problem = format!("monitor {id} `Through` of account {other}: {problem}");
        assert!(log.contains(&problem), "{problem}: {log}");
        let output = out(&check);
        assert!(
            output.contains(&format!("warning: {problem}\n")) && output.matches("warning: ").count() == 2,
            "{output}"
        );
    }
    // Stored monitors do not keep what was taken from the account.
    let result = check_monitor(&server, other, &ids[0]);
    assert_eq!((&result["status"], &result["outcome"]), (&json!(95), &json!("unknown")), "{result:#}");
    assert!(
        result["reasons"][0].as_str().unwrap().contains("proxy `7` is not for this account"),
        "{result:#}"
    );
}

#[test]
fn stored_monitors_whose_proxy_or_certificate_is_gone_are_listed() {
    let (server, other) = server_with_other_account();
    let client = Authority::new("client").issue(&["client.test"], (2020, 2090));
    let certificate = json!({"name": "own", "kind": "client", "pem": client.pem()});
    let (status, response) = server.call_in(other, "POST", "/certificates", &certificate);
    assert_eq!(status, 200, "{response}");
    let own_certificate: i64 = response["id"].as_str().unwrap().parse().unwrap();
    let settings = "proxies: [{id: 7, kind: http, server: 'proxy.test:1'}]\n";
    let server = restart_with(server, settings);
    let fields = website(&json!({"proxy_id": 7}));
    let (status, response) = server.call_in(1, "POST", "/monitors/website-ssl", &fields);
    assert_eq!(status, 200, "{response}");
    let fields = website(&json!({"ssl_cert_id": own_certificate}));
    let (status, response) = server.call_in(other, "POST", "/monitors/website-ssl", &fields);
    assert_eq!(status, 200, "{response}");
    let mut server = restart_with(server, "proxies: []\n");
    let log = server.log_text();
    let problems: Vec<_> = log.lines().filter(|line| line.contains("the settings do not allow")).collect();
    let [problem] = problems.as_slice() else { panic!("{problems:?}") };
    assert!(problem.contains("of account 1: `proxy_id`: there is no proxy `7`; add it to"), "{problem}");
}
