//! The probe of API steps.

use std::pin::pin;
use std::sync::Arc;

use tokio::time::Instant;

use super::attempt::ApiStepsAttempt;
use super::options::ApiStepsOptions;
use crate::domain::Observation;
use crate::probe::build_context::ProbeBuildContext;
use crate::probe::cancellation::until_cancelled;
use crate::probe::invalid_probe::InvalidProbe;
use crate::probe::probe_trait::{AttemptFuture, Probe, ProbeContext};
use crate::schema::MonitorDocument;

/// Builds the probe of an API monitor. A document that breaks a rule of the field table gives a probe whose attempts
/// all fail with that error.
#[must_use]
pub fn build(document: &MonitorDocument, context: &ProbeBuildContext) -> Arc<dyn Probe> {
    match ApiStepsOptions::from_document(document, context) {
        Ok(options) => Arc::new(ApiStepsProbe { options }),
        Err(detail) => Arc::new(InvalidProbe::new(detail)),
    }
}

struct ApiStepsProbe {
    options: ApiStepsOptions,
}

impl ApiStepsProbe {
    async fn run(&self, cx: ProbeContext<'_>) -> Observation {
        let started = Instant::now();
        let mut attempt = ApiStepsAttempt::new(&self.options, cx, started);
        let run_result = until_cancelled(cx, pin!(attempt.run_steps())).await;
        let mut observation = attempt.into_observation();
        if let Err(failure) = run_result {
            observation.record_failure(failure);
        }
        observation.duration = started.elapsed();
        observation
    }
}

impl Probe for ApiStepsProbe {
    fn attempt<'a>(&'a self, cx: ProbeContext<'a>) -> AttemptFuture<'a> {
        Box::pin(self.run(cx))
    }

    fn target_host(&self) -> Option<&str> {
        self.options.target_host.as_deref()
    }
}
