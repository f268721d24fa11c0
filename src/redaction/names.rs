//! Which names of headers and variables stand for credentials.

use crate::syntax::words::WordSet;

/// Parts of names of headers whose values let somebody in.
static TELLING: WordSet<7> =
    WordSet::new(["cookie", "auth", "token", "secret", "session", "api-key", "apikey"]);

/// Whether the value of a header of this name lets somebody in.
#[must_use]
pub fn is_telling(name: &str) -> bool {
    TELLING.matches(name.as_bytes())
}

/// Whether a variable of this name lets somebody in.
pub(crate) fn is_secret(name: &str) -> bool {
    static WORDS: WordSet<4> = WordSet::new(["passw", "api_key", "jwt", "bearer"]);
    is_telling(name) || WORDS.matches(name.as_bytes())
}
