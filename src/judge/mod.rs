//! judge

pub mod certificate;
pub mod charset;
pub mod keyword;
mod spaces;
