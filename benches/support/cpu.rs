//! CPU of two ways to do the same, in turns in one run: only their ratio counts.
#![allow(dead_code)]

use std::sync::Arc;
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use vigie::clock::SystemClock;
use vigie::domain::{MonitorType, Observation};
use vigie::net::{Deadline, Net, NetConfig, Roots, TrustConfig};
use vigie::probe::{Probe, ProbeContext, ProbeSettings, build};
use vigie::schema::MonitorDocument;

/// CPU that `who` has used so far, user and system.
pub fn cpu(who: UsageWho) -> Duration {
    let usage = getrusage(who).unwrap();
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Duration::from_micros(u64::try_from(micros).unwrap())
}

/// Checks of a side before it is the other's turn: what else the machine does then meets both alike.
const TURN: u32 = 10;

/// What `checks` of each side cost all threads of this process, in each of so many rounds after one that warms up.
pub async fn in_turns(
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

/// Tells what both cost a piece in each round, and returns the median of the ratios.
pub fn told(what: &str, other: &str, rounds: &[(Duration, Duration)], pieces: u32, bound: f64) -> f64 {
    let micros = |of: Duration| of.as_secs_f64() * 1e6 / f64::from(pieces);
    let mut ratios: Vec<f64> =
        rounds.iter().map(|(ours, bare)| ours.as_secs_f64() / bare.as_secs_f64()).collect();
    for (ours, bare) in rounds {
        println!("  ours {:6.2} µs, {other} {:6.2} µs", micros(*ours), micros(*bare));
    }
    ratios.sort_by(f64::total_cmp);
    let median = ratios[ratios.len() / 2];
    println!("{what}: {median:.2} times the CPU of {other}, at most {bound}");
    median
}

/// A network of this host alone, without the system's certificates.
pub fn net() -> Net {
    let trust = TrustConfig { roots: Roots::None, ..TrustConfig::default() };
    Net::new(&NetConfig { trust, ..NetConfig::default() }).unwrap()
}

/// The probe of a monitor with these fields.
pub fn probe(kind: MonitorType, fields: Value) -> Arc<dyn Probe> {
    let Value::Object(fields) = fields else { unreachable!() };
    build(&MonitorDocument::new(kind, fields).unwrap(), &ProbeSettings::default()).0
}

/// One attempt of it.
pub async fn attempt(net: &Net, probe: &dyn Probe, timeout: Duration) -> Observation {
    let cancel = CancellationToken::new();
    let deadline = Deadline::within(timeout);
    probe.attempt(ProbeContext::new(net, deadline, &cancel, &SystemClock)).await
}
