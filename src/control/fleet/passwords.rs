//! Password bulk edit (interface.md 2.5).

use super::Fleet;
use crate::control::{Caller, Refusal};
use crate::model::source::Node;

impl Fleet {
    /// Password bulk edit: all or nothing.
    pub async fn bulk_edit_passwords(&self, _caller: &Caller, _body: &Node) -> Result<(), Refusal> {
        todo!()
    }
}
