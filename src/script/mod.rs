//! Browser scripts as far as the APIs need them: facts, protected variables, masks (behaviour.md 8).
//!
//! The dialect is XML: a root `script`, in it `variable` (name, value, protected) and 1 to 50 `step` elements,
//! whose children are acts. [`language`] has them as types that can be played.
//!
//! The value of a protected variable is a secret: it is sealed at rest with the whole script, and every answer
//! shows `********` in its place, while all other bytes stay as they are. A script that says `protected`
//! somewhere and cannot be read is hidden as a whole, since nobody can tell where its secrets stand.
//! Values that the author repeats elsewhere, or puts into comments, are not found.

pub mod language;
mod mask;
mod outline;
mod script_error;
pub mod selenium_ide;
mod summary;
mod xml_limits;

pub use mask::{has_secrets, mask, restore_masked, same_protected_variables};
pub use outline::check_well_formed;
pub use script_error::ScriptError;
pub use summary::{DEFAULT_MAX_STEPS, ScriptSummary};
