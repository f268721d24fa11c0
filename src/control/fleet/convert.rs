//! One-request API monitors become stepped ones (behaviour.md 1, convert-api).

use super::{Fleet, IfMatch};
use crate::control::{Caller, Refusal, Saved};
use crate::model::{MonitorId, MonitorType};

impl Fleet {
    /// Turns the one-request form of an API monitor into step 1 (behaviour.md 1, convert-api).
    pub async fn convert_api(
        &self,
        _caller: &Caller,
        _id: MonitorId,
        _kind: MonitorType,
        _if_match: IfMatch,
    ) -> Result<Saved, Refusal> {
        todo!()
    }
}
