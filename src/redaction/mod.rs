//! What is masked in everything that is kept, logged or shown.

pub mod names;
pub mod telling;
