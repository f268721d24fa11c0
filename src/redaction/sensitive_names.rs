//! Names of headers and variables that hold credentials.

use crate::syntax::word_set::WordSet;

/// Parts of names of headers that hold credentials.
static SENSITIVE_WORDS: WordSet<7> =
    WordSet::new(["cookie", "auth", "token", "secret", "session", "api-key", "apikey"]);

/// Whether a header of this name holds credentials.
#[must_use]
pub fn is_sensitive_header(name: &str) -> bool {
    SENSITIVE_WORDS.matches(name.as_bytes())
}

/// Whether a variable of this name holds credentials.
pub(crate) fn is_sensitive_variable(name: &str) -> bool {
    static VARIABLE_WORDS: WordSet<4> = WordSet::new(["passw", "api_key", "jwt", "bearer"]);
    is_sensitive_header(name) || VARIABLE_WORDS.matches(name.as_bytes())
}
