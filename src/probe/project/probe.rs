//! The probe of projects.

use std::pin::pin;
use std::sync::Arc;

use tokio::time::Instant;

use super::options::ProjectOptions;
use super::project_run::ProjectRun;
use crate::domain::Observation;
use crate::probe::build_context::ProbeBuildContext;
use crate::probe::cancellation::until_cancelled;
use crate::probe::invalid_probe::InvalidProbe;
use crate::probe::probe_trait::{AttemptFuture, Probe, ProbeContext};
use crate::schema::MonitorDocument;

/// Builds the probe of an `api` monitor. A project that cannot be run gives a probe whose attempts all fail with the
/// reasons.
#[must_use]
pub fn build(document: &MonitorDocument, context: &ProbeBuildContext) -> Arc<dyn Probe> {
    match ProjectOptions::from_document(document, context) {
        Ok(options) => Arc::new(ProjectProbe { options }),
        Err(failure) => Arc::new(InvalidProbe::from(failure)),
    }
}

struct ProjectProbe {
    options: ProjectOptions,
}

impl ProjectProbe {
    async fn attempt_case(&self, cx: ProbeContext<'_>) -> Observation {
        let started = Instant::now();
        let mut run = ProjectRun::new(&self.options, cx, started);
        let result = until_cancelled(cx, pin!(run.run())).await;
        let mut observation = run.into_observation();
        if let Err(failure) = result {
            observation.record_failure(failure);
        }
        observation.duration = started.elapsed();
        observation
    }
}

impl Probe for ProjectProbe {
    fn attempt<'a>(&'a self, cx: ProbeContext<'a>) -> AttemptFuture<'a> {
        Box::pin(self.attempt_case(cx))
    }

    fn target_host(&self) -> Option<&str> {
        self.options.target_host.as_deref()
    }
}
