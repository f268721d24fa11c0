//! The probe of API steps.

use std::sync::Arc;

use tokio::time::Instant;

use super::options::Options;
use super::run::Run;
use crate::domain::{Failure, FailureKind, Observation, Phase};
use crate::probe::contract::{Attempting, Context, Probe};
use crate::probe::settings::ProbeSettings;
use crate::probe::unusable::Unusable;
use crate::schema::Document;

/// Builds the probe of an API monitor. A document that breaks a rule of the field table gives a probe whose
/// checks say so.
#[must_use]
pub fn build(document: &Document, settings: &ProbeSettings) -> Arc<dyn Probe> {
    match Options::of(document, settings) {
        Ok(options) => Arc::new(Steps { options }),
        Err(detail) => Arc::new(Unusable::new(detail)),
    }
}

struct Steps {
    options: Options,
}

impl Steps {
    async fn run(&self, cx: Context<'_>) -> Observation {
        let started = Instant::now();
        let mut run = Run::new(&self.options, cx, started);
        let outcome = tokio::select! {
            biased;
            () = run.all() => Ok(()),
            () = cx.cancel.cancelled() => Err(cancelled()),
        };
        let mut observation = run.into_observation();
        if let Err(failure) = outcome {
            observation.record_failure(failure);
        }
        observation.total = started.elapsed();
        observation
    }
}

fn cancelled() -> Failure {
    Failure::new(Phase::Prepare, FailureKind::Cancelled, "stopped before its end")
}

impl Probe for Steps {
    fn attempt<'a>(&'a self, cx: Context<'a>) -> Attempting<'a> {
        Box::pin(self.run(cx))
    }

    fn target(&self) -> Option<&str> {
        self.options.target.as_deref()
    }
}
