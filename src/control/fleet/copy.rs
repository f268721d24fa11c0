//! Copies a monitor (interface.md 2.5, Monitor clone).

use super::Fleet;
use crate::control::{Caller, Refusal, Saved};
use crate::model::MonitorId;
use crate::model::source::Node;

impl Fleet {
    /// Copies one under another name (interface.md 2.5, Monitor clone).
    pub async fn copy(&self, _caller: &Caller, _id: MonitorId, _body: &Node) -> Result<Saved, Refusal> {
        todo!()
    }
}
