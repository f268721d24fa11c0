//! The probe of a monitor with invalid settings.

use super::probe_trait::{AttemptFuture, Probe, ProbeContext};
use crate::domain::{Failure, FailureKind, Observation, Phase};
use crate::schema::InvalidFieldValue;

/// The probe of a monitor that cannot be probed: every attempt ends with the same failure.
#[derive(Debug)]
pub(super) struct InvalidProbe {
    failure: Failure,
}

impl InvalidProbe {
    /// Creates a probe whose attempts fail with `detail`, as an error of Vigie itself.
    pub(super) fn new(detail: impl Into<String>) -> Self {
        Self::from(Failure::new(Phase::Prepare, FailureKind::Internal, detail.into()))
    }
}

impl From<Failure> for InvalidProbe {
    fn from(failure: Failure) -> Self {
        Self { failure }
    }
}

impl From<InvalidFieldValue> for InvalidProbe {
    fn from(error: InvalidFieldValue) -> Self {
        Self::new(describe_invalid_setting(&error))
    }
}

/// Returns the error of `field` with its `reason`.
pub(super) fn invalid_setting(field: &str, reason: impl AsRef<str>) -> InvalidFieldValue {
    InvalidFieldValue::new(field, None, reason.as_ref())
}

/// Describes invalid settings in the detail of a failure.
pub(super) fn describe_invalid_setting(error: &InvalidFieldValue) -> String {
    format!("`{}` cannot be used: {}", error.path, error.reason)
}

impl Probe for InvalidProbe {
    fn attempt<'a>(&'a self, _: ProbeContext<'a>) -> AttemptFuture<'a> {
        Box::pin(std::future::ready(Observation::from_failure(self.failure.clone())))
    }

    fn target_host(&self) -> Option<&str> {
        None
    }
}
