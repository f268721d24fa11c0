//! Names of headers and variables that hold credentials.

use crate::syntax::substring_set::SubstringSet;

/// Parts of names of headers that hold credentials.
static SENSITIVE_HEADER_PARTS: SubstringSet<7> =
    SubstringSet::new(["cookie", "auth", "token", "secret", "session", "api-key", "apikey"]);

/// Whether a header of this name holds credentials.
#[must_use]
pub fn is_sensitive_header(name: &str) -> bool {
    SENSITIVE_HEADER_PARTS.occurs_in(name.as_bytes())
}

/// Returns what follows the scheme in the value of a header: in `Bearer abc`, `abc` alone is a credential, too.
pub(crate) fn token_after_scheme(header_value: &str) -> Option<&str> {
    header_value.split_once(' ').map(|(_, token)| token.trim())
}

/// Whether a variable of this name holds credentials, in whatever case it is written.
pub(crate) fn is_sensitive_variable(name: &str) -> bool {
    static SENSITIVE_VARIABLE_PARTS: SubstringSet<4> =
        SubstringSet::new(["passw", "api_key", "jwt", "bearer"]);
    is_sensitive_header(name) || SENSITIVE_VARIABLE_PARTS.occurs_in(name.as_bytes())
}
