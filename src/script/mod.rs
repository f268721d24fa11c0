//! Browser scripts as the APIs use them: summaries, protected variables, masks (behaviour.md 8).
//!
//! The script language is XML: a root `script` with `variable` (name, value, protected) and 1 to 50 `step` elements,
//! whose children are actions. [`language`] contains them as types that can be run.
//!
//! The value of a protected variable is a secret: it is encrypted at rest with the whole script, and every response
//! shows `********` instead, with all other bytes unchanged. A script that contains `protected` and cannot be parsed is
//! masked as a whole, since the positions of its secrets are unknown. Values that the author repeats elsewhere, or puts
//! into comments, are not found.

pub mod language;
mod mask;
mod overview;
mod script_error;
mod script_parser;
pub mod selenium_ide;
mod xml_limits;

pub use mask::{
    has_secrets, have_same_protected_variables, mask_secrets, restore_masked_secrets, secret_values,
};
pub use overview::{DEFAULT_MAX_STEPS, ScriptOverview};
pub use script_error::ScriptError;
pub use script_parser::check_project_xml;
pub(crate) use script_parser::parse_project_xml;
