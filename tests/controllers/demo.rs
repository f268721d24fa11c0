//! `vigie cluster --demo`, as somebody looks around with it.

use std::fs::Permissions;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::kit::{SLOW_FAIL_OVER, within};
use crate::daemon::process::http_get;
use crate::support::binary::{err, out, program, vigie};

/// How long the demo may take to start, beside other tests.
const START: Duration = Duration::from_mins(2);

fn start(folder: &Path) -> Child {
    Command::new(program())
        .args(["cluster", "--demo", "--data"])
        .arg(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn end(mut demo: Child) {
    kill(Pid::from_raw(demo.id().try_into().unwrap()), Signal::SIGINT).unwrap();
    let (status, _) = within(Duration::from_mins(1), || demo.try_wait().unwrap());
    assert!(status.success(), "{status}");
}

#[test]
fn the_demo_starts_breaks_recovers_and_leaves_nothing() {
    let parent = tempfile::tempdir().unwrap();
    // The parts of root run as other users.
    std::fs::set_permissions(parent.path(), Permissions::from_mode(0o755)).unwrap();
    let folder = parent.path().join("cluster");
    let data = ["--data", folder.to_str().unwrap()];
    let nothing = vigie(&[&["cluster", "kill", "nats"][..], &data].concat());
    assert!(err(&nothing).contains("no demo runs in"), "{}", err(&nothing));

    let mut demo = start(&folder);
    let mut lines = BufReader::new(demo.stdout.take().unwrap()).lines();
    let mut text = Vec::new();
    while !text.iter().any(|line: &String| line.contains("Ctrl-C ends everything")) {
        text.push(lines.next().expect("the demo ended").unwrap());
    }
    let url_of = |name: &str| {
        let line = text.iter().find(|line| line.trim().starts_with(name)).unwrap();
        line.split_whitespace().last().unwrap().trim_start_matches("http://").trim_end_matches('/').to_owned()
    };
    let second = url_of("controller-2");
    assert!(text.iter().any(|line| line.contains("/sign-in/link?token=")), "{text:?}");
    let leads = |name: &str| {
        let response = http_get(second.parse().unwrap(), "/sign-in")?;
        (response.status == 200 && response.headers("vigie-controller") == [name]).then_some(())
    };
    within(START, || leads("controller-1").or_else(|| leads("controller-2")));

    let again = start(&folder).wait_with_output().unwrap();
    assert!(err(&again).contains("a demo runs already"), "{}", err(&again));
    let unknown = vigie(&[&["cluster", "kill", "agent-9"][..], &data].concat());
    assert!(
        err(&unknown).contains("its parts are agent-1, agent-2, agent-3, controller-1"),
        "{}",
        err(&unknown)
    );

    // Whichever leads is killed, the other one follows.
    if leads("controller-1").is_some() {
        let killed = vigie(&[&["cluster", "kill", "controller-1"][..], &data].concat());
        assert!(out(&killed).starts_with("killed controller-1"), "{}", err(&killed));
        let ((), took) = within(SLOW_FAIL_OVER, || leads("controller-2"));
        println!("controller-2 led after {took:?}");
    }
    end(demo);
    assert!(!folder.exists(), "the data are still there");
}
