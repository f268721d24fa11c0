//! The probe of what hosts report and jobs push. It asks the control plane, which has the reports, and judges by the
//! thresholds of the monitor; a page of metrics it reads itself.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::ping::ping;
use super::scrape::{MetricsPage, ScrapeTrace};
use super::series_memory::SeriesMemory;
use crate::domain::{
    CapturedFile, Failure, FailureKind, Fault, HostFacts, MonitorId, Observation, Phase, PushedState,
    ReportedState, ReportedStateError, SeriesReadings, WarningKind,
};
use crate::evaluate::threshold::{Threshold, compare};
use crate::probe::build_context::ProbeBuildContext;
use crate::probe::invalid_probe::InvalidProbe;
use crate::probe::probe_trait::{AttemptFuture, Probe, ProbeContext};
use crate::probe::report_source::ReportSource;
use crate::schema::typed::host_agent::{HostAgentSettings, ThresholdDirection, ThresholdSettings};
use crate::schema::{InvalidFieldValue, MonitorDocument, PUSH_METRIC};
use crate::syntax::prometheus::selector::MetricSelector;

/// Name of the file with the last lines of a job.
const OUTPUT_FILE: &str = "output.txt";

#[derive(Debug)]
struct HostAgentProbe {
    monitor_id: MonitorId,
    interval: Duration,
    thresholds: Vec<Threshold>,
    report_source: Option<Arc<dyn ReportSource>>,
    series_memory: Arc<SeriesMemory>,
    user_agent: Arc<str>,
}

/// Builds the probe of a validated `hostagent` monitor.
pub(in crate::probe) fn build(document: &MonitorDocument, context: &ProbeBuildContext) -> Arc<dyn Probe> {
    match HostAgentProbe::new(document, context) {
        Ok(probe) => Arc::new(probe),
        Err(error) => Arc::new(InvalidProbe::from(error)),
    }
}

impl HostAgentProbe {
    fn new(document: &MonitorDocument, context: &ProbeBuildContext) -> Result<Self, InvalidFieldValue> {
        let settings: HostAgentSettings<'_> = document.deserialize()?;
        let to_threshold = |threshold: &ThresholdSettings<'_>| Threshold {
            metric: threshold.metric.to_owned(),
            selector: MetricSelector::parse(threshold.metric).ok(),
            warning: threshold.warning,
            error: threshold.error,
            is_below: threshold.direction == ThresholdDirection::Below,
            run_count: threshold.run_count,
        };
        Ok(Self {
            monitor_id: context.monitor_id,
            interval: document.settings().interval(),
            thresholds: settings.thresholds.iter().map(to_threshold).collect(),
            report_source: context.report_source.clone(),
            series_memory: Arc::clone(&context.series_memory),
            user_agent: Arc::clone(&context.user_agent),
        })
    }

    async fn run(&self, cx: ProbeContext<'_>) -> Observation {
        let started = Instant::now();
        let mut observation = Observation::default();
        if let Err(failure) = self.check(cx, &mut observation).await {
            observation.record_failure(failure);
        }
        observation.duration = started.elapsed();
        observation
    }

    async fn check(&self, cx: ProbeContext<'_>, observation: &mut Observation) -> Result<(), Failure> {
        let state = self.ask(cx).await?;
        let mut facts = Box::new(HostFacts {
            report_age_us: state.silent_us,
            host_agent_version: state.agent_version.clone(),
            ..HostFacts::default()
        });
        let judged = self.judge(cx, &state, &mut facts, observation).await;
        observation.facts.host = Some(facts);
        judged
    }

    async fn ask(&self, cx: ProbeContext<'_>) -> Result<ReportedState, Failure> {
        let Some(source) = &self.report_source else {
            let detail = "hosts report to a server, which this check does not have";
            return Err(Failure::new(Phase::Prepare, FailureKind::NotConfigured, detail));
        };
        let reply = cx.deadline.enforce(Phase::Prepare, source.reported_state(self.monitor_id)).await;
        // That the server is slow is not the fault of the host.
        let reply = reply.map_err(|failure| failure.with_fault(Fault::Vigie))?;
        reply.map_err(|error| match error {
            ReportedStateError::NotConfigured(detail) => {
                Failure::new(Phase::Prepare, FailureKind::NotConfigured, detail)
            }
            ReportedStateError::Unavailable(detail) => {
                Failure::new(Phase::Prepare, FailureKind::Internal, detail)
            }
        })
    }

    async fn judge(
        &self,
        cx: ProbeContext<'_>,
        state: &ReportedState,
        facts: &mut HostFacts,
        observation: &mut Observation,
    ) -> Result<(), Failure> {
        if let Some(url) = &state.metrics_url {
            let readings = self.scrape(cx, url, observation).await?;
            return self.compare(&readings, facts, observation);
        }
        if let Some(push) = &state.push {
            push.message.clone_into(&mut facts.push_message);
            (facts.push_duration_us, facts.push_exit_code) = (push.duration_us, push.exit_code);
            facts.push_running_us = push.running_us;
        }
        if state.silent_us > state.overdue_after_us {
            return Err(self.silence_failure(cx, state, observation).await);
        }
        match &state.push {
            Some(push) if push.is_down => {
                observation.captures.extend(output_file(push));
                Err(Failure::new(Phase::Validate, FailureKind::PushedDown, describe_push(push)))
            }
            Some(push) => self.compare(&push_readings(push), facts, observation),
            // The first report or push is still awaited.
            None if !state.was_reported => {
                observation.record_warning(WarningKind::Informational, "nothing was reported yet");
                Ok(())
            }
            None => self.compare(&state.series, facts, observation),
        }
    }

    async fn scrape(
        &self,
        cx: ProbeContext<'_>,
        url: &str,
        observation: &mut Observation,
    ) -> Result<Vec<SeriesReadings>, Failure> {
        let page = MetricsPage::new(url, &self.user_agent)?;
        let mut trace = ScrapeTrace::default();
        let memory = (self.monitor_id, &*self.series_memory);
        let values = page.read(cx, &self.thresholds, memory, &mut trace).await;
        (observation.phases, observation.address) = (trace.phases, trace.address);
        Ok(self.series_memory.add(self.monitor_id, cx.clock.now(), self.interval, values?))
    }

    fn compare(
        &self,
        readings: &[SeriesReadings],
        facts: &mut HostFacts,
        observation: &mut Observation,
    ) -> Result<(), Failure> {
        let findings = compare(&self.thresholds, readings);
        facts.host_values = findings.values;
        for warning in findings.warnings {
            observation.record_warning(WarningKind::HostValueBeyondBound, warning);
        }
        if findings.errors.is_empty() {
            return Ok(());
        }
        Err(Failure::new(Phase::Validate, FailureKind::HostValueBeyondBound, findings.errors.join("; ")))
    }

    /// Returns why a report is missing: the host does not answer either, or its agent alone is silent.
    async fn silence_failure(
        &self,
        cx: ProbeContext<'_>,
        state: &ReportedState,
        observation: &mut Observation,
    ) -> Failure {
        let (silent, overdue) = (state.silent_us / 1_000_000, state.overdue_after_us / 1_000_000);
        let last = if state.was_reported { "the last one came" } else { "none came since it is awaited," };
        let mut detail = format!("{last} {silent} s ago, more than {overdue} s");
        let mut kind = FailureKind::HostReportMissing;
        if let Some(host) = &state.address {
            let outcome = ping(cx, host).await;
            observation.address = outcome.address.map(|address| (address, 0).into());
            match outcome.is_answered {
                Some(true) => detail = format!("{detail}; `{host}` answers a ping"),
                Some(false) => {
                    kind = FailureKind::HostUnreachable;
                    detail = format!("{detail}; `{host}` does not answer a ping");
                }
                None => detail = format!("{detail}; `{host}` could not be pinged"),
            }
        }
        Failure::new(Phase::Validate, kind, detail)
    }
}

impl Probe for HostAgentProbe {
    fn attempt<'a>(&'a self, cx: ProbeContext<'a>) -> AttemptFuture<'a> {
        Box::pin(self.run(cx))
    }

    fn target_host(&self) -> Option<&str> {
        None
    }
}

fn push_readings(push: &PushedState) -> Vec<SeriesReadings> {
    let to_reading = |micros: u64| SeriesReadings {
        series: PUSH_METRIC.to_owned(),
        values: vec![Duration::from_micros(micros).as_secs_f64() * 1000.0],
    };
    push.duration_us.map(to_reading).into_iter().collect()
}

fn describe_push(push: &PushedState) -> String {
    let code = push.exit_code.map(|code| format!("exit code {code}"));
    let message = Some(push.message.clone()).filter(|message| !message.is_empty());
    code.into_iter().chain(message).collect::<Vec<_>>().join(": ")
}

fn output_file(push: &PushedState) -> Option<CapturedFile> {
    let has_output = !push.output.is_empty();
    has_output.then(|| CapturedFile::new(OUTPUT_FILE, "text/plain; charset=utf-8", push.output.as_bytes()))
}
