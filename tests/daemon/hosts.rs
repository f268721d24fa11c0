//! Hosts and pushes at the running server: from the report to the result; and ten thousand hosts.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use vigie::domain::{ConfigRecordKind, CustomerId, Timestamp};
use vigie::store::{ConfigChange, ConfigStore as _, NewConfigRecord, SqliteSettings, SqliteStore};

use crate::daemon::process::{Daemon, command, folder};
use crate::support::long_tests::full;

fn report(sequence: u64, metrics: &Value) -> Value {
    let now = jiff::Timestamp::now().to_string();
    json!({"version": 1, "seq": sequence, "at": now, "sent_at": now, "agent_version": "0.1.0", "os": "Debian 12",
        "kernel": "6.1", "metrics": metrics})
}

/// Waits for the newest result of a monitor that `is_wanted`.
fn wait_for_result(daemon: &Daemon, monitor: &str, is_wanted: impl Fn(&Value) -> bool) -> Value {
    let started = Instant::now();
    loop {
        let (_, body) = daemon.call("GET", &format!("/results?monitor_id={monitor}&limit=1"), &Value::Null);
        let result = &body["results"][0];
        if is_wanted(result) {
            return result.clone();
        }
        assert!(started.elapsed() < Duration::from_secs(40), "{body}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_report_and_a_push_become_results() {
    let daemon = Daemon::start("[]\n");
    let (status, host) = daemon.call("POST", "/hosts", &json!({"name": "db1", "address": "127.0.0.1"}));
    assert_eq!(status, 200, "{host}");
    let path = format!("/hosts/{}/reports", host["id"].as_str().unwrap());
    let metrics = json!({"load1": 9.5, "disk_used_percent{mount=\"/\"}": 20});
    let sent = daemon.call_with_token(host["token"].as_str().unwrap(), "POST", &path, &report(1, &metrics));
    assert_eq!(sent.0, 204, "{}", sent.1);
    let monitor = json!({"name": "db1", "billing_plancode": "x", "host_id": "db1", "interval": 120,
        "thresholds": [{"metric": "load1", "error": 8}, {"metric": "disk_used_percent", "error": 95}]});
    let (_, made) = daemon.call("POST", "/monitors/hostagent", &monitor);
    let result = wait_for_result(&daemon, made["id"].as_str().unwrap(), |result| result["status"] == 4040);
    assert_eq!(result["facts"]["host_values"][0]["series"], "load1");
    assert!(result["reasons"].to_string().contains("`load1` is 9.5, at or above 8"), "{result}");
    // A job says that it failed: the health shows it with the next check, which comes at once.
    let pushed = json!({"name": "backup", "billing_plancode": "x", "report": "push", "interval": 120});
    let (_, made) = daemon.call("POST", "/monitors/hostagent", &pushed);
    let id = made["id"].as_str().unwrap();
    let (_, token) = daemon.call("POST", &format!("/monitors/{id}/push-token"), &Value::Null);
    let path = format!("{}?status=down&exit_code=3", token["path"].as_str().unwrap());
    let response = daemon.send_raw("POST", &path, "Host: localhost\r\nContent-Length: 8\r\n", "no space");
    assert_eq!((response.status, response.body.as_str()), (200, r#"{"ok":true}"#));
    let result = wait_for_result(&daemon, id, |result| result["status"] == 4040);
    assert_eq!(result["facts"]["push_exit_code"], 3);
    assert!(result["captures"].to_string().contains("output.txt"), "{result}");
}

const HOSTS: usize = 10_000;
const CONNECTIONS: usize = 20;
/// Seconds for which reports are sent.
const DURATION_S: usize = 120;

/// Returns the processor time that the process took, from `/proc/PID/stat` (proc(5)).
fn cpu_time(process: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}

/// A connection that is kept for many reports, as a reverse proxy has one.
struct Reporter(TcpStream);

impl Reporter {
    fn send(&mut self, host: i64, body: &[u8]) {
        let head = format!(
            "POST /api/v3/hosts/{host}/reports HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer vgh_{host}_secret\r\n\
             Content-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        self.0.write_all(&[head.as_bytes(), body].concat()).unwrap();
        let mut response = [0; 4096];
        let read = self.0.read(&mut response).unwrap();
        assert!(response.starts_with(b"HTTP/1.1 204"), "{}", String::from_utf8_lossy(&response[..read]));
    }
}

/// Makes hosts and their monitors in the database, before a server has it.
async fn fill(data: &std::path::Path) -> Vec<i64> {
    std::fs::create_dir_all(data).unwrap();
    let store = SqliteStore::open(&data.join("vigie.db"), &SqliteSettings::default()).unwrap();
    let hash = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, b"secret").as_ref().to_vec();
    let host = |number: usize| {
        ConfigChange::CreateRecord(NewConfigRecord {
            kind: ConfigRecordKind::Host,
            customer: Some(CustomerId(1)),
            parent_id: None,
            unique_key: Some(format!("1:host{number}")),
            created_at: Timestamp::from_seconds(1_790_000_000),
            created_by: "test".to_owned(),
            fields: json!({"name": format!("host{number}")}).as_object().unwrap().clone(),
            private_data: Some(hash.clone()),
        })
    };
    let mut ids = Vec::new();
    for start in (0..HOSTS).step_by(1000) {
        let changes = (start..start + 1000).map(host).collect();
        ids.extend(store.write_changes(changes, Vec::new()).await.unwrap());
    }
    store.close().await;
    ids
}

/// Reports of ten thousand hosts, one a minute each, take less than a quarter of a processor. Prints the figures of the
/// benchmarks page; with `VIGIE_WITH_MONITORS` those with a monitor of each host that is checked each minute.
#[test]
#[allow(clippy::print_stdout, reason = "the figures")]
fn ten_thousand_hosts_take_less_than_a_quarter_of_a_processor() {
    if !full() {
        return;
    }
    let monitor = |host: usize| {
        format!(
            "- {{key: h{host}, type: hostagent, name: h{host}, billing_plancode: x, host_id: host{host}, \
             interval: 1, thresholds: [{{metric: load1, error: 100}}]}}"
        )
    };
    let with_monitors = std::env::var_os("VIGIE_WITH_MONITORS").is_some();
    let monitor_count = if with_monitors { HOSTS } else { 1 };
    let monitors = (0..monitor_count).map(monitor).collect::<Vec<_>>().join("\n");
    let folder = folder(&monitors);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let ids = runtime.block_on(fill(&folder.path().join("data")));
    let child = command(folder.path()).spawn().unwrap();
    let daemon = Daemon::from_child(child, folder);
    let metrics: serde_json::Map<String, Value> =
        (0..24).map(|index| (format!("metric_{index}"), json!(index * 3))).collect();
    let mut metrics = Value::Object(metrics);
    metrics["load1"] = json!(0.5);
    let address = daemon.address;
    let (cpu_before, started) = (cpu_time(daemon.process_id()), Instant::now());
    let per_connection = HOSTS / CONNECTIONS;
    let threads: Vec<_> = ids
        .chunks(per_connection)
        .map(|hosts| {
            let (hosts, metrics) = (hosts.to_vec(), metrics.clone());
            std::thread::spawn(move || {
                let mut reporter = Reporter(TcpStream::connect(address).unwrap());
                let pause = Duration::from_mins(1) / u32::try_from(hosts.len()).unwrap();
                let started = Instant::now();
                let rounds = DURATION_S / 60;
                let order = (0..rounds).flat_map(|round| hosts.iter().map(move |host| (round, *host)));
                for (number, (round, host)) in order.enumerate() {
                    let body = report(round as u64 + 1, &metrics).to_string();
                    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                    encoder.write_all(body.as_bytes()).unwrap();
                    reporter.send(host, &encoder.finish().unwrap());
                    let due = started + pause * u32::try_from(number + 1).unwrap();
                    std::thread::sleep(due.saturating_duration_since(Instant::now()));
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let (cpu, elapsed) = (cpu_time(daemon.process_id()).saturating_sub(cpu_before), started.elapsed());
    let share = cpu.as_secs_f64() / elapsed.as_secs_f64();
    let size = std::fs::metadata(daemon.folder.path().join("data/vigie.db")).unwrap().len();
    println!(
        "{HOSTS} hosts, {monitor_count} monitors, {} reports in {elapsed:.1?}: {cpu:.2?} of a processor, {share:.3}; database {size} bytes",
        HOSTS * DURATION_S / 60
    );
    // Checks are no part of the bound.
    assert!(share < 0.25 || with_monitors, "{share:.3} of a processor");
}
