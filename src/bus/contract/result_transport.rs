//! How an agent on another host delivers: it keeps everything on disk until the control plane has committed it.

use super::future::BusFuture;
use crate::domain::{CheckId, CheckResult, MonitorId};

/// How soon results have to arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Urgency {
    /// Results of current runs, and the newest result of each monitor: they may alert.
    Live,
    /// Results that waited while the agent was offline: they correct the history.
    Backlog,
}

/// Why something was not sent. It is sent again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// There is no connection.
    #[error("the bus is not connected")]
    Offline,
    /// The bus did not take it.
    #[error("the bus did not take it: {0}")]
    Refused(String),
}

/// Sends what an agent delivers, in the form of the bus.
pub trait ResultTransport: Send + Sync + 'static {
    /// Returns the form in which `result` is kept and sent, without its captures. Details that are too large for the bus
    /// are left out, and the result says so.
    ///
    /// # Errors
    /// Fails for a value that no message can hold, with the reason.
    fn encode_result(&self, result: &CheckResult) -> Result<Vec<u8>, String>;

    /// Returns the captures of `result` in pieces, in the form in which they are kept and sent.
    fn encode_captures(&self, result: &CheckResult) -> Vec<Vec<u8>>;

    /// Returns the monitor of an encoded result; `None` for one that cannot be decoded.
    fn monitor_of(&self, encoded: &[u8]) -> Option<MonitorId>;

    /// Whether there is a connection.
    fn is_connected(&self) -> bool;

    /// Sends encoded results; the bus holds them once this returns.
    fn send_results(&self, encoded: Vec<Vec<u8>>, urgency: Urgency) -> BusFuture<'_, Result<(), SendError>>;

    /// Sends encoded pieces of captures; the bus holds them once this returns.
    fn send_captures(&self, encoded: Vec<Vec<u8>>) -> BusFuture<'_, Result<(), SendError>>;
}

/// Takes the reports of the control plane about what was delivered.
pub trait DeliveryReports: Send + Sync + 'static {
    /// The control plane is done with the results of `checks` and with the captures of `captured`: they are committed,
    /// or it refused them.
    fn on_committed(&self, checks: &[CheckId], captured: &[CheckId]);

    /// The control plane is alive. When `timeline` has changed, what it reported as committed may be lost. When
    /// `is_caught_up`, it has taken everything that the bus held.
    fn on_controller_status(&self, timeline: &str, is_caught_up: bool);
}
