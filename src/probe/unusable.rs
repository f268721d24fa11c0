//! A check whose settings cannot be used.

use super::contract::{Attempting, Context, Probe};
use crate::domain::{Failure, FailureKind, Observation, Phase};
use crate::schema::InvalidSettings;

/// The probe of a monitor that cannot be probed: each attempt ends with the same failure.
#[derive(Debug)]
pub(super) struct Unusable {
    failure: Failure,
}

impl Unusable {
    /// Each attempt ends with `detail`, and is no fault of the target.
    pub(super) fn new(detail: impl Into<String>) -> Self {
        Self::from(Failure::new(Phase::Prepare, FailureKind::Internal, detail.into()))
    }
}

impl From<Failure> for Unusable {
    fn from(failure: Failure) -> Self {
        Self { failure }
    }
}

impl From<InvalidSettings> for Unusable {
    fn from(error: InvalidSettings) -> Self {
        Self::new(detail(&error))
    }
}

/// Why `field` cannot be used.
pub(super) fn invalid(field: &str, reason: impl AsRef<str>) -> InvalidSettings {
    InvalidSettings::new(field, None, reason.as_ref())
}

/// What a check says of settings that cannot be used.
pub(super) fn detail(error: &InvalidSettings) -> String {
    format!("`{}` cannot be used: {}", error.field, error.reason)
}

impl Probe for Unusable {
    fn attempt<'a>(&'a self, _: Context<'a>) -> Attempting<'a> {
        Box::pin(std::future::ready(Observation::from_failure(self.failure.clone())))
    }

    fn target(&self) -> Option<&str> {
        None
    }
}
