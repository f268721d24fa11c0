//! The kind of all ids.

use crate::schema::field::Kind;

/// Ids start at 1.
pub const ID: Kind = Kind::Int { min: 1, max: i64::MAX };
