//! Sessions with mail servers: what those of SMTP, POP3 and IMAP have in common.

mod account;
mod imap;
mod pop;
mod smtp;
mod trip;

pub(super) use imap::build as imap;
pub(super) use pop::build as pop;
pub(super) use smtp::build as smtp;
pub(super) use trip::build as round_trip;
