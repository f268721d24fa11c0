//! The probe of web pages.

use std::pin::pin;
use std::sync::Arc;

use tokio::time::Instant;

use super::attempt::HttpAttempt;
use super::options::WebsiteOptions;
use super::page_analysis;
use crate::domain::Observation;
use crate::probe::build_context::ProbeBuildContext;
use crate::probe::cancellation::until_cancelled;
use crate::probe::invalid_probe::InvalidProbe;
use crate::probe::probe_trait::{AttemptFuture, Probe, ProbeContext};
use crate::protocol::http::client::CookieJar;
use crate::schema::MonitorDocument;

/// Builds the probe of a `website` or `website-ssl` monitor. A document that breaks a rule of the field table gives a
/// probe whose attempts all fail with that error.
#[must_use]
pub fn build(document: &MonitorDocument, context: &ProbeBuildContext) -> Arc<dyn Probe> {
    match WebsiteOptions::from_document(document, context) {
        Ok(options) => Arc::new(WebsiteProbe { options }),
        Err(error) => Arc::new(InvalidProbe::from(error)),
    }
}

struct WebsiteProbe {
    options: WebsiteOptions,
}

impl WebsiteProbe {
    async fn run(&self, cx: ProbeContext<'_>) -> Observation {
        let started = Instant::now();
        let (request, mut cookie_jar) = (self.options.build_request(cx.trace_id), CookieJar::default());
        let mut attempt = HttpAttempt::new(&self.options, cx, started, &request, &mut cookie_jar);
        let run_result = until_cancelled(cx, pin!(attempt.run())).await.flatten();
        let page = attempt.take_fetched_page();
        let mut observation = attempt.into_observation();
        observation.details.trace_id = request.trace_id.map(|trace_id| trace_id.to_string());
        if let Err(failure) = run_result {
            observation.record_failure(failure);
        }
        // The total is that of the page alone, so that runs with and without objects are comparable.
        observation.duration = started.elapsed();
        if let Some(page) = page.filter(|_| observation.failure.is_none()) {
            let analysis = page_analysis::analyse_page(
                &self.options,
                cx,
                page,
                &request.headers,
                &mut cookie_jar,
                started,
                &mut observation,
            );
            let analysis_result = until_cancelled(cx, pin!(analysis)).await;
            if let Err(failure) = analysis_result {
                observation.record_failure(failure);
            }
        }
        observation
    }
}

impl Probe for WebsiteProbe {
    fn attempt<'a>(&'a self, cx: ProbeContext<'a>) -> AttemptFuture<'a> {
        Box::pin(self.run(cx))
    }

    fn target_host(&self) -> Option<&str> {
        self.options.url.host_str()
    }
}
