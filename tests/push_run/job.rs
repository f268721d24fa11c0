//! The job is as it is without `vigie run`.

use std::process::Stdio;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::time::Instant;

use super::kit::{accepting, ended, push_url, reported, vigie_run};
use crate::notify::receiver::{Receiver, Response, status};

#[tokio::test]
async fn input_and_output_go_through_unchanged() {
    let receiver = accepting().await;
    let mut command = vigie_run(&push_url(&receiver), &["--", "sh", "-c", "cat; seq 1 50000 >&2"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let input = "a line\nno end é".repeat(20_000);
    let mut stdin = child.stdin.take().unwrap();
    let written = input.clone();
    tokio::spawn(async move { stdin.write_all(written.as_bytes()).await });
    let output = child.wait_with_output().await.unwrap();
    assert!(output.status.success());
    assert_eq!(output.stdout, input.as_bytes());
    let numbers: Vec<_> = (1..=50_000).map(|number: u32| number.to_string()).collect();
    assert_eq!(output.stderr, (numbers.join("\n") + "\n").as_bytes());
}

#[tokio::test]
async fn exit_codes_and_signals_are_those_of_the_command() {
    for (script, code, message) in [
        ("exit 0", 0, "sh: exit code 0"),
        ("exit 3", 3, "sh: exit code 3"),
        ("kill -9 $$", 137, "sh: ended by signal 9"),
    ] {
        let receiver = accepting().await;
        let job = ended(vigie_run(&push_url(&receiver), &["--", "sh", "-c", script])).await;
        assert_eq!((job.code, &*job.stderr), (code, ""), "{script}");
        let (parameters, _) = reported(&receiver);
        assert_eq!(parameters["status"], if code == 0 { "up" } else { "down" });
        assert_eq!((&*parameters["exit_code"], &*parameters["msg"]), (&*code.to_string(), message));
    }
}

#[tokio::test]
async fn a_command_that_cannot_be_started_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("no-program");
    std::fs::write(&file, "x").unwrap();
    for (program, code, message) in [
        ("/does/not/exist", 127, "exist: cannot be started: No such file or directory"),
        (file.to_str().unwrap(), 126, "no-program: cannot be started: Permission denied"),
    ] {
        let receiver = accepting().await;
        let job = ended(vigie_run(&push_url(&receiver), &["--", program])).await;
        assert!(job.code == code && job.stderr.starts_with(&format!("error: `{program}` cannot be started")));
        let (parameters, body) = reported(&receiver);
        assert_eq!((&*parameters["status"], &*parameters["exit_code"]), ("down", &*code.to_string()));
        assert!(parameters["msg"].starts_with(message) && body.is_empty(), "{parameters:?}");
    }
}

#[tokio::test]
async fn sigterm_reaches_the_command() {
    let receiver = accepting().await;
    let script = "trap 'echo got it; exit 7' TERM; echo ready; while :; do sleep 0.05; done";
    let mut child = vigie_run(&push_url(&receiver), &["--", "sh", "-c", script]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("ready"));
    kill(Pid::from_raw(i32::try_from(child.id().unwrap()).unwrap()), Signal::SIGTERM).unwrap();
    assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("got it"));
    assert_eq!(child.wait().await.unwrap().code(), Some(7));
    let (parameters, body) = reported(&receiver);
    assert_eq!((&*parameters["msg"], &*body), ("sh: exit code 7", "ready\ngot it"));
}

#[tokio::test]
async fn a_command_that_takes_too_long_is_ended_with_its_processes() {
    let receiver = accepting().await;
    let started = Instant::now();
    let script = "sleep 60 & echo child $!; sleep 60";
    let job = ended(vigie_run(&push_url(&receiver), &["--timeout", "1s", "--", "sh", "-c", script])).await;
    assert!(job.code == 124 && started.elapsed() < Duration::from_secs(5), "{job:?}");
    let (parameters, _) = reported(&receiver);
    assert_eq!((&*parameters["status"], &*parameters["msg"]), ("down", "sh: took longer than 1 s"));
    let ping: u64 = parameters["ping"].parse().unwrap();
    assert!((1000..4000).contains(&ping), "{ping}");
    let child: i32 = job.stdout.trim().strip_prefix("child ").unwrap().parse().unwrap();
    let is_gone = || {
        let stat = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        stat.is_empty() || stat.contains(") Z ")
    };
    let deadline = Instant::now() + Duration::from_secs(5);
    while !is_gone() {
        assert!(Instant::now() < deadline, "process {child} still runs");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A daemon that a job starts keeps its output open for ever.
#[tokio::test]
async fn a_process_that_is_left_behind_does_not_hold_the_job() {
    let receiver = accepting().await;
    let started = Instant::now();
    let job = ended(vigie_run(&push_url(&receiver), &["--", "sh", "-c", "sleep 6 & echo done"])).await;
    assert!(job.code == 0 && started.elapsed() < Duration::from_secs(5), "{job:?}");
    assert_eq!(reported(&receiver).1, "done");
}

#[tokio::test]
async fn a_reader_that_goes_away_is_noticed_by_the_command() {
    let receiver = accepting().await;
    let mut child = vigie_run(&push_url(&receiver), &["--", "yes"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("y"));
    drop(lines);
    assert_eq!(child.wait().await.unwrap().code(), Some(128 + Signal::SIGPIPE as i32));
}

#[tokio::test]
async fn a_server_that_does_not_respond_does_not_delay_the_start() {
    let receiver = Receiver::start(|number, _| match number {
        0 => Response::Silence(Duration::from_secs(2)),
        _ => status(200),
    })
    .await;
    let started = Instant::now();
    let mut child = vigie_run(&push_url(&receiver), &["--", "echo", "runs"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("runs"));
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    assert_eq!(child.wait().await.unwrap().code(), Some(0));
    reported(&receiver);
}
