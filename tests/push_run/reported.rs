//! What is reported of a job, and what becomes of reports that fail.

use std::time::Duration;

use tokio::time::Instant;

use super::kit::{TOKEN, accepting, ended, parameters, push_url, reported, vigie_run};
use crate::notify::receiver::{Receiver, Response, status};
use crate::support::binary::{err, vigie};
use crate::support::closed::ClosedPort;

#[tokio::test]
async fn the_end_has_duration_and_the_last_lines_without_secrets() {
    let receiver = accepting().await;
    let script = "seq 1 40; echo \"login with $DB_PASSWORD\"; echo 'https://u:pw@host/?token=abc' >&2; \
                  echo \"url=$VIGIE_PUSH_URL.\"; sleep 0.2";
    let mut command =
        vigie_run(&push_url(&receiver), &["--name", "nightly backup", "--", "sh", "-c", script]);
    command.env("DB_PASSWORD", "correct-horse");
    let job = ended(command).await;
    assert!(job.stdout.contains("login with correct-horse\nurl=.\n"), "{}", job.stdout);
    assert_eq!(job.stderr, "https://u:pw@host/?token=abc\n");
    let (parameters, body) = reported(&receiver);
    assert_eq!(parameters["msg"], "nightly backup: exit code 0");
    let ping: u64 = parameters["ping"].parse().unwrap();
    assert!((200..10_000).contains(&ping), "{ping}");
    // Which of two lines comes first is not known when they come by two pipes, so all are among the last 50 here.
    let lines: Vec<_> = body.lines().collect();
    assert_eq!(lines.len(), 43, "{body}");
    for expected in ["login with ********", "https://********@host/?token=********", "url=.", "1", "40"] {
        assert!(lines.contains(&expected), "no `{expected}` in {body}");
    }
    assert!(!body.contains("correct-horse"));
    let receiver = accepting().await;
    ended(vigie_run(&push_url(&receiver), &["--", "seq", "1", "100"])).await;
    let (_, body) = reported(&receiver);
    let expected: Vec<_> = (51..=100).map(|number| number.to_string()).collect();
    assert_eq!(body.lines().collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn a_report_that_fails_is_tried_again() {
    let receiver = Receiver::start(|number, request| {
        let is_end = !request.line.contains("status=start");
        match number {
            0 | 2 => status(503),
            1 => Response::Status(429, vec![("Retry-After", "1".to_owned())], String::new()),
            _ if is_end => status(204),
            _ => status(200),
        }
    })
    .await;
    // The start fails once, and is not tried again after the end.
    let job = ended(vigie_run(&push_url(&receiver), &["--", "true"])).await;
    assert_eq!((job.code, &*job.stderr), (0, ""));
    let statuses: Vec<_> =
        receiver.requests().iter().map(|request| parameters(request)["status"].clone()).collect();
    assert_eq!(statuses, ["start", "up", "up", "up"]);
}

#[tokio::test]
async fn reports_that_cannot_be_sent_give_a_warning_and_nothing_else() {
    let port = ClosedPort::new();
    let url = format!("http://{}/push/{TOKEN}", port.at);
    let started = Instant::now();
    let job = ended(vigie_run(&url, &["--", "sh", "-c", "exit 5"])).await;
    assert_eq!(job.code, 5);
    assert!(job.stderr.starts_with("warning: the end of the job was not reported: "), "{}", job.stderr);
    assert!(started.elapsed() < Duration::from_secs(30));
    // What the server refuses for good is not tried again; its response may have the token.
    let receiver =
        Receiver::start(|_, _| Response::Status(404, Vec::new(), format!("no monitor {TOKEN}"))).await;
    let job = ended(vigie_run(&push_url(&receiver), &["--", "true"])).await;
    assert_eq!((job.code, receiver.requests().len()), (0, 2));
    let expected = "warning: the end of the job was not reported: the server answered `404 Not Found`: no monitor ********";
    assert!(job.stderr.contains(expected), "{}", job.stderr);
    // A pause that is longer than there is time for ends the tries.
    let pause = || Response::Status(503, vec![("Retry-After", "60".to_owned())], String::new());
    let receiver = Receiver::start(move |_, _| pause()).await;
    let started = Instant::now();
    let job = ended(vigie_run(&push_url(&receiver), &["--", "true"])).await;
    assert!(job.code == 0 && started.elapsed() < Duration::from_secs(10), "{job:?}");
}

#[tokio::test]
async fn the_url_comes_from_an_option_a_file_or_a_variable() {
    let folder = tempfile::tempdir().unwrap();
    let (receiver, file) = (accepting().await, folder.path().join("push"));
    std::fs::write(&file, push_url(&receiver) + "\n").unwrap();
    let unused = "http://127.0.0.1:1/push/unused";
    ended(vigie_run(unused, &["--push-file", file.to_str().unwrap(), "--", "true"])).await;
    ended(vigie_run(unused, &["--push", &push_url(&receiver), "--", "true"])).await;
    assert_eq!(receiver.requests().len(), 4);
}

#[test]
fn wrong_use_is_explained_and_starts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("ran");
    let touch = ["--", "touch", mark.to_str().unwrap()];
    let url = format!("http://127.0.0.1:1/push/{TOKEN}");
    for (args, expected) in [
        (vec![], "no push URL is named"),
        (vec!["--push", "127.0.0.1/push/pu5h"], "what is given is not the push URL of a monitor"),
        (vec!["--push", &url, "--push-file", "x"], "cannot be used with"),
        (vec!["--push-file", "-"], "the push URL cannot be read from standard input"),
        (vec!["--push-file", "/does/not/exist"], "`/does/not/exist` cannot be read"),
        (vec!["--push", &url, "--timeout", "soon"], "write a time like `90s`, `10m` or `2h`"),
        (
            vec!["--push", &url, "--ca-file", "/does/not/exist"],
            "the CA file `/does/not/exist` cannot be read",
        ),
    ] {
        let output = vigie(&[&["run"], &args[..], &touch].concat());
        let text = err(&output);
        assert!(!output.status.success() && text.contains(expected), "{args:?}: {text}");
        assert!(!text.contains(TOKEN) && !text.contains("pu5h"), "{text}");
    }
    let output = vigie(&["run", "--push", &url]);
    assert_eq!(output.status.code(), Some(2));
    assert!(!mark.exists());
}
