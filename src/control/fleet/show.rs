//! Monitors as version 3 shows them.

use serde_json::{Map, Value};

use super::Fleet;
use crate::control::{Caller, Refusal};
use crate::model::Monitor;

impl Fleet {
    /// The version 3 object of `monitor` as `caller` sees it: every field of interface.md 2.1, computed ones
    /// too (fields.md 3), secrets masked.
    pub async fn show(
        &self,
        _caller: &Caller,
        _monitors: &[Monitor],
    ) -> Result<Vec<Map<String, Value>>, Refusal> {
        todo!()
    }
}
