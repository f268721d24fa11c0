//! Which names of headers and variables stand for credentials.

use crate::syntax::words::Words;

/// Parts of names of headers whose values let somebody in.
static TELLING: Words<7> = Words::of(["cookie", "auth", "token", "secret", "session", "api-key", "apikey"]);

/// Whether the value of a header of this name lets somebody in.
#[must_use]
pub fn is_telling(name: &str) -> bool {
    TELLING.are_in(name.as_bytes())
}

/// Whether a variable of this name lets somebody in.
pub(crate) fn is_secret(name: &str) -> bool {
    static WORDS: Words<4> = Words::of(["passw", "api_key", "jwt", "bearer"]);
    is_telling(name) || WORDS.are_in(name.as_bytes())
}
