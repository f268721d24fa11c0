//! Stored codes of tokens.

use crate::domain::TokenScopes;
use crate::store::contract::TokenKind;

use super::decode::{DecodeError, RowLocator};

/// Returns the stored code of a kind.
pub(in crate::store) const fn kind_code(kind: TokenKind) -> i64 {
    match kind {
        TokenKind::Access => 0,
        TokenKind::LegacySession => 1,
        TokenKind::PageSession => 2,
    }
}

/// Decodes the stored code of a kind.
pub(in crate::store) fn kind_from_code(locator: RowLocator<'_>, code: i64) -> Result<TokenKind, DecodeError> {
    let decoded = match code {
        0 => Some(TokenKind::Access),
        1 => Some(TokenKind::LegacySession),
        2 => Some(TokenKind::PageSession),
        _ => None,
    };
    locator.require_decoded("kind", code, decoded)
}

/// Decodes stored scopes.
pub(in crate::store) fn scopes_from_bits(
    locator: RowLocator<'_>,
    bits: Option<i64>,
) -> Result<Option<TokenScopes>, DecodeError> {
    bits.map(|bits| locator.require_decoded("scopes", bits, TokenScopes::from_bits(bits))).transpose()
}
