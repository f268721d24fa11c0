//! Measures and reports at each interval, until it is stopped.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::collector::Collector;
use super::link_state::LinkState;
use super::report::{HostFacts, HostReport, pretty_json, report_fields};
use super::report_client::{ReportClient, ReportTarget, SendOutcome};
use super::sequence::{Sequence, SequenceError};
use super::spooled_reports::SpooledReports;
use crate::clock::Clock;
use crate::protocol::http::PostClientError;
use crate::spool::{ReadOrder, SpoolError};

/// Time between two reports of the spool: after a long time offline a server must not drown in them.
const SPOOL_PAUSE: Duration = Duration::from_millis(50);
/// Time until a spool is read again that could not be read.
const UNREADABLE_SPOOL_PAUSE: Duration = Duration::from_mins(1);

/// Options of the agent.
#[derive(Clone, Debug)]
pub struct HostAgentOptions {
    /// Where reports go.
    pub target: ReportTarget,
    /// The data folder, which is created if missing.
    pub data: PathBuf,
    /// Names of processes to count.
    pub process_names: Vec<String>,
    /// Time between reports until the server asks for another.
    pub interval: Duration,
}

/// Why the agent cannot run.
#[derive(Debug, thiserror::Error)]
pub enum HostAgentError {
    /// The client cannot be set up.
    #[error(transparent)]
    Client(#[from] PostClientError),
    /// The spool cannot be used.
    #[error(transparent)]
    Spool(#[from] SpoolError),
    /// The numbers of reports cannot be kept.
    #[error(transparent)]
    Sequence(#[from] SequenceError),
    /// This system cannot be measured.
    #[error("this system cannot be measured: {0}")]
    Unmeasurable(String),
}

/// The agent of a host.
pub struct HostAgent {
    client: ReportClient,
    sequence: Sequence,
    spooled: SpooledReports,
    facts: HostFacts,
    /// `None` while a thread measures.
    collector: Option<Collector>,
    link: LinkState,
    spool_readable_at: Instant,
    interval: Duration,
    clock: Arc<dyn Clock>,
}

impl HostAgent {
    /// Opens the data folder, and takes the readings that the first rates count from.
    ///
    /// # Errors
    /// Fails when the data folder cannot be written or is in use, or the file of authorities cannot be read.
    pub fn open(options: HostAgentOptions, clock: Arc<dyn Clock>) -> Result<Self, HostAgentError> {
        let client = ReportClient::new(options.target, Arc::clone(&clock))?;
        let (sequence, spooled) = open_data(&options.data, clock.as_ref())?;
        Ok(Self {
            client,
            sequence,
            spooled,
            facts: HostFacts::read(),
            collector: Some(open_collector(&options.process_names)?),
            link: LinkState::Up,
            spool_readable_at: Instant::now(),
            interval: options.interval,
            clock,
        })
    }

    /// Measures and reports until `stop` is cancelled: first after a random part of the interval, so that agents that
    /// start together do not report together.
    ///
    /// # Errors
    /// Fails when the system can no longer be measured.
    pub async fn run(&mut self, stop: &CancellationToken) -> Result<(), HostAgentError> {
        let mut next_measurement = Instant::now() + self.interval.mul_f64(random());
        loop {
            let next_spooled = self.next_spooled_send().filter(|at| *at < next_measurement);
            let wait = sleep_until(next_spooled.unwrap_or(next_measurement));
            if stop.run_until_cancelled(wait).await.is_none() {
                return Ok(());
            }
            if next_spooled.is_some() {
                let _ = stop.run_until_cancelled(self.send_spooled()).await;
                continue;
            }
            let Some(report) = stop.run_until_cancelled(self.measure()).await else { return Ok(()) };
            let report = report?;
            let is_sent = stop.run_until_cancelled(self.send_new(&report)).await;
            if is_sent != Some(true) {
                // It may have arrived; then its number tells the server.
                self.spooled.add(&report, self.clock.now());
            }
            next_measurement = (next_measurement + self.interval).max(Instant::now());
        }
    }

    /// Measures once, `wait` from now, and sends the report; returns it with what became of it.
    ///
    /// # Errors
    /// Fails when the system cannot be measured.
    pub async fn report_once(&mut self, wait: Duration) -> Result<(HostReport, SendOutcome), HostAgentError> {
        tokio::time::sleep(wait).await;
        let report = self.measure().await?;
        let outcome = self.client.send(&report).await;
        Ok((report, outcome))
    }

    /// Measures on a thread of its own, since file systems may block.
    async fn measure(&mut self) -> Result<HostReport, HostAgentError> {
        let unmeasurable = |reason: &str| HostAgentError::Unmeasurable(reason.to_owned());
        let mut collector =
            self.collector.take().ok_or_else(|| unmeasurable("the measurement before did not end"))?;
        let at = self.clock.now();
        let measured = tokio::task::spawn_blocking(move || {
            let measurements = collector.measure();
            (collector, measurements)
        });
        let (collector, measurements) = measured.await.map_err(|error| unmeasurable(&error.to_string()))?;
        self.collector = Some(collector);
        Ok(HostReport::new(self.sequence.next(), at, &self.facts, &measurements))
    }

    /// Sends a report that was just measured, unless the server is not to be tried yet; whether it needs to be kept no
    /// longer.
    async fn send_new(&mut self, report: &HostReport) -> bool {
        if !self.link.may_send(Instant::now()) {
            return false;
        }
        self.send(report).await
    }

    /// Returns when the next report of the spool is sent; `None` while it is empty.
    fn next_spooled_send(&self) -> Option<Instant> {
        if self.spooled.len() == 0 {
            return None;
        }
        let next = match &self.link {
            LinkState::Up => Instant::now() + SPOOL_PAUSE,
            LinkState::Down { retry_at, .. } => *retry_at,
        };
        Some(next.max(self.spool_readable_at))
    }

    /// Sends the oldest report of the spool; the newest one to see whether the server is back, since that is what
    /// people wait for.
    async fn send_spooled(&mut self) {
        let order = if self.link == LinkState::Up { ReadOrder::OldestFirst } else { ReadOrder::NewestFirst };
        match self.spooled.first(order) {
            Some(report) => {
                if self.send(&report).await {
                    self.spooled.remove(report.seq());
                }
            }
            None => self.spool_readable_at = Instant::now() + UNREADABLE_SPOOL_PAUSE,
        }
    }

    /// Sends `report`; whether it needs to be kept no longer.
    async fn send(&mut self, report: &HostReport) -> bool {
        let outcome = self.client.send(report).await;
        self.link = self.link.after(&outcome, self.interval, random(), Instant::now());
        match outcome {
            SendOutcome::Accepted(interval) => {
                self.interval = interval.unwrap_or(self.interval);
                true
            }
            SendOutcome::Refused(reason) => {
                tracing::warn!(error = %reason, "the server refused a report: it is dropped");
                true
            }
            SendOutcome::Denied(_) | SendOutcome::Later(..) => false,
        }
    }
}

/// Measures this host twice, `wait` apart, without sending it; returns the JSON of the second time, for people.
///
/// # Errors
/// Fails when this kind of system cannot be measured.
pub fn measure_once(
    process_names: &[String],
    wait: Duration,
    clock: &dyn Clock,
) -> Result<String, HostAgentError> {
    let mut collector = open_collector(process_names)?;
    std::thread::sleep(wait);
    Ok(pretty_json(&report_fields(clock.now(), &HostFacts::read(), &collector.measure())))
}

fn open_collector(process_names: &[String]) -> Result<Collector, HostAgentError> {
    Collector::new(process_names).map_err(|error| HostAgentError::Unmeasurable(error.to_string()))
}

fn open_data(data: &Path, clock: &dyn Clock) -> Result<(Sequence, SpooledReports), HostAgentError> {
    let spooled = SpooledReports::open(data)?;
    let seconds = u64::try_from(clock.now().as_micros() / 1_000_000).unwrap_or(0);
    let mut sequence = Sequence::open(data, seconds)?;
    sequence.skip_to(spooled.greatest_seq());
    Ok((sequence, spooled))
}

/// Returns a random number from 0 to 1; a half when the system gives none.
fn random() -> f64 {
    let mut bytes = [0_u8; 4];
    match aws_lc_rs::rand::fill(&mut bytes) {
        Ok(()) => f64::from(u32::from_le_bytes(bytes)) / f64::from(u32::MAX),
        Err(_) => 0.5,
    }
}
