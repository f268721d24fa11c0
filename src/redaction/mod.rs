//! What is masked in everything that is kept, logged or shown.

pub mod redactor;
pub mod sensitive_names;
