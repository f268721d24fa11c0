//! Reports over cuts, kills and refusals.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::io::AsyncReadExt;
use tokio::process::Child;
use tokio::time::Instant;
use vigie::domain::Timestamp;

use super::agent::{ReceivedReport, ReportServer, each_second, start_agent, taken};
use crate::notify::receiver::{Receiver, Response};

fn send_signal(agent: &Child, signal: Signal) {
    kill(Pid::from_raw(i32::try_from(agent.id().unwrap()).unwrap()), signal).unwrap();
}

fn is_rising(seqs: &[u64]) -> bool {
    seqs.windows(2).all(|pair| pair[0] < pair[1])
}

/// Whether each number from the first to the last was taken.
fn is_complete(seqs: &[u64]) -> bool {
    let seqs: BTreeSet<_> = seqs.iter().copied().collect();
    let (Some(first), Some(last)) = (seqs.first(), seqs.last()) else { return false };
    seqs.len() as u64 == last - first + 1
}

#[tokio::test]
async fn reports_come_as_often_as_the_server_asks_and_their_numbers_go_on_over_a_kill() {
    let (folder, server) = (tempfile::tempdir().unwrap(), ReportServer::accepting().await);
    let mut agent = start_agent(&server.url(), folder.path(), &["--interval", "2"]);
    let reports = server.wait_until(|reports| reports.len() >= 4).await;
    let time = |report: &ReceivedReport, field: &str| {
        Timestamp::parse(report.report[field].as_str().unwrap()).unwrap()
    };
    let span = time(&reports[3], "at").since(time(&reports[0], "at"));
    assert!(span > Duration::from_millis(2500) && span < Duration::from_secs(5), "{span:?}");
    for report in &reports {
        assert!(time(report, "sent_at") >= time(report, "at"));
        assert_eq!(report.report["version"], 1);
    }
    agent.kill().await.unwrap();
    let before = server.reports().len();
    let _again = start_agent(&server.url(), folder.path(), &[]);
    let reports = server.wait_until(|reports| reports.len() >= before + 2).await;
    assert!(is_rising(&taken(&reports)), "{:?}", taken(&reports));
}

#[tokio::test]
async fn reports_of_a_time_offline_arrive_once_and_the_newest_first() {
    let folder = tempfile::tempdir().unwrap();
    let is_cut = Arc::new(AtomicBool::new(false));
    let cut = Arc::clone(&is_cut);
    let server =
        ReportServer::start(
            move |_| {
                if cut.load(Ordering::SeqCst) { (502, Vec::new()) } else { each_second() }
            },
        )
        .await;
    let agent = start_agent(&server.url(), folder.path(), &[]);
    server.wait_until(|reports| !reports.is_empty()).await;
    is_cut.store(true, Ordering::SeqCst);
    let taken_before = taken(&server.reports());
    // The third one that was tried is at least the third one that is kept.
    let kept = |reports: &[ReceivedReport]| {
        reports.iter().filter(|report| report.status == 502).map(|report| report.seq).collect::<BTreeSet<_>>()
    };
    server.wait_until(|reports| kept(reports).len() >= 3).await;
    // What is kept survives a kill.
    send_signal(&agent, Signal::SIGKILL);
    drop(agent);
    is_cut.store(false, Ordering::SeqCst);
    let newest_kept = *kept(&server.reports()).last().unwrap();
    let _again = start_agent(&server.url(), folder.path(), &[]);
    let reports = server
        .wait_until(|reports| {
            let taken = taken(reports);
            // All but the last one, which the kill may have caught in hand.
            taken.last() > Some(&newest_kept)
                && kept(reports).iter().rev().skip(1).all(|seq| taken.contains(seq))
        })
        .await;
    let seqs = taken(&reports);
    assert_eq!(seqs.iter().collect::<BTreeSet<_>>().len(), seqs.len(), "twice: {seqs:?}");
    assert!(seqs.starts_with(&taken_before));
}

#[tokio::test]
async fn a_server_that_comes_back_gets_the_newest_report_first() {
    let folder = tempfile::tempdir().unwrap();
    let is_cut = Arc::new(AtomicBool::new(true));
    let cut = Arc::clone(&is_cut);
    let server =
        ReportServer::start(
            move |_| {
                if cut.load(Ordering::SeqCst) { (502, Vec::new()) } else { each_second() }
            },
        )
        .await;
    let _agent = start_agent(&server.url(), folder.path(), &[]);
    server
        .wait_until(|reports| reports.iter().map(|report| report.seq).collect::<BTreeSet<_>>().len() >= 3)
        .await;
    let first_seq = server.reports()[0].seq;
    is_cut.store(false, Ordering::SeqCst);
    let reports = server
        .wait_until(|reports| {
            let taken = taken(reports);
            taken.contains(&first_seq) && is_complete(&taken)
        })
        .await;
    let seqs = taken(&reports);
    assert!(seqs[0] >= first_seq + 2, "the newest one is the first: {seqs:?}");
    assert_eq!(seqs[1], first_seq, "then the oldest one: {seqs:?}");
    assert_eq!(seqs.iter().collect::<BTreeSet<_>>().len(), seqs.len(), "twice: {seqs:?}");
}

#[tokio::test]
async fn a_server_that_asks_for_a_pause_gets_it() {
    let folder = tempfile::tempdir().unwrap();
    let server = ReportServer::start(|number| match number {
        0 => (429, vec![("Retry-After", "3".to_owned())]),
        _ => each_second(),
    })
    .await;
    let _agent = start_agent(&server.url(), folder.path(), &[]);
    let reports =
        server.wait_until(|reports| taken(reports).len() >= 3 && is_complete(&taken(reports))).await;
    let pause = reports[1].received_at - reports[0].received_at;
    assert!(pause > Duration::from_millis(2900), "{pause:?}");
    assert!(taken(&reports).contains(&reports[0].seq), "what was put off comes later");
}

#[tokio::test]
async fn a_report_that_the_server_refuses_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let server = ReportServer::start(|number| match number {
        0 => (413, Vec::new()),
        1 => (422, Vec::new()),
        _ => each_second(),
    })
    .await;
    let mut agent = start_agent(&server.url(), folder.path(), &[]);
    let reports = server.wait_until(|reports| reports.len() >= 4).await;
    let seqs: Vec<_> = reports.iter().map(|report| report.seq).collect();
    assert!(is_rising(&seqs), "{seqs:?}");
    send_signal(&agent, Signal::SIGTERM);
    let mut log = String::new();
    agent.stderr.take().unwrap().read_to_string(&mut log).await.unwrap();
    assert!(agent.wait().await.unwrap().success());
    assert_eq!(log.matches("the server refused a report: it is dropped").count(), 2, "{log}");
    assert!(log.contains("signal=\"SIGTERM\"") && !log.contains("the-secret"), "{log}");
}

#[tokio::test]
async fn a_revoked_token_is_logged_once_and_the_reports_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let revoked = ReportServer::start(|_| (401, Vec::new())).await;
    let mut agent = start_agent(&revoked.url(), folder.path(), &[]);
    revoked.wait_until(|reports| !reports.is_empty()).await;
    // Three intervals without another try.
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(revoked.reports().len(), 1);
    send_signal(&agent, Signal::SIGTERM);
    let mut log = String::new();
    agent.stderr.take().unwrap().read_to_string(&mut log).await.unwrap();
    assert!(agent.wait().await.unwrap().success());
    assert_eq!(log.matches("the server takes no reports of this host").count(), 1, "{log}");
    let server = ReportServer::accepting().await;
    let _again = start_agent(&server.url(), folder.path(), &[]);
    let first = revoked.reports()[0].seq;
    server.wait_until(|reports| taken(reports).contains(&first) && is_complete(&taken(reports))).await;
}

#[tokio::test]
async fn sigterm_ends_the_agent_within_a_second_and_keeps_the_report_in_hand() {
    let folder = tempfile::tempdir().unwrap();
    let silent = Receiver::start(|_, _| Response::Silence(Duration::from_mins(1))).await;
    let mut agent = start_agent(&silent.url(""), folder.path(), &[]);
    while silent.requests().is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let started = Instant::now();
    send_signal(&agent, Signal::SIGTERM);
    let status = agent.wait().await.unwrap();
    assert!(status.success() && started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
    let server = ReportServer::accepting().await;
    let _again = start_agent(&server.url(), folder.path(), &[]);
    let reports = server.wait_until(|reports| reports.len() >= 2 && is_complete(&taken(reports))).await;
    let seqs: BTreeSet<_> = taken(&reports).into_iter().collect();
    assert_eq!(seqs.len(), reports.len());
}
