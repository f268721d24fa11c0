//! The type of all ids.

use crate::schema::field::FieldType;

/// Ids start at 1.
pub const ID: FieldType = FieldType::Int { min: 1, max: i64::MAX };
