//! What hosts report: state, history, rollups, retention.

#![allow(
    clippy::float_cmp,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "small numbers"
)]

use std::time::Duration;

use vigie::domain::{
    ConfigRecordKind, CustomerId, HostHistoryQuery, HostHistoryRow, HostId, HostReport, HostSpan, Revision,
    SeriesValue,
};
use vigie::store::{ConfigChange, HostStore as _, Housekeeping as _, NewConfigRecord, Retention};

use crate::store::samples::{at, sqlite};
use crate::store::suite::Store;

const HOST: HostId = HostId(7);

fn report(host_id: HostId, sequence: u64, seconds: i64, values: &[(&str, f64)]) -> HostReport {
    let to_value =
        |(series, value): &(&str, f64)| SeriesValue { series: (*series).to_owned(), value: *value };
    HostReport {
        host_id,
        sequence,
        measured_at: at(seconds),
        received_at: at(seconds + 1),
        agent_version: "0.1.0".to_owned(),
        system: "Debian 12".to_owned(),
        values: values.iter().map(to_value).collect(),
        interval_s: 60,
    }
}

async fn history(store: &impl Store, span: HostSpan) -> Vec<HostHistoryRow> {
    let query = HostHistoryQuery { host_id: HOST, span, from: at(0), until: at(100 * 24 * 3600) };
    store.host_history(query).await.unwrap()
}

pub async fn reports_become_state_and_history_once(store: &impl Store) {
    assert_eq!(store.host_state(HOST).await.unwrap(), None);
    let first = report(HOST, 1, 60, &[("disk_used_percent{mount=\"/\"}", 95.1), ("load1", 0.5)]);
    let second = report(HOST, 2, 120, &[("load1", 0.25)]);
    store.record_host_reports(vec![first.clone()]).await.unwrap();
    // Twice, and one that comes late.
    store.record_host_reports(vec![second.clone(), first.clone(), second.clone()]).await.unwrap();
    let late = report(HOST, 3, 90, &[("load1", 4.0)]);
    store.record_host_reports(vec![late]).await.unwrap();
    assert_eq!(store.host_state(HOST).await.unwrap(), Some(second), "the newest by the time it was measured");
    let rows = history(store, HostSpan::Report).await;
    let starts: Vec<_> = rows.iter().map(|row| row.start).collect();
    assert_eq!(starts, [at(60), at(90), at(120)]);
    let series: Vec<_> = rows[0].values.iter().map(|value| (value.series.as_str(), value.mean)).collect();
    assert_eq!(series[1], ("load1", 0.5));
    assert_eq!(series[0].0, "disk_used_percent{mount=\"/\"}");
    assert!((series[0].1 - 95.1).abs() < 0.1, "{}", series[0].1);
    let summaries = store.host_summaries(None).await.unwrap();
    assert_eq!(summaries.len(), 1);
    assert_eq!(store.host_summaries(Some(HOST)).await.unwrap(), summaries);
    assert_eq!(store.host_summaries(Some(HostId(HOST.0 + 1))).await.unwrap(), []);
    assert_eq!((summaries[0].host_id, summaries[0].measured_at), (HOST, at(120)));
}

pub async fn blocks_and_hours_are_rolled_up_and_late_reports_counted(store: &impl Store) {
    let reports = (0..10).map(|minute| report(HOST, minute, minute as i64 * 60, &[("load1", minute as f64)]));
    store.record_host_reports(reports.collect()).await.unwrap();
    assert_eq!(store.roll_up_hosts(at(5 * 60 + 59)).await.unwrap(), 0, "a minute after its end");
    assert_eq!(store.roll_up_hosts(at(6 * 60)).await.unwrap(), 1);
    assert_eq!(store.roll_up_hosts(at(6 * 60)).await.unwrap(), 0);
    let block = &history(store, HostSpan::Block).await[0];
    let value = &block.values[0];
    assert_eq!((block.start, value.min, value.mean, value.max), (at(0), 0.0, 2.0, 4.0));
    // A report that the agent had kept changes its block, and the hour.
    store.record_host_reports(vec![report(HOST, 99, 30, &[("load1", 20.0)])]).await.unwrap();
    assert_eq!(store.roll_up_hosts(at(3660)).await.unwrap(), 3, "two blocks and the hour");
    let blocks = history(store, HostSpan::Block).await;
    assert_eq!((blocks.len(), blocks[0].values[0].max), (2, 20.0));
    let hours = history(store, HostSpan::Hour).await;
    let value = &hours[0].values[0];
    assert_eq!((hours.len(), value.min, value.max), (1, 0.0, 20.0));
    assert_eq!(value.mean, 6.0, "the mean of 5 and 7");
}

pub async fn old_history_is_removed_by_span(store: &impl Store) {
    store.record_host_reports(vec![report(HOST, 1, 0, &[("load1", 1.0)])]).await.unwrap();
    store.roll_up_hosts(at(2 * 3600)).await.unwrap();
    let counts = async || {
        let mut counts = Vec::new();
        for span in HostSpan::ALL {
            counts.push(history(store, span).await.len());
        }
        counts
    };
    let long = Duration::from_hours(1000 * 24);
    let retention = Retention {
        results: long,
        details_ok: long,
        details_failed: long,
        hourly_rollups: long,
        daily_rollups: None,
        audit_entries: long,
    };
    let mut seen = vec![counts().await];
    for days in [1, 3, 15, 401, 403] {
        store.apply_retention(retention.clone(), at(days * 24 * 3600)).await.unwrap();
        seen.push(counts().await);
    }
    assert_eq!(seen, [[1, 1, 1], [1, 1, 1], [0, 1, 1], [0, 0, 1], [0, 0, 0], [0, 0, 0]]);
    assert!(store.host_state(HOST).await.unwrap().is_some(), "the newest report stays");
}

pub async fn a_removed_host_leaves_nothing(store: &impl Store) {
    let record = NewConfigRecord {
        kind: ConfigRecordKind::Host,
        customer: Some(CustomerId(1)),
        parent_id: None,
        unique_key: None,
        created_at: at(0),
        created_by: String::new(),
        fields: serde_json::Map::new(),
        private_data: None,
    };
    let id = store.write_changes(vec![ConfigChange::CreateRecord(record)], Vec::new()).await.unwrap()[0];
    store.record_host_reports(vec![report(HostId(id), 1, 0, &[("load1", 1.0)])]).await.unwrap();
    let remove = ConfigChange::RemoveRecord { kind: ConfigRecordKind::Host, id, expected: Revision(1) };
    store.write_changes(vec![remove], Vec::new()).await.unwrap();
    assert_eq!(store.host_state(HostId(id)).await.unwrap(), None);
    assert_eq!(store.roll_up_hosts(at(7200)).await.unwrap(), 0);
}

/// The bound of the issue, on the disk: a day of reports of hosts with two disks, their blocks and hours.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_takes_at_most_300_kb_a_day() {
    const HOSTS: i64 = 10;
    let folder = tempfile::tempdir().unwrap();
    let size = || {
        let files = std::fs::read_dir(folder.path()).unwrap();
        files.map(|file| file.unwrap().metadata().unwrap().len()).sum::<u64>()
    };
    for series_count in [30, 100] {
        let store = sqlite(folder.path());
        let names: Vec<String> = (0..series_count).map(|index| format!("metric_{index}")).collect();
        store.close().await;
        let before = size();
        let store = sqlite(folder.path());
        for minute in 0..1440_u64 {
            let reports = (0..HOSTS).map(|host| {
                let values =
                    |index: usize| (names[index].as_str(), (minute * 7 + index as u64) as f64 * 1.37);
                let values: Vec<_> = (0..series_count).map(values).collect();
                report(HostId(series_count as i64 * 100 + host), minute, minute as i64 * 60, &values)
            });
            store.record_host_reports(reports.collect()).await.unwrap();
            if minute % 60 == 59 {
                store.roll_up_hosts(at(minute as i64 * 60 + 120)).await.unwrap();
            }
        }
        store.roll_up_hosts(at(26 * 3600)).await.unwrap();
        store.close().await;
        let per_host = (size() - before) / HOSTS as u64;
        println!("{series_count} series: {per_host} bytes a host and day");
        assert!(per_host <= 300_000, "{series_count} series: {per_host} bytes a host and day");
    }
}
