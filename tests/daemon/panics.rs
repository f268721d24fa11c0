//! Panics in the log.

use std::io::Write;
use std::sync::{Arc, Mutex};

use nix::sys::signal::Signal;
use vigie::redaction::redactor::Redactor;
use vigie::redaction::scope::RedactionScope;

use crate::daemon::process::{Daemon, command, folder, tcp_monitor};
use crate::support::alone::alone;

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_contained_panic_is_one_log_line_without_a_backtrace() {
    // The panic hook belongs to the whole process.
    if !alone("daemon::panics::a_contained_panic_is_one_log_line_without_a_backtrace") {
        return;
    }
    let lines = Lines::default();
    let writer = lines.clone();
    let log = tracing_subscriber::fmt().json().with_writer(move || writer.clone()).finish();
    let before = std::panic::take_hook();
    vigie::telemetry::install_panic_hook();
    tracing::subscriber::with_default(log, || {
        std::panic::catch_unwind(|| panic!("boom {}", 7)).unwrap_err();
        let secret = Redactor::from_secrets(["planted-secret"].into_iter());
        let scope = RedactionScope::new([secret]);
        std::panic::catch_unwind(|| scope.run(|| panic!("no `x` in `planted-secret`"))).unwrap_err();
    });
    std::panic::set_hook(before);
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [line, in_scope] = lines.as_slice() else { panic!("{text}") };
    assert_eq!(line["fields"]["panic"], "boom 7");
    assert_eq!(in_scope["fields"]["panic"], "no `x` in `********`");
    assert!(line["fields"]["place"].as_str().unwrap().contains("panics.rs:"), "{text}");
}

#[test]
fn a_monitor_that_cannot_be_planned_is_quarantined_and_the_others_run() {
    let target = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = target.local_addr().unwrap().port();
    std::thread::spawn(move || target.incoming().for_each(drop));
    for point in ["build_assignment", "upsert"] {
        let monitors: String = (0..60).map(|n| tcp_monitor(&format!("m{n}"), port)).collect();
        let folder = folder(&monitors);
        let mut first = command(folder.path());
        first.env("VIGIE_FAULT", format!("{point}:panic:1"));
        let mut server = Daemon::from_child(first.spawn().unwrap(), folder);
        let (status, metrics) = server.get_with_headers("/metrics", "");
        assert_eq!(status, 200);
        assert!(metrics.contains("vigie_quarantined_total{kind=\"monitor\"} 1\n"), "{point}: {metrics}");
        assert!(metrics.contains("vigie_monitors_planned 59\n"), "{point}: {metrics}");
        assert_eq!(server.get_with_headers("/readyz", "").0, 200, "{point}");
        server.signal(Signal::SIGTERM);
        assert!(server.wait_for_exit().success(), "{point}");
    }
}
