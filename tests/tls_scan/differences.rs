//! Where our scan and testssl.sh 3.0.8 differ, each with its reason.

/// Set-up (`*` for all), field, reason. A difference without a row fails the test, and so does a row without a difference.
pub const DIFFERENCES: &[(&str, &str, &str)] = &[];
