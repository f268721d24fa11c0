//! Reads a page of metrics in the text format of Prometheus.

use std::time::Duration;

use http::{HeaderMap, HeaderValue, Method, Version, header};
use tokio::time::Instant;
use url::Url;

use super::series_memory::{Counters, SeriesMemory};
use crate::domain::{Failure, FailureKind, MonitorId, Phase};
use crate::evaluate::threshold::Threshold;
use crate::net::{AddressFamily, TlsOptions};
use crate::probe::probe_trait::ProbeContext;
use crate::protocol::http::BodyRetention;
use crate::protocol::http::client::{
    ConnectOptions, CookieJar, RedirectRule, RequestChain, RequestContext, RequestSpec, describe_status,
};
use crate::syntax::prometheus::exposition::{ExpositionLimits, visit_exposition};
use crate::syntax::prometheus::selector::MetricSelector;
use crate::syntax::prometheus::series_name::SeriesName;

/// Pause between the two readings of a rate.
const RATE_PAUSE: Duration = Duration::from_secs(1);
/// A rate covers at least and at most this time.
const MIN_RATE_TIME: Duration = Duration::from_secs(1);
const MAX_RATE_TIME: Duration = Duration::from_hours(6);
/// Most series that are judged.
const MAX_SERIES: usize = 200;

/// A page of metrics of a host.
#[derive(Debug)]
pub(super) struct MetricsPage {
    request: RequestSpec,
    connect_options: ConnectOptions,
}

/// What was read, and how.
#[derive(Debug, Default)]
pub(super) struct ScrapeTrace {
    pub(super) phases: crate::domain::Phases,
    pub(super) address: Option<std::net::SocketAddr>,
}

fn selectors(thresholds: &[Threshold]) -> impl Iterator<Item = &MetricSelector> {
    thresholds.iter().filter_map(|threshold| threshold.selector.as_ref())
}

impl MetricsPage {
    pub(super) fn new(url: &str, user_agent: &str) -> Result<Self, Failure> {
        let unusable = |reason: String| Failure::new(Phase::Prepare, FailureKind::NotConfigured, reason);
        let url =
            Url::parse(url).map_err(|error| unusable(format!("`metrics_url` cannot be used: {error}")))?;
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_static("text/plain;version=0.0.4"));
        if let Ok(user_agent) = HeaderValue::from_str(user_agent) {
            headers.insert(header::USER_AGENT, user_agent);
        }
        Ok(Self {
            request: RequestSpec {
                url,
                method: Method::GET,
                version: Version::HTTP_11,
                headers,
                body: None,
                credentials: None,
                preemptive_auth: false,
                redirects: RedirectRule::from_flag(false),
                trace_id: None,
            },
            connect_options: ConnectOptions {
                address_family: AddressFamily::Any,
                pinned_host: None,
                proxy_id: None,
                tls_options: TlsOptions::default(),
            },
        })
    }

    /// Reads the series that `thresholds` are about. Rates are those since the last run; without one in the last hours,
    /// those between two readings.
    pub(super) async fn read(
        &self,
        cx: ProbeContext<'_>,
        thresholds: &[Threshold],
        (monitor_id, memory): (MonitorId, &SeriesMemory),
        trace: &mut ScrapeTrace,
    ) -> Result<Vec<(String, f64)>, Failure> {
        let mut newest = self.fetch(cx, thresholds, trace).await?;
        let (mut elapsed, mut earlier) = (Duration::ZERO, Counters::new());
        if selectors(thresholds).any(MetricSelector::is_rate) {
            let mut before = memory
                .replace_counters(monitor_id, cx.clock.now(), newest.clone())
                .filter(|(elapsed, _)| (MIN_RATE_TIME..MAX_RATE_TIME).contains(elapsed));
            if before.is_none() {
                let started = Instant::now();
                tokio::time::sleep_until((started + RATE_PAUSE).min(cx.deadline.at)).await;
                let second = self.fetch(cx, thresholds, &mut ScrapeTrace::default()).await?;
                before = Some((started.elapsed(), std::mem::replace(&mut newest, second)));
            }
            (elapsed, earlier) = before.unwrap_or_default();
        }
        let mut values: Vec<(String, f64)> = Vec::new();
        for (series, value) in newest {
            let Ok(name) = SeriesName::parse(&series) else { continue };
            let is_wanted = |is_rate: bool| {
                selectors(thresholds)
                    .any(|selector| selector.is_rate() == is_rate && selector.matches_series(&name))
            };
            if is_wanted(true)
                && let Some(before) = earlier.get(&series)
            {
                // A counter that was reset counts from zero.
                let increase = if value >= *before { value - before } else { value };
                values.push((format!("rate({series})"), increase / elapsed.as_secs_f64().max(0.001)));
            }
            if is_wanted(false) {
                values.push((series, value));
            }
        }
        values.truncate(MAX_SERIES);
        Ok(values)
    }

    async fn fetch(
        &self,
        cx: ProbeContext<'_>,
        thresholds: &[Threshold],
        trace: &mut ScrapeTrace,
    ) -> Result<Counters, Failure> {
        let request_context = RequestContext {
            net: cx.net,
            connect_options: &self.connect_options,
            deadline: cx.deadline,
            started: Instant::now(),
            record_exchanges: false,
        };
        let mut cookies = CookieJar::default();
        let mut chain = RequestChain::new(request_context, &self.request, &mut cookies);
        let outcome = self.send(&mut chain, cx, thresholds).await;
        let chain_trace = chain.finish();
        trace.phases = chain_trace.phases;
        trace.address = chain_trace.last_exchange.peer_address;
        outcome
    }

    async fn send(
        &self,
        chain: &mut RequestChain<'_>,
        cx: ProbeContext<'_>,
        thresholds: &[Threshold],
    ) -> Result<Counters, Failure> {
        let (head, body) = chain.send().await?;
        if !head.status.is_success() {
            return Err(Failure::new(Phase::Validate, FailureKind::HttpErrorStatus, describe_status(&head)));
        }
        let limits = ExpositionLimits::default();
        let content = body
            .read(BodyRetention::All, limits.max_bytes as u64, cx.deadline, &mut chain.exchange_trace.phases)
            .await;
        if let Some(failure) = content.failure {
            return Err(failure);
        }
        let mut values = Counters::new();
        let outcome = visit_exposition(&content.bytes, &limits, |sample| {
            let is_wanted = selectors(thresholds).any(|selector| selector.matches_sample(sample));
            if is_wanted
                && sample.value.is_finite()
                && values.len() < MAX_SERIES
                && let Ok(series) = SeriesName::new(sample.metric, sample.labels)
            {
                values.insert(series.to_string(), sample.value);
            }
        });
        outcome.map_err(|error| {
            Failure::new(
                Phase::Validate,
                FailureKind::ResponseInvalid,
                format!("the page of metrics: {error}"),
            )
        })?;
        Ok(values)
    }
}
