//! CPU time of two implementations of the same work that alternate in one run: only their ratio counts.
#![allow(dead_code)]

use std::sync::Arc;
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use vigie::clock::SystemClock;
use vigie::domain::{MonitorType, Observation};
use vigie::net::{Deadline, Net, NetConfig, PublicRoots, TrustConfig};
use vigie::probe::{Probe, ProbeBuildContext, ProbeContext, build_probe};
use vigie::schema::MonitorDocument;

/// Returns the CPU time that `who` has used so far, user and system.
pub fn cpu(who: UsageWho) -> Duration {
    let usage = getrusage(who).unwrap();
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Duration::from_micros(u64::try_from(micros).unwrap())
}

/// Checks of one side before the other side's turn, so that other load of the machine affects both alike.
const TURN: u32 = 10;

/// Returns the CPU time of all threads of this process for `checks` of each side, in each of `rounds` rounds after a
/// warm-up.
pub async fn alternate(
    rounds: usize,
    checks: u32,
    mut ours: impl AsyncFnMut(),
    mut bare: impl AsyncFnMut(),
) -> Vec<(Duration, Duration)> {
    let mut costs = Vec::new();
    for _ in 0..=rounds {
        let mut cost = (Duration::ZERO, Duration::ZERO);
        for _ in 0..checks / TURN {
            let start = cpu(UsageWho::RUSAGE_SELF);
            for _ in 0..TURN {
                ours().await;
            }
            let middle = cpu(UsageWho::RUSAGE_SELF);
            for _ in 0..TURN {
                bare().await;
            }
            let end = cpu(UsageWho::RUSAGE_SELF);
            cost.0 += middle.saturating_sub(start);
            cost.1 += end.saturating_sub(middle);
        }
        costs.push(cost);
    }
    costs.split_off(1)
}

/// Prints the CPU time per piece of both sides in each round, and returns the median of the ratios.
pub fn report(name: &str, other: &str, rounds: &[(Duration, Duration)], count: u32, limit: f64) -> f64 {
    let micros = |time: Duration| time.as_secs_f64() * 1e6 / f64::from(count);
    let mut ratios: Vec<f64> =
        rounds.iter().map(|(ours, bare)| ours.as_secs_f64() / bare.as_secs_f64()).collect();
    for (ours, bare) in rounds {
        println!("  ours {:6.2} µs, {other} {:6.2} µs", micros(*ours), micros(*bare));
    }
    ratios.sort_by(f64::total_cmp);
    let median = ratios[ratios.len() / 2];
    println!("{name}: {median:.2} times the CPU of {other}, at most {limit}");
    median
}

/// Returns a network stack without the certificates of the system.
pub fn net() -> Net {
    let trust = TrustConfig { public_roots: PublicRoots::None, ..TrustConfig::default() };
    Net::new(&NetConfig { trust_config: trust, ..NetConfig::default() }).unwrap()
}

/// Returns the probe of a monitor with these fields.
pub fn probe(kind: MonitorType, fields: Value) -> Arc<dyn Probe> {
    let Value::Object(fields) = fields else { unreachable!() };
    build_probe(&MonitorDocument::new(kind, fields).unwrap(), &ProbeBuildContext::default()).0
}

/// Makes one attempt with `probe`.
pub async fn attempt(net: &Net, probe: &dyn Probe, timeout: Duration) -> Observation {
    let cancel = CancellationToken::new();
    let deadline = Deadline::within(timeout);
    probe.attempt(ProbeContext::new(net, deadline, &cancel, &SystemClock)).await
}
