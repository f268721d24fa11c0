//! A check whose settings cannot be used.

use crate::domain::{Failure, FailureKind, Observation, Phase};
use crate::probe::contract::{Attempting, Context, Probe};

/// A monitor whose document cannot be probed.
#[derive(Debug)]
pub(super) struct Unusable {
    pub(super) field: &'static str,
    pub(super) reason: String,
}

impl Probe for Unusable {
    fn attempt<'a>(&'a self, _: Context<'a>) -> Attempting<'a> {
        let detail = format!("`{}` cannot be used: {}", self.field, self.reason);
        let failure = Failure::new(Phase::Prepare, FailureKind::Internal, detail);
        Box::pin(std::future::ready(Observation::failed(failure)))
    }

    fn target(&self) -> Option<&str> {
        None
    }
}

pub(super) fn unusable(field: &'static str, reason: impl Into<String>) -> Unusable {
    Unusable { field, reason: reason.into() }
}
