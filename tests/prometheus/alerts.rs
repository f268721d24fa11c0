//! The alert rules fire when they should, by `promtool test rules`, and are those of the manual.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use vigie::syntax::node::Node;

use super::expressions::{AlertRule, alert_rules, folder, rules_of};

/// For each alert, series that make it fire and others that do not.
const CASES: &[(&str, &[&str], &[&str])] = &[
    ("VigieOutage", &["vigie_monitor_outage_open{name=\"a\"} 1x100"], &["vigie_monitor_outage_open 0x100"]),
    (
        "VigieLocationFails",
        &["vigie_monitor_up{name=\"a\",location=\"x\"} 0x100"],
        &["vigie_monitor_up{name=\"a\",location=\"x\"} 1x100"],
    ),
    (
        "VigieNoResult",
        &["vigie_monitor_outcome{outcome=\"missed\"} 1x100"],
        &["vigie_monitor_outcome{outcome=\"error\"} 1x100"],
    ),
    (
        "VigieCertificateExpires",
        &["vigie_monitor_certificate_end_timestamp_seconds 1214000x100"],
        &["vigie_monitor_certificate_end_timestamp_seconds 1216000x100"],
    ),
    (
        "VigieErrorBudgetUsedUp",
        &["vigie_monitor_sla_budget_ratio -0.5x100"],
        &["vigie_monitor_sla_budget_ratio 0.2x100"],
    ),
    (
        "VigieSeriesLeftOut",
        &["vigie_monitor_series_left_out{metric=\"a\"} 3x100"],
        &["vigie_monitor_series_left_out{metric=\"a\"} 0x100"],
    ),
    (
        "VigieDown",
        &["up{job=\"vigie-monitors\"} 0x100"],
        &["up{job=\"vigie\"} 1x100", "up{job=\"node\"} 0x100"],
    ),
    (
        "VigieReloadRefused",
        &["vigie_config_last_reload_taken 0x100"],
        &["vigie_config_last_reload_taken 1x100"],
    ),
    (
        "VigieMissesRuns",
        &["vigie_missed_runs_total{reason=\"overload\"} 0+1x100"],
        &["vigie_missed_runs_total{reason=\"not_running\"} 0+1x100"],
    ),
    (
        "VigieIsLate",
        &[
            "vigie_check_lateness_seconds_bucket{le=\"1.0\"} 0x100",
            "vigie_check_lateness_seconds_bucket{le=\"5.0\"} 0+5x100",
            "vigie_check_lateness_seconds_bucket{le=\"+Inf\"} 0+5x100",
        ],
        &[
            "vigie_check_lateness_seconds_bucket{le=\"1.0\"} 0+5x100",
            "vigie_check_lateness_seconds_bucket{le=\"+Inf\"} 0+5x100",
        ],
    ),
    (
        "VigieCannotStore",
        &["vigie_store_commit_errors_total{kind=\"full\"} 0+1x100"],
        &["vigie_store_commit_errors_total{kind=\"full\"} 7x100"],
    ),
    (
        "VigieResultsWait",
        &["vigie_ingest_queued_results 5001x100"],
        &["vigie_ingest_queued_results 5000x100"],
    ),
    (
        "VigieGaveUpNotifications",
        &["vigie_notifications_total{outcome=\"dead\"} 0+1x100"],
        &["vigie_notifications_total{outcome=\"sent\"} 0+1x100"],
    ),
    (
        "VigieTaskPanics",
        &["vigie_task_panics_total{task=\"ingest\"} 0+1x100"],
        &["vigie_task_panics_total{task=\"ingest\"} 7x100"],
    ),
    (
        "VigieQuarantined",
        &["vigie_quarantined_total{kind=\"result\"} 0+1x100"],
        &["vigie_quarantined_total{kind=\"result\"} 7x100"],
    ),
    (
        "VigieLosesResults",
        &["vigie_spool_dropped_total{kind=\"result\"} 0+1x100"],
        &["vigie_spool_dropped_total{kind=\"capture\"} 0+1x100"],
    ),
    (
        "VigieHousekeepingFails",
        &["vigie_housekeeping_runs_total{job=\"purge\",outcome=\"failed\"} 0+1x100"],
        &["vigie_housekeeping_runs_total{job=\"purge\",outcome=\"done\"} 0+1x100"],
    ),
    (
        "VigieSeesUnknowns",
        &[
            "vigie_check_results_total{outcome=\"unknown\"} 0+1x100",
            "vigie_check_results_total{outcome=\"ok\"} 0+9x100",
        ],
        &[
            "vigie_check_results_total{outcome=\"unknown\"} 0+1x100",
            "vigie_check_results_total{outcome=\"ok\"} 0+99x100",
        ],
    ),
    (
        "VigieRunsOutOfDescriptors",
        &["process_open_fds{job=\"vigie\"} 900x100", "process_max_fds{job=\"vigie\"} 1024x100"],
        &["process_open_fds{job=\"vigie\"} 90x100", "process_max_fds{job=\"vigie\"} 1024x100"],
    ),
];

/// Returns a file of `promtool test rules` in which each alert of [`CASES`] fires at 90 minutes, or does not.
fn rule_tests(fire: bool) -> String {
    let mut text = format!("rule_files: ['{}']\ntests:\n", folder().join("prometheus-alerts.yml").display());
    for (alert, firing, calm) in CASES {
        text.push_str("  - interval: 1m\n    input_series:\n");
        for line in *if fire { firing } else { calm } {
            let (series, values) = line.rsplit_once(' ').unwrap();
            writeln!(text, "      - {{series: '{series}', values: '{values}'}}").unwrap();
        }
        // Labels and annotations of what fires differ by alert, so its series in `ALERTS` are counted.
        write!(
            text,
            "    promql_expr_test:\n      - expr: 'count(ALERTS{{alertname=\"{alert}\",alertstate=\"firing\"}}) or vector(0)'\n        \
             eval_time: 90m\n        exp_samples: [{{labels: '{{}}', value: {}}}]\n",
            u8::from(fire)
        )
        .unwrap();
    }
    text
}

#[test]
fn each_alert_fires_when_it_should_and_not_otherwise() {
    let rules: BTreeSet<String> = alert_rules().into_iter().map(|rule| rule.name).collect();
    assert_eq!(rules, CASES.iter().map(|case| case.0.to_owned()).collect());
    let folder = tempfile::tempdir().unwrap();
    for fire in [true, false] {
        let path = folder.path().join("rules.test.yml");
        fs::write(&path, rule_tests(fire)).unwrap();
        let tested = Command::new("promtool").args(["test", "rules"]).arg(&path).output();
        let tested = tested.expect("promtool, from the package prometheus");
        let said = String::from_utf8([tested.stdout, tested.stderr].concat()).unwrap();
        assert!(tested.status.success(), "fire {fire}: {said}");
    }
}

/// The manual shows the rules about the server, and names those about monitors.
#[test]
fn the_rules_are_those_of_the_manual() {
    let operations = vigie::manual::find_page("operations").unwrap().markdown;
    let shown = operations.split("```yaml\ngroups:").nth(1).unwrap().split("```").next().unwrap();
    let shown = rules_of(&Node::from_yaml(&format!("groups:{shown}")).unwrap());
    let text = |rule: &AlertRule| {
        let expression = rule.expression.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("{} for {}: {expression}", rule.name, rule.duration)
    };
    let shown: Vec<String> = shown.iter().map(text).collect();
    let (server, monitors): (Vec<_>, Vec<_>) =
        alert_rules().into_iter().partition(|rule| rule.group == "vigie");
    assert_eq!(server.iter().map(text).collect::<Vec<_>>(), shown);
    let page = vigie::manual::find_page("prometheus").unwrap().markdown;
    let runbook = vigie::manual::find_page("runbook").unwrap().markdown;
    assert!(server.iter().all(|rule| runbook.contains(&format!("\n## {}\n", rule.name))));
    assert!(
        !monitors.is_empty() && monitors.iter().all(|rule| page.contains(&format!("| `{}` |", rule.name)))
    );
}
