//! What a collection costs beside API steps: the same ten requests, with and without a script of a line.

use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use serde_json::{Value, json};
use vigie::probe::ProbeBuildContext;

use super::check::run_fields;
use super::echo;
use crate::probe_api::check::{get, passed, run};
use crate::support::processes::child_processes;

/// Attempts of each kind in a turn.
const ATTEMPTS: u32 = 10;
/// Turns; the cheapest counts, since other work on the machine only ever adds.
const TURNS: usize = 8;

/// Processor time of this process and of those that run its scripts.
fn cpu_time() -> Duration {
    own_cpu_time() + script_processes_cpu_time()
}

/// Processor time of the children that run, to a hundredth of a second.
fn script_processes_cpu_time() -> Duration {
    child_processes().iter().map(|child| child.cpu_time).sum()
}

/// Processor time of this process, in all threads.
fn own_cpu_time() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_SELF).unwrap();
    let to_duration = |time: nix::sys::time::TimeVal| {
        Duration::new(time.tv_sec().unsigned_abs(), u32::try_from(time.tv_usec()).unwrap() * 1000)
    };
    to_duration(usage.user_time()) + to_duration(usage.system_time())
}

fn items(base: &str, code: Option<&str>) -> Value {
    let item = |number: u32| {
        let mut item = json!({"name": format!("r{number}"), "request": format!("{base}/x?n={number}")});
        if let Some(code) = code {
            item["event"] = json!([{"listen": "test", "script": {"exec": [code]}}]);
        }
        item
    };
    (0..10).map(item).collect()
}

async fn run_collection(items: &Value) {
    let script = json!({"info": {"name": "c"}, "item": items}).to_string();
    let fields = json!({"script": script}).as_object().unwrap().clone();
    passed(&run_fields(fields, &ProbeBuildContext::default(), Duration::from_secs(30)).await);
}

#[tokio::test]
async fn ten_requests_cost_as_much_as_ten_steps() {
    if std::env::var_os("VIGIE_FULL").is_none() {
        return;
    }
    let service = echo::start().await;
    let base = service.url("");
    let steps: Vec<Value> = (0..10).map(|number| get("r", &format!("{base}/x?n={number}"))).collect();
    let plain = items(&base, None);
    let with_scripts = items(&base, Some("pm.test('ok', () => pm.response.to.have.status(200))"));
    let mut cheapest = [Duration::MAX; 3];
    for _ in 0..TURNS {
        for (index, cheapest) in cheapest.iter_mut().enumerate() {
            let start = cpu_time();
            for _ in 0..ATTEMPTS {
                match index {
                    0 => passed(&run(&steps).await),
                    1 => run_collection(&plain).await,
                    _ => run_collection(&with_scripts).await,
                }
            }
            *cheapest = (*cheapest).min(cpu_time().saturating_sub(start) / ATTEMPTS);
        }
    }
    let [steps, plain, scripts] = cheapest;
    let ratio = plain.as_secs_f64() / steps.as_secs_f64();
    let per_script = scripts.saturating_sub(plain) / 10;
    println!("ten steps {steps:?}, ten requests {plain:?} ({ratio:.3}), a script more {per_script:?}");
    assert!(ratio <= 1.1, "{ratio}");
    assert!(per_script <= Duration::from_millis(5), "{per_script:?}");
}
