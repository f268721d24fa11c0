//! Scripts run in processes of their own: what they hold ends with them, and accounts share none.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use vigie::domain::{CustomerId, FailureKind, Fault};
use vigie::probe::ProbeBuildContext;

use super::check::{item, run_fields};
use super::echo;
use crate::probe_api::check::{failed, passed};
use crate::support::processes::{ChildProcess, child_processes};

/// A loop in native code that never asks whether the time is over.
const NATIVE_LOOP: &str = "new Array(4e9).concat(new Array(4e9))";

fn fields(url: &str, code: &str) -> serde_json::Map<String, Value> {
    let script = json!({"info": {"name": "c"}, "item": [item("a", url, code)]}).to_string();
    json!({"script": script}).as_object().unwrap().clone()
}

#[tokio::test]
async fn a_native_loop_is_ended_with_its_process() {
    let service = echo::start().await;
    let url = service.url("/x");
    let context = ProbeBuildContext { customer_id: CustomerId(7701), ..ProbeBuildContext::default() };
    let started = Instant::now();
    let observation = run_fields(fields(&url, NATIVE_LOOP), &context, Duration::from_secs(2)).await;
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    let failure = observation.failure.as_ref().unwrap();
    assert!(failure.detail.contains("and was ended"), "{failure:?}");
    // Those of other tests end within their five seconds.
    let gone = Instant::now() + Duration::from_secs(20);
    while running_children(Duration::from_secs(1)) > 0 {
        assert!(Instant::now() < gone, "the loop runs on");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // The next run of the account has a process again.
    passed(&run_fields(fields(&url, "pm.test('ok', () => {})"), &context, Duration::from_secs(20)).await);
}

/// Returns how many children of this process have used the processor for more than `most`.
fn running_children(most: Duration) -> usize {
    let is_used_up =
        |child: &ChildProcess| child.command == "vigie" && child.state == "R" && child.cpu_time > most;
    child_processes().into_iter().filter(is_used_up).count()
}

#[tokio::test]
async fn runs_of_an_account_share_a_process_one_after_the_other_and_nothing_else() {
    let service = echo::start().await;
    let url = service.url("/x");
    let leave = "globalThis.left = 1; Object.prototype.left = 2; Array.prototype.push = null";
    let look = "pm.test('clean', () => { pm.expect(typeof left).to.equal('undefined'); pm.expect([].left).to.equal(undefined) })";
    for customer_id in [7702, 7702, 7703] {
        let context =
            ProbeBuildContext { customer_id: CustomerId(customer_id), ..ProbeBuildContext::default() };
        run_fields(fields(&url, leave), &context, Duration::from_secs(20)).await;
        passed(&run_fields(fields(&url, look), &context, Duration::from_secs(20)).await);
    }
}

#[tokio::test]
async fn many_runs_at_once_wait_for_their_turn() {
    let service = echo::start().await;
    let url = service.url("/x");
    let context = ProbeBuildContext { customer_id: CustomerId(7704), ..ProbeBuildContext::default() };
    let code = "const end = Date.now() + 50; while (Date.now() < end); pm.test('ok', () => {})";
    let mut runs = tokio::task::JoinSet::new();
    for _ in 0..24 {
        let (fields, context) = (fields(&url, code), context.clone());
        runs.spawn(async move { run_fields(fields, &context, Duration::from_secs(30)).await });
    }
    for observation in runs.join_all().await {
        passed(&observation);
    }
}

#[tokio::test]
async fn without_the_program_a_run_with_scripts_says_so() {
    let service = echo::start().await;
    let url = service.url("/x");
    let context = ProbeBuildContext {
        script_program: std::path::Path::new("/nonexistent/vigie").into(),
        customer_id: CustomerId(7705),
        ..ProbeBuildContext::default()
    };
    let observation =
        super::check::run_with_program(fields(&url, "1"), &context, Duration::from_secs(5)).await;
    let failure = failed(&observation, FailureKind::ProjectStepFailed, 6021);
    assert!(failure.detail.contains("the process for scripts cannot be started"), "{failure:?}");
    assert_eq!(failure.fault, Fault::Vigie);
}

/// Returns a program that behaves like this when it runs scripts.
fn program(folder: &std::path::Path, commands: &str) -> std::path::PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let file = folder.join("program");
    std::fs::write(&file, format!("#!/bin/sh\nread open\nread begin\n{commands}\n")).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    file
}

#[tokio::test]
async fn the_end_of_a_process_is_told_and_blamed_on_who_caused_it() {
    let service = echo::start().await;
    let url = service.url("/x");
    let folder = tempfile::tempdir().unwrap();
    for (commands, expected, fault) in [
        ("kill -KILL $$", "the process for scripts was ended by SIGKILL", Fault::Vigie),
        ("exit 3", "the process for scripts has ended", Fault::Vigie),
        ("kill -XCPU $$", "it did not stop, and was ended", Fault::Target),
        ("kill -SEGV $$", "it broke the script engine (SIGSEGV)", Fault::Target),
        ("echo no JSON; sleep 60", "its result cannot be read", Fault::Target),
        ("echo '{\"Err\":\"no memory\"}'; sleep 60", "no memory", Fault::Vigie),
    ] {
        let context = ProbeBuildContext {
            script_program: program(folder.path(), commands).into(),
            customer_id: CustomerId(7706),
            ..ProbeBuildContext::default()
        };
        let fields = fields(&url, "pm.test('ok', () => {})");
        let observation = super::check::run_with_program(fields, &context, Duration::from_secs(20)).await;
        let failure = observation.failure.as_ref().unwrap_or_else(|| panic!("{commands}"));
        assert!(failure.detail.contains(expected), "{commands}: {failure:?}");
        assert_eq!(failure.fault, fault, "{commands}: {failure:?}");
    }
}

#[test]
fn a_process_for_scripts_has_no_rights_and_outlives_the_signals_that_stop_a_service() {
    use std::io::{BufRead, BufReader, Write};
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_vigie"))
        .arg("script-host")
        .env("MIMALLOC_ARENA_RESERVE", "65536")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let mut ask = |request: &str| {
        let _ = writeln!(input, "{{\"Open\":{{\"now_us\":0}}}}\n{request}");
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        line
    };
    let tick = "{\"Tick\":{\"now_ms\":0.0,\"most_us\":1000000}}";
    assert!(ask(tick).starts_with("{\"Ok\""));
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let rights = ["CapEff", "CapPrm", "CapInh", "CapAmb"];
    for line in status.lines().filter(|line| rights.iter().any(|right| line.starts_with(right))) {
        assert!(line.ends_with("\t0000000000000000"), "{line}");
    }
    assert!(status.contains("NoNewPrivs:\t1"), "{status}");
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
    for signal in [nix::sys::signal::Signal::SIGTERM, nix::sys::signal::Signal::SIGINT] {
        nix::sys::signal::kill(pid, signal).unwrap();
    }
    assert!(ask(tick).starts_with("{\"Ok\""));
    drop(input);
    assert!(child.wait().unwrap().success(), "the end of its input ends it");
}
