//! Browser scripts as far as the APIs need them: facts, protected variables, masks (behaviour.md 8).
//!
//! The dialect is XML: a root `script`, in it `variable` (name, value, protected) and 1 to 50 `step` elements,
//! whose children are acts. [`dialect`] has them as types that can be played.
//!
//! The value of a protected variable is a secret: it is sealed at rest with the whole script, and every answer
//! shows `********` in its place, while all other bytes stay as they are. A script that says `protected`
//! somewhere and cannot be read is hidden as a whole, since nobody can tell where its secrets stand.
//! Values that the author repeats elsewhere, or puts into comments, are not found.

mod bounds;
pub mod dialect;
mod facts;
mod fault;
mod mask;
mod read;
pub mod side;

pub use facts::{STEPS_ALLOWED, ScriptFacts};
pub use fault::ScriptFault;
pub use mask::{hides, masked, same_protected, unmasked};
pub use read::well_formed;
