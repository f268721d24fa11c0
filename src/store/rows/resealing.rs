//! What both engines do with the sealed bytes of rows that are sealed again.

use crate::domain::CustomerId;
use crate::store::contract::{ResealFn, seal_context};

/// Rows that one transaction reseals.
pub(in crate::store) const RESEAL_CHUNK_ROWS: i64 = 500;

/// A row with sealed bytes: its id, its account, if it is of one, and the bytes.
pub(in crate::store) type SealedRow = (i64, Option<i64>, Vec<u8>);

/// Reseals `rows`, which are of `kind` in the context of [`seal_context`]; returns the ids of those that changed, with
/// the new bytes.
pub(in crate::store) fn reseal_rows(
    kind: &str,
    rows: &[SealedRow],
    reseal_fn: &ResealFn,
) -> Vec<(i64, Vec<u8>)> {
    let reseal = |(id, customer, sealed_bytes): &SealedRow| {
        let context = seal_context(kind, CustomerId(customer.unwrap_or(*id)));
        Some((*id, reseal_fn(&context, sealed_bytes)?))
    };
    rows.iter().filter_map(reseal).collect()
}
