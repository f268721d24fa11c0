//! `email-smtp`.
