//! Masking of credentials in everything that is stored, logged or shown.

pub mod redactor;
pub mod sensitive_names;
