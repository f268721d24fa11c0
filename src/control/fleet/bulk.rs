//! Monitor bulk edit (interface.md 2.5).

use super::Fleet;
use crate::control::{Caller, Refusal};
use crate::model::source::Node;

impl Fleet {
    /// Monitor bulk edit (interface.md 2.5): all or nothing.
    pub async fn bulk_edit(&self, _caller: &Caller, _body: &Node) -> Result<(), Refusal> {
        todo!()
    }
}
