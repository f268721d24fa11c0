//! Wrong use, and servers that take no reports.

use std::fs;

use super::agent::{ReportServer, run_agent, start_agent};
use crate::support::binary::{err, vigie};

#[test]
fn wrong_use_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    fs::write(&token, "vgp_not-a-host-token\n").unwrap();
    let token = token.to_str().unwrap();
    for (args, expected) in [
        (vec![], "no server is named"),
        (vec!["--server", "vigie.example"], "`vigie.example` is not the URL of a server"),
        (vec!["--server", "http://vigie.example"], "has no TLS, and is not on this host"),
        (vec!["--server", "http://127.0.0.1:1"], "there is no token of this host"),
        (vec!["--server", "http://127.0.0.1:1", "--token-file", token], "it is not the token of a host"),
        (vec!["--once", "--process", "/usr/sbin/nginx"], "`/usr/sbin/nginx` is not the name of a process"),
        (vec!["--server", "http://127.0.0.1:1", "--interval", "0"], "0 is not in 1..=3600"),
    ] {
        let output = vigie(&[&["hostagent"], &args[..]].concat());
        let text = err(&output);
        assert!(output.status.code() == Some(2) && text.contains(expected), "{args:?}: {text}");
        assert!(!text.contains("not-a-host-token"), "{text}");
    }
    let output = vigie(&["hostagent", "--server", "http://127.0.0.1:1", "--token-file", "/does/not/exist"]);
    assert!(err(&output).contains("`/does/not/exist` cannot be read"), "{}", err(&output));
    let many = ["--process", "a"].repeat(33);
    let output = vigie(&[&["hostagent", "--once"], &many[..]].concat());
    assert!(err(&output).contains("33 process names are given"), "{}", err(&output));
}

#[tokio::test]
async fn the_data_folder_is_checked_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let server = ReportServer::accepting().await;
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let (code, _, text) = run_agent(&server.url(), &file.join("data"), &[]).await;
    assert!(code == 1 && text.contains("the agent cannot start with the data folder"), "{text}");
    // One agent at a time uses a folder.
    let data = folder.path().join("data");
    let _running = start_agent(&server.url(), &data, &[]);
    server.wait_until(|reports| !reports.is_empty()).await;
    let (code, _, text) = run_agent(&server.url(), &data, &[]).await;
    assert!(code == 1 && text.contains("because: ") && text.contains("hint: `--data DIR`"), "{text}");
}

#[tokio::test]
async fn once_says_whether_the_server_took_the_report() {
    let folder = tempfile::tempdir().unwrap();
    for (status, expected) in [
        (204, "the server took the report"),
        (401, "the server takes no reports of this host: the server answered `401"),
        (404, "the server takes no reports of this host: the server answered `404"),
        (413, "the report was not taken: the server answered `413"),
        (503, "the report was not taken: the server answered `503"),
    ] {
        let server = ReportServer::start(move |_| (status, Vec::new())).await;
        let (code, printed, text) = run_agent(&server.url(), folder.path(), &["--once"]).await;
        assert!(code == i32::from(status != 204) && text.contains(expected), "{status}: {text}");
        let printed: serde_json::Value = serde_json::from_str(&printed).unwrap();
        let reports = server.reports();
        assert_eq!(reports.len(), 1);
        assert_eq!(reports[0].report["metrics"], printed["metrics"]);
        assert_eq!(reports[0].report["seq"], printed["seq"]);
        assert!(!text.contains("the-secret"), "{text}");
    }
}
