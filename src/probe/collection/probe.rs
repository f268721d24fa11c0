//! The probe of collections.

use std::pin::pin;
use std::sync::Arc;

use tokio::time::Instant;

use super::attempt::CollectionAttempt;
use super::options::CollectionOptions;
use crate::domain::{Failure, FailureKind, Observation, Phase};
use crate::probe::build_context::ProbeBuildContext;
use crate::probe::cancellation::until_cancelled;
use crate::probe::invalid_probe::InvalidProbe;
use crate::probe::probe_trait::{AttemptFuture, Probe, ProbeContext};
use crate::schema::MonitorDocument;

/// Builds the probe of a collection. One that cannot be run gives a probe whose attempts all say why.
#[must_use]
pub fn build(document: &MonitorDocument, context: &ProbeBuildContext) -> Arc<dyn Probe> {
    if !context.collections_enabled {
        let detail = "collections are switched off at this location (`collections.enabled`)";
        return Arc::new(InvalidProbe::from(Failure::new(
            Phase::Prepare,
            FailureKind::NotConfigured,
            detail,
        )));
    }
    match CollectionOptions::from_document(document, context) {
        Ok(options) => Arc::new(CollectionProbe { options }),
        Err(failure) => Arc::new(InvalidProbe::from(failure)),
    }
}

struct CollectionProbe {
    options: CollectionOptions,
}

impl CollectionProbe {
    async fn run(&self, cx: ProbeContext<'_>) -> Observation {
        let started = Instant::now();
        let mut attempt = CollectionAttempt::new(&self.options, cx, started);
        let run_result = until_cancelled(cx, pin!(attempt.run())).await.flatten();
        let mut observation = attempt.into_observation(run_result.err());
        observation.duration = started.elapsed();
        observation
    }
}

impl Probe for CollectionProbe {
    fn attempt<'a>(&'a self, cx: ProbeContext<'a>) -> AttemptFuture<'a> {
        Box::pin(self.run(cx))
    }

    fn target_host(&self) -> Option<&str> {
        None
    }
}
