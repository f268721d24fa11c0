//! The kinds of mail: `email-pop`.

mod pop;

pub(super) use pop::build as build_pop;
