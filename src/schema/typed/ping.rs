//! The settings of `ping`.

use serde::Deserialize;

/// A series of echo requests.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct PingSettings<'a> {
    /// The host that is checked.
    pub hostname: &'a str,
    /// Number of echo requests.
    pub ping_count: u32,
    /// Bytes of data in each request.
    pub ping_size: usize,
    /// Percentage of lost requests from which the check fails.
    pub loss_threshold: f64,
}
