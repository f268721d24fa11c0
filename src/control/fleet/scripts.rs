//! Script bulk edit (interface.md 2.5).

use super::Fleet;
use crate::control::{Caller, Refusal};
use crate::model::source::Node;

impl Fleet {
    /// Script bulk edit: all or nothing.
    pub async fn bulk_edit_scripts(&self, _caller: &Caller, _body: &Node) -> Result<(), Refusal> {
        todo!()
    }
}
