//! Changes and removes one monitor.

use super::{Fleet, IfMatch};
use crate::control::{Caller, Refusal, Saved};
use crate::model::intake::Form;
use crate::model::source::Node;
use crate::model::{MonitorId, MonitorType};

impl Fleet {
    /// Changes one; `kind`, when given, has to be its type (else 404).
    pub async fn patch(
        &self,
        _caller: &Caller,
        _id: MonitorId,
        _kind: Option<MonitorType>,
        _form: Form,
        _body: &Node,
        _if_match: IfMatch,
    ) -> Result<Saved, Refusal> {
        todo!()
    }

    /// Removes one; its results follow retention.
    pub async fn delete(&self, _caller: &Caller, _id: MonitorId, _if_match: IfMatch) -> Result<(), Refusal> {
        todo!()
    }
}
