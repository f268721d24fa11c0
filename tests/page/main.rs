//! Full pages: what is found in HTML and CSS, and how it is loaded.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod objects;
