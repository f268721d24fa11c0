//! Which names of headers and variables stand for credentials.

use crate::syntax::word_set::WordSet;

/// Parts of names of headers whose values let somebody in.
static SENSITIVE_WORDS: WordSet<7> =
    WordSet::new(["cookie", "auth", "token", "secret", "session", "api-key", "apikey"]);

/// Whether the value of a header of this name lets somebody in.
#[must_use]
pub fn is_sensitive_header(name: &str) -> bool {
    SENSITIVE_WORDS.matches(name.as_bytes())
}

/// Whether a variable of this name lets somebody in.
pub(crate) fn is_sensitive_variable(name: &str) -> bool {
    static VARIABLE_WORDS: WordSet<4> = WordSet::new(["passw", "api_key", "jwt", "bearer"]);
    is_sensitive_header(name) || VARIABLE_WORDS.matches(name.as_bytes())
}
