//! `website-api` and `website-ssl-api`: requests one after another, with what has to hold for their answers
//! and what later ones take out of them (behaviour.md 4).

mod judge;
mod options;
mod plan;
mod run;

use std::sync::Arc;

use tokio::time::Instant;

use super::{Attempting, Context, Probe, ProbeSettings};
use crate::domain::{Failure, FailureKind, Observation, Phase};
use crate::schema::Document;
use options::Options;
use run::Run;

/// Builds the probe of an API monitor. A document that breaks a rule of the field table gives a probe whose
/// checks say so.
#[must_use]
pub fn build(document: &Document, settings: &ProbeSettings) -> Arc<dyn Probe> {
    match Options::of(document, settings) {
        Ok(options) => Arc::new(Steps { options }),
        Err(detail) => Arc::new(Unusable { detail }),
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
            observation.fail(failure);
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

/// A monitor whose document cannot be probed.
struct Unusable {
    detail: String,
}

impl Probe for Unusable {
    fn attempt<'a>(&'a self, _: Context<'a>) -> Attempting<'a> {
        let failure = Failure::new(Phase::Prepare, FailureKind::Internal, &self.detail);
        Box::pin(std::future::ready(Observation::failed(failure)))
    }

    fn target(&self) -> Option<&str> {
        None
    }
}
