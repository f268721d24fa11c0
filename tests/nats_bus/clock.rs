//! A step of the host's clock changes no slot, and is told.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use vigie::agent::{AdmissionLimits, Assignment, SyncedClock, start_runner};
use vigie::bus::contract::ResultSink;
use vigie::bus::nats::{AgentIdentity, measure_clock_offset};
use vigie::clock::{Clock, SystemClock};
use vigie::domain::{AgentId, Outcome, Timestamp};
use vigie::telemetry::Metrics;

use super::fixture::{Agent, Control, ControlPlane, LOCATION, connect, until};
use crate::agent::kit::{AttemptStep, ScriptedProbe, assignment, context, put, sink};
use crate::support::nats::NatsServer;

const INTERVAL: Duration = Duration::from_secs(1);
const FIVE_MINUTES_US: i64 = 5 * 60 * 1_000_000;

/// The clock of a host, which can be set.
#[derive(Default)]
struct HostClock {
    ahead_us: AtomicI64,
}

impl HostClock {
    fn step_to(&self, ahead_us: i64) {
        self.ahead_us.store(ahead_us, Ordering::SeqCst);
    }
}

impl Clock for HostClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(SystemClock.now().as_micros() + self.ahead_us.load(Ordering::SeqCst))
    }

    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(tokio::time::sleep(duration))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_of_the_clock_neither_repeats_nor_drops_a_slot() {
    let server = NatsServer::start();
    let control = Control::start(&server, Arc::new(ControlPlane::default())).await;
    let agent = Agent::start(&server, 1).await;
    let connection = connect(&server).await;
    let identity = AgentIdentity { location_id: LOCATION, agent_id: AgentId(1) };
    let host = HostClock::default();
    let clock = Arc::new(SyncedClock::new(host.now()));
    let sink = sink();
    let as_sink: Arc<dyn ResultSink> = sink.clone();
    let metrics = Arc::new(Metrics::default());
    let runner = start_runner(AdmissionLimits::default(), context(clock.clone()), as_sink, metrics);
    let probe = ScriptedProbe::new(&[AttemptStep::Pass]);
    let frequent = Assignment { interval: INTERVAL, ..assignment(1, probe) };
    runner.apply_changes(vec![put(frequent)]).await.unwrap();

    let results = || sink.results.borrow().clone();
    for (count, ahead_us) in [(3, 0), (6, FIVE_MINUTES_US), (9, -FIVE_MINUTES_US), (12, 400_000), (15, 0)] {
        host.step_to(ahead_us);
        // As the agent does it: it measures its host's clock, and approaches the time of the control plane.
        let mut measured = None;
        while measured.is_none() {
            measured = measure_clock_offset(&connection, identity, &host).await;
        }
        let offset_us = measured.unwrap();
        assert!((offset_us + ahead_us).abs() < 200_000, "{offset_us} at {ahead_us}");
        clock.approach(Timestamp::from_micros(host.now().as_micros() + offset_us));
        *agent.applied.clock_offset_us.lock().unwrap() = offset_us;
        until("three slots more", || results().len() >= count).await;
        let off_us = clock.now().as_micros() - SystemClock.now().as_micros();
        assert!(off_us.abs() < 200_000, "the clock follows the control plane: {off_us} µs");
    }
    let results = results();
    assert!(results.iter().all(|result| result.outcome == Outcome::Ok), "{results:?}");
    for pair in results.windows(2) {
        assert_eq!(pair[1].planned_at, pair[0].planned_at + INTERVAL, "a slot is repeated, or missing");
    }

    // The control plane tells of more than half a second.
    *agent.applied.clock_offset_us.lock().unwrap() = FIVE_MINUTES_US;
    until("the event", || control.plane.event_names().contains(&"agent_clock_off")).await;
}
