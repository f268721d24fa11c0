//! `vigie load`: every run happens, and the JSON has the documented keys.

use crate::support::binary::{err, out, vigie};

#[test]
fn each_type_with_a_target_runs_and_stores_every_check() {
    for kind in ["tcp", "website", "website-ssl", "name-server"] {
        let output = vigie(&[
            "load",
            "--monitors",
            "20",
            "--interval",
            "1",
            "--type",
            kind,
            "--duration",
            "2",
            "--warm-up",
            "1",
            "--json",
        ]);
        assert_eq!(output.status.code(), Some(0), "{kind}: {}", err(&output));
        let figures: serde_json::Value = serde_json::from_str(&out(&output)).unwrap();
        let number =
            |key: &str| figures[key].as_f64().unwrap_or_else(|| panic!("{kind} lacks {key}: {figures}"));
        assert!((38.0..=42.0).contains(&(number("checks") + number("missed"))), "{kind}: {figures}");
        assert_eq!(figures["not_ok"], 0, "{kind}: {figures}");
        assert!(number("lateness_p50_us") <= number("lateness_p99_us"), "{figures}");
        assert!(number("lateness_p99_us") <= number("lateness_max_us"), "{figures}");
        assert!(number("cpu_us_per_check") > 0.0 && number("stored_per_s") > 0.0, "{figures}");
        assert!(
            number("rss_idle_bytes") > 1e6 && number("rss_peak_bytes") >= number("rss_idle_bytes"),
            "{figures}"
        );
    }
}

#[test]
fn without_a_duration_only_memory_is_measured() {
    let args = ["load", "--monitors", "500", "--interval", "3600", "--type", "tcp", "--duration", "0"];
    let output = vigie(&args);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    assert!(out(&output).contains("memory, idle"), "{}", out(&output));
}

#[test]
fn a_type_without_a_target_is_refused() {
    let output = vigie(&["load", "--monitors", "1", "--interval", "1", "--type", "ftp", "--duration", "1"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("`ftp` has no built-in target"), "{}", err(&output));
}

#[test]
fn agents_check_over_nats_and_every_result_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = assert_cmd::Command::cargo_bin("vigie").unwrap();
    let args = ["--interval", "5", "--type", "tcp", "--duration", "5", "--warm-up", "1", "--json"];
    command
        .args(["load", "--agents", "3", "--monitors-per-agent", "10"])
        .args(args)
        .env("TMPDIR", folder.path());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let figures: serde_json::Value = serde_json::from_str(&out(&output)).unwrap();
    let number = |key: &str| figures[key].as_f64().unwrap_or_else(|| panic!("{key} is missing: {figures}"));
    // A window as long as the interval has exactly one run of each monitor.
    assert_eq!((number("agents"), number("monitors"), number("checks")), (3.0, 30.0, 30.0), "{figures}");
    assert_eq!((number("missed"), number("not_ok"), number("lost")), (0.0, 0.0, 0.0), "{figures}");
    assert!(number("stored_per_s") > 3.0, "{figures}");
    assert!(number("assigned_us") > 0.0 && number("bus_bytes_per_check") > 100.0, "{figures}");
    assert!(number("agents_cpu_us_per_check") > 0.0 && number("control_cpu_us_per_check") > 0.0, "{figures}");
    assert!(number("lateness_p50_us") <= number("lateness_p99_us"), "{figures}");
    assert!(number("lateness_p99_us") <= number("lateness_max_us"), "{figures}");
    assert!(number("rss_per_idle_agent_bytes") < 100e6, "{figures}");
    assert!(
        number("rss_idle_bytes") > 1e6 && number("rss_peak_bytes") >= number("rss_idle_bytes"),
        "{figures}"
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn agents_need_a_nats_server_and_an_interval_of_monitors() {
    let run = |args: &[&str]| {
        let base = ["load", "--agents", "1", "--monitors-per-agent", "1", "--type", "tcp", "--duration", "0"];
        vigie(&[&base[..], args].concat())
    };
    let output = run(&["--interval", "7"]);
    assert_eq!(output.status.code(), Some(2), "{}", err(&output));
    assert!(err(&output).contains("interval_seconds"), "{}", err(&output));
    let output = run(&["--interval", "5", "--data", "x"]);
    assert_eq!(output.status.code(), Some(2), "{}", err(&output));
    let output = vigie(&["load", "--agents", "1", "--interval", "5", "--type", "tcp", "--duration", "0"]);
    assert!(err(&output).contains("--monitors-per-agent"), "{}", err(&output));
}

#[test]
fn a_simulation_holds_the_arithmetic_of_a_cluster() {
    let plan = ["--monitors", "300000", "--agents", "300", "--locations", "100", "--interval", "300"];
    let simulate = |more: &[&str]| {
        let mut args = vec!["load", "--simulate", "--type", "tcp", "--json"];
        args.extend(plan.iter().chain(more));
        let output = vigie(&args);
        assert_eq!(output.status.code(), Some(0), "{}", err(&output));
        serde_json::from_str::<serde_json::Value>(&out(&output)).unwrap()
    };
    let figures = simulate(&[]);
    let number = |pointer: &str| figures.pointer(pointer).and_then(serde_json::Value::as_f64).unwrap();
    // In the busiest second and at the busiest agent, chance adds a few times the root of the mean.
    assert_eq!(figures["checks_per_second"]["computed"], 1_000.0);
    assert!((1_001.0..1_250.0).contains(&number("/checks_per_second/simulated")), "{figures}");
    assert_eq!(figures["monitors_per_agent"]["computed"], 1_000.0);
    assert!((1_001.0..1_250.0).contains(&number("/monitors_per_agent/simulated")), "{figures}");
    assert_eq!(figures["waiting_results"]["computed"], 600_000.0);
    for figure in ["waiting_results", "catch_up_seconds"] {
        let ratio = number(&format!("/{figure}/simulated")) / number(&format!("/{figure}/computed"));
        assert!((0.95..1.05).contains(&ratio), "{figure}: {figures}");
    }
    assert_eq!(figures["cells"], 1.0);
    assert!(number("/measured/agent_cpu_us") > 1.0 && number("/measured/waiting_bytes") > 50.0, "{figures}");
    assert!(number("/measured/monitor_bytes") > 100.0, "{figures}");

    let overloaded = simulate(&["--stored-per-second", "900"]);
    assert!(overloaded["catch_up_seconds"]["computed"].is_null(), "{overloaded}");
    assert!(overloaded["catch_up_seconds"]["simulated"].is_null(), "{overloaded}");
    let waiting = overloaded["waiting_results"]["simulated"].as_f64().unwrap();
    assert!((570_000.0..630_000.0).contains(&waiting), "{overloaded}");
    assert_eq!(overloaded["cells"], 3.0, "{overloaded}");
}

#[test]
fn a_cluster_that_cannot_be_is_refused() {
    let plan = ["load", "--simulate", "--monitors", "10", "--interval", "60", "--type", "tcp"];
    for (more, expected) in [
        (&["--agents", "2", "--locations", "3"][..], "2 agents cannot serve 3 locations"),
        (&[][..], "--agents"),
        (&["--agents", "2", "--duration", "5"][..], "--duration"),
    ] {
        let output = vigie(&[&plan[..], more].concat());
        assert_eq!(output.status.code(), Some(2), "{more:?}");
        assert!(err(&output).contains(expected), "{more:?}: {}", err(&output));
    }
    let output = vigie(&["load", "--agents", "2", "--interval", "60", "--type", "tcp"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("--monitors-per-agent"), "{}", err(&output));
}
