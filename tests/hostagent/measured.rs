//! What the agent measures, compared with what the system says.

use std::fs;
use std::process::Command;

use serde_json::Value;
use vigie::domain::{HOST_METRICS, MetricUnit, find_host_metric};
use vigie::syntax::prometheus::series_name::SeriesName;

use crate::support::binary::{err, out, vigie};

/// Measures this host once.
fn measured() -> Value {
    let output = vigie(&["hostagent", "--once", "--process", "vigie", "--process", "no-such-process"]);
    assert!(output.status.success(), "{}", err(&output));
    serde_json::from_str(&out(&output)).unwrap()
}

/// Returns the number at `field` of a file of `/proc`.
fn number(file: &str, field: usize) -> f64 {
    fs::read_to_string(file).unwrap().split_whitespace().nth(field).unwrap().parse().unwrap()
}

fn assert_close(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected}");
}

#[test]
fn the_values_are_those_of_this_host() {
    let report = measured();
    assert_eq!(report["version"], 1);
    assert_eq!(report["agent_version"], env!("CARGO_PKG_VERSION"));
    assert!(!report["os"].as_str().unwrap().is_empty());
    assert_eq!(report["kernel"], fs::read_to_string("/proc/sys/kernel/osrelease").unwrap().trim());
    assert!(report.get("seq").is_none(), "what is not sent has no number");
    let metrics = report["metrics"].as_object().unwrap();
    let value = |series: &str| metrics.get(series).unwrap_or_else(|| panic!("no {series}")).as_f64().unwrap();

    for (series, value) in metrics {
        let name = SeriesName::parse(series).unwrap();
        assert_eq!(&name.to_string(), series, "it is canonical");
        let metric = find_host_metric(name.metric()).unwrap_or_else(|| panic!("{series} is in no table"));
        let labels: Vec<_> = name.labels().iter().map(|(label, _)| label.as_str()).collect();
        assert_eq!(labels, metric.label.as_slice(), "{series}");
        let value = value.as_f64().unwrap();
        let bounded = metric.unit == MetricUnit::Percent && metric.name != "process_cpu_percent";
        assert!(value.is_finite() && (!bounded || (0.0..=100.0).contains(&value)), "{series} {value}");
    }
    for metric in HOST_METRICS.iter().filter(|metric| metric.label.is_none()) {
        assert!(metrics.contains_key(metric.name), "no {}", metric.name);
    }
    assert_close(value("memory_total_bytes"), number("/proc/meminfo", 1) * 1024.0, 1.0);
    assert!(value("memory_used_bytes") > 0.0 && value("memory_used_bytes") < value("memory_total_bytes"));
    let cpus = fs::read_to_string("/proc/stat").unwrap();
    let cpus = cpus.lines().filter(|line| line.starts_with("cpu") && !line.starts_with("cpu ")).count();
    assert_close(value("cpu_count"), cpus as f64, 0.1);
    assert_close(value("load1"), number("/proc/loadavg", 0), 4.0);
    assert_close(value("load15"), number("/proc/loadavg", 2), 1.0);
    assert_close(value("uptime_seconds"), number("/proc/uptime", 0), 30.0);
    assert!(value("processes") >= 2.0);
    assert!(value(r#"process_count{name="vigie"}"#) >= 1.0);
    assert!(value(r#"process_memory_bytes{name="vigie"}"#) > 1_000_000.0);
    assert_close(value(r#"process_count{name="no-such-process"}"#), 0.0, 0.1);
    let interfaces = fs::read_dir("/sys/class/net").unwrap().flatten();
    for interface in interfaces.map(|entry| entry.file_name().into_string().unwrap()) {
        let is_measured = metrics.keys().any(|series| series.contains(&format!("interface=\"{interface}\"")));
        assert_eq!(is_measured, interface != "lo" && !interface.starts_with("veth"), "{interface}");
    }
}

/// Each mount has the figures that df shows, which rounds up.
#[test]
fn file_systems_are_as_full_as_df_says() {
    let report = measured();
    let mut compared = 0;
    for (series, value) in report["metrics"].as_object().unwrap() {
        let name = SeriesName::parse(series).unwrap();
        let column = match name.metric() {
            "disk_used_percent" => "pcent",
            "inodes_used_percent" => "ipcent",
            "disk_total_bytes" => "size",
            _ => continue,
        };
        let arguments = ["--block-size=1", &format!("--output={column}"), name.label("mount").unwrap()];
        let output = Command::new("df").args(arguments).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let expected: f64 = text.lines().nth(1).unwrap().trim().trim_end_matches('%').parse().unwrap();
        let tolerance = if column == "size" { 0.0 } else { 2.0 };
        assert!(
            (value.as_f64().unwrap() - expected).abs() <= tolerance,
            "{series} {value}, df says {expected}"
        );
        compared += 1;
    }
    assert!(compared > 0, "{report}");
}
