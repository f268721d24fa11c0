//! Makes monitors.

use super::Fleet;
use crate::control::{Caller, Refusal, Saved};
use crate::model::MonitorType;
use crate::model::intake::Form;
use crate::model::source::Node;

impl Fleet {
    /// Makes a monitor of `kind`.
    pub async fn create(
        &self,
        _caller: &Caller,
        _kind: MonitorType,
        _form: Form,
        _body: &Node,
    ) -> Result<Saved, Refusal> {
        todo!()
    }
}
