//! Monitors of the store come into memory at the start.

use super::Fleet;
use crate::model::Monitor;
use crate::store::StoreError;

impl Fleet {
    /// Reads all monitors that no file manages from the store into the roster, their secrets opened.
    pub async fn load(&self) -> Result<Vec<Monitor>, StoreError> {
        let _ = (&self.parts, &self.turn);
        todo!()
    }
}
