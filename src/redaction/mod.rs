//! Masking of credentials in everything that is stored, logged, sent or shown.

mod encoded_forms;
pub mod named_values;
mod observation;
pub mod redactor;
pub mod scope;
pub mod sensitive_names;
pub mod urls;
