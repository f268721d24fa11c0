//! A record as a row.

use serde_json::Value;

use crate::domain::ConfigRecord;
use crate::store::contract::NewConfigRecord;

/// A new record, ready to be written.
pub(in crate::store) struct NewRecordRow {
    pub(in crate::store) record: NewConfigRecord,
    pub(in crate::store) fields_json: String,
}

impl NewRecordRow {
    pub(in crate::store) fn from_record(mut record: NewConfigRecord) -> Self {
        let fields_json = Value::Object(std::mem::take(&mut record.fields)).to_string();
        Self { record, fields_json }
    }
}

/// A new revision of a record, ready to be written.
pub(in crate::store) struct UpdatedRecordRow {
    pub(in crate::store) record: ConfigRecord,
    pub(in crate::store) fields_json: String,
}

impl UpdatedRecordRow {
    pub(in crate::store) fn from_record(mut record: ConfigRecord) -> Self {
        let fields_json = Value::Object(std::mem::take(&mut record.fields)).to_string();
        Self { record, fields_json }
    }
}
