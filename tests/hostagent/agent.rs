//! The agent as a process, and a server that records its reports.

use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_compression::tokio::bufread::GzipDecoder;
use futures::FutureExt;
use serde_json::Value;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};
use tokio::time::Instant;

use crate::notify::receiver::{Receiver, Request, Response};
use crate::support::binary::program;

pub const TOKEN: &str = "vgh_12_the-secret_of-a-host";

/// A report that came, and the status that it got.
#[derive(Clone, Debug)]
pub struct ReceivedReport {
    pub seq: u64,
    pub report: Value,
    pub status: u16,
    pub received_at: Instant,
}

/// A server that records each report.
pub struct ReportServer {
    receiver: Receiver,
    reports: Arc<Mutex<Vec<ReceivedReport>>>,
}

impl ReportServer {
    /// Starts a server whose `script` decides the status and headers for the nth report, from 0.
    pub async fn start(
        script: impl Fn(usize) -> (u16, Vec<(&'static str, String)>) + Send + Sync + 'static,
    ) -> Self {
        let reports = Arc::new(Mutex::new(Vec::new()));
        let recorded = Arc::clone(&reports);
        let receiver = Receiver::start(move |_, request| {
            let report = decode(request);
            let mut recorded = recorded.lock().unwrap();
            let (status, headers) = script(recorded.len());
            recorded.push(ReceivedReport {
                seq: report["seq"].as_u64().unwrap(),
                report,
                status,
                received_at: Instant::now(),
            });
            Response::Status(status, headers, String::new())
        })
        .await;
        Self { receiver, reports }
    }

    /// Starts a server that takes every report and asks for one each second.
    pub async fn accepting() -> Self {
        Self::start(|_| each_second()).await
    }

    pub fn url(&self) -> String {
        self.receiver.url("")
    }

    pub fn reports(&self) -> Vec<ReceivedReport> {
        self.reports.lock().unwrap().clone()
    }

    /// Waits until the reports are as `is_wanted`.
    pub async fn wait_until(&self, is_wanted: impl Fn(&[ReceivedReport]) -> bool) -> Vec<ReceivedReport> {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let reports = self.reports();
            if is_wanted(&reports) {
                return reports;
            }
            let seen: Vec<_> = reports.iter().map(|report| (report.seq, report.status)).collect();
            assert!(Instant::now() < deadline, "not in time: {seen:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// The response that takes a report and asks for the next one after a second.
pub fn each_second() -> (u16, Vec<(&'static str, String)>) {
    (204, vec![("Vigie-Report-Seconds", "1".to_owned())])
}

/// Returns the seqs of the reports that the server took.
pub fn taken(reports: &[ReceivedReport]) -> Vec<u64> {
    reports.iter().filter(|report| report.status == 204).map(|report| report.seq).collect()
}

fn decode(request: &Request) -> Value {
    assert_eq!(request.line, "POST /api/v3/hosts/12/reports HTTP/1.1");
    assert_eq!(request.header("authorization"), Some(&*format!("Bearer {TOKEN}")));
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(request.header("content-encoding"), Some("gzip"));
    let mut json = Vec::new();
    // What is in memory is never waited for.
    let mut decoder = GzipDecoder::new(&*request.body);
    decoder.read_to_end(&mut json).now_or_never().unwrap().unwrap();
    serde_json::from_slice(&json).unwrap()
}

/// Starts an agent that reports to `server`, each second if `args` do not say otherwise.
pub fn start_agent(server: &str, data: &Path, args: &[&str]) -> Child {
    command(server, data, args).stderr(Stdio::piped()).spawn().unwrap()
}

/// Runs an agent to its end; returns its exit code, output and errors.
pub async fn run_agent(server: &str, data: &Path, args: &[&str]) -> (i32, String, String) {
    let output = command(server, data, args).output().await.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn command(server: &str, data: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(program());
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("VIGIE_")) {
        command.env_remove(name);
    }
    command.args(["hostagent", "--server", server, "--data"]).arg(data).args(args);
    if !args.contains(&"--interval") {
        command.args(["--interval", "1"]);
    }
    command.env("VIGIE_HOST_TOKEN", TOKEN).stdin(Stdio::null()).kill_on_drop(true);
    command
}
