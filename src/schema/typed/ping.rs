//! The settings of `ping`.

use serde::Deserialize;

/// A series of echo requests.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct PingSettings<'a> {
    /// The host that is checked.
    pub hostname: &'a str,
    /// Echo requests.
    pub ping_count: u32,
    /// Bytes of data in each.
    pub ping_size: usize,
    /// Percent lost from which on it is an error.
    pub loss_threshold: f64,
}
