use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use vigie::domain::{AgentId, CustomerId, LocationId, NotificationMethod, Outcome, Timestamp};
use vigie::telemetry::{AgentSample, Metrics, RunnerLoad};

use crate::daemon::support::result;

/// Returns metrics with every metric recorded at least once.
fn with_every_metric() -> Metrics {
    let metrics = Metrics::new();
    let mut retried = result(1, 0, Outcome::Error);
    retried.attempts.push(retried.attempts[0].clone());
    metrics.record_result(&retried);
    metrics.record_result(&result(1, 1, Outcome::Ok));
    metrics.record_result(&result(1, 2, Outcome::Missed));
    metrics.record_plan_check(CustomerId(1), "basic", &result(1, 1, Outcome::Ok));
    metrics.record_event(CustomerId(1), "deploy");
    metrics.record_load_change(
        RunnerLoad::default(),
        RunnerLoad { planned_monitors: 5, queued_runs: 4, light_checks: 2, heavy_checks: 1 },
    );
    // A second location, and a change of the first.
    metrics.record_load_change(
        RunnerLoad::default(),
        RunnerLoad { planned_monitors: 5, ..RunnerLoad::default() },
    );
    let now = RunnerLoad { planned_monitors: 4, queued_runs: 4, light_checks: 2, heavy_checks: 0 };
    metrics.record_load_change(RunnerLoad { heavy_checks: 1, planned_monitors: 5, ..now }, now);
    metrics.set_ingest_queue_depth(1);
    metrics.record_commit(500, Duration::from_millis(3));
    metrics.record_commit_error("full");
    metrics.record_housekeeping_run("roll_up", "done");
    metrics.record_reload(true);
    metrics.record_delivery(NotificationMethod::JsonPost, true, Duration::from_millis(3));
    metrics.set_agent_lookup(std::sync::Arc::new(|| vec![agent_sample(5), agent_sample(6)]));
    metrics
}

/// Returns what the last heartbeat of an agent shows.
fn agent_sample(agent_id: i64) -> AgentSample {
    AgentSample {
        location_id: LocationId(3),
        agent_id: AgentId(agent_id),
        is_online: agent_id == 5,
        last_seen_at: Timestamp::from_micros(1_767_225_600_250_000),
        clock_offset_us: (agent_id == 5).then_some(-1500),
        lateness: Duration::from_millis(12),
        planned_monitors: 800,
        running_checks: 4,
        waiting_checks: 2,
        spool_results: 40,
        spool_bytes: 4096,
        dropped_results: 7,
        dropped_captures: 1,
        waiting_results: 3,
    }
}

/// Returns `name type labels` of every metric, sorted.
fn catalogue(text: &str) -> String {
    let mut types = BTreeMap::new();
    let mut labels: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            types.insert(name, kind);
        } else if !line.starts_with('#') {
            let (series, inside) = line.split_once('{').map_or((line, ""), |(s, i)| (s, i));
            let series = series.split(' ').next().unwrap();
            let name =
                types.keys().filter(|name| series.starts_with(**name)).max_by_key(|n| n.len()).unwrap();
            let names = inside.split_once('}').map_or("", |(i, _)| i);
            let names = names.split(',').filter_map(|pair| pair.split_once('=')).map(|(name, _)| name);
            labels.entry(name).or_default().extend(names);
        }
    }
    let line = |(name, kind): (&&str, &&str)| {
        let labels = labels.get(*name).into_iter().flatten().copied().collect::<Vec<_>>().join(",");
        format!("{name} {kind} {labels}").trim_end().to_owned()
    };
    types.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_metric_name_type_and_label_is_as_the_catalogue_says() {
    insta::assert_snapshot!(catalogue(&with_every_metric().encode()));
}

#[test]
fn each_agent_has_series_of_its_own_and_none_for_what_is_not_known() {
    let text = with_every_metric().encode();
    for line in [
        r#"vigie_agent_online{location_id="3",agent_id="5"} 1.0"#,
        r#"vigie_agent_online{location_id="3",agent_id="6"} 0.0"#,
        r#"vigie_agent_last_seen_timestamp_seconds{location_id="3",agent_id="5"} 1767225600.25"#,
        r#"vigie_agent_clock_offset_seconds{location_id="3",agent_id="5"} -0.0015"#,
        r#"vigie_agent_lateness_seconds{location_id="3",agent_id="5"} 0.012"#,
        r#"vigie_agent_monitors_planned{location_id="3",agent_id="5"} 800.0"#,
        r#"vigie_agent_checks_in_flight{location_id="3",agent_id="5"} 4.0"#,
        r#"vigie_agent_runs_queued{location_id="3",agent_id="5"} 2.0"#,
        r#"vigie_agent_spool_results{location_id="3",agent_id="5"} 40.0"#,
        r#"vigie_agent_spool_bytes{location_id="3",agent_id="5"} 4096.0"#,
        r#"vigie_agent_spool_dropped_total{location_id="3",agent_id="5",kind="result"} 7"#,
        r#"vigie_agent_spool_dropped_total{location_id="3",agent_id="6",kind="capture"} 1"#,
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is missing in {text}");
    }
    assert_eq!(text.matches("vigie_agent_clock_offset_seconds{").count(), 1, "{text}");
    let metrics = Metrics::new();
    assert!(!metrics.encode().contains("vigie_agent"), "{}", metrics.encode());
    metrics.set_agent_lookup(std::sync::Arc::new(|| (0..10_001).map(agent_sample).collect()));
    assert_eq!(metrics.encode().matches("vigie_agent_online{").count(), 10_000);
}

#[test]
fn a_result_is_counted_by_outcome_type_failure_phase_and_lateness() {
    let text = with_every_metric().encode();
    for line in [
        r#"vigie_check_results_total{outcome="error",type="website"} 1"#,
        r#"vigie_check_results_total{outcome="ok",type="website"} 1"#,
        r#"vigie_check_results_total{outcome="missed",type="website"} 3"#,
        r#"vigie_missed_runs_total{reason="overload"} 3"#,
        r#"vigie_missed_runs_total{reason="paused"} 0"#,
        r#"vigie_attempt_failures_total{kind="connect_refused"} 2"#,
        r#"vigie_check_retries_total{type="website"} 1"#,
        r#"vigie_attempt_phase_seconds_count{phase="connect",type="website"} 3"#,
        r#"vigie_attempt_phase_seconds_count{phase="first_byte",type="website"} 1"#,
        r#"vigie_check_duration_seconds_count{type="website"} 2"#,
        r"vigie_check_lateness_seconds_sum 0.004",
        r#"vigie_check_lateness_seconds_bucket{le="0.002"} 2"#,
        r"vigie_runs_queued 4",
        r#"vigie_checks_in_flight{weight="light"} 2"#,
        r"vigie_monitors_planned 9",
        r"vigie_ingest_queued_results 1",
        r"vigie_store_commit_results_sum 500.0",
        r#"vigie_store_commit_errors_total{kind="full"} 1"#,
        r#"vigie_housekeeping_runs_total{job="roll_up",outcome="done"} 1"#,
        r#"vigie_config_reloads_total{outcome="taken"} 1"#,
        r#"vigie_config_reloads_total{outcome="refused"} 0"#,
        r"vigie_config_last_reload_taken 1",
    ] {
        assert!(text.lines().any(|found| found == line), "`{line}` is not in\n{text}");
    }
    assert!(text.ends_with("# EOF\n"));
}

#[test]
fn a_refused_reload_is_shown_and_keeps_the_time_of_the_last() {
    let metrics = Metrics::new();
    metrics.record_reload(true);
    let stamp = |text: &str| text.lines().find(|l| l.starts_with("vigie_config_taken_")).unwrap().to_owned();
    let before = stamp(&metrics.encode());
    metrics.record_reload(false);
    let text = metrics.encode();
    assert!(text.contains("\nvigie_config_last_reload_taken 0\n"));
    assert_eq!(stamp(&text), before);
    assert!(!before.ends_with(" 0"));
}
