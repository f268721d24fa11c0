//! Probes of mail servers: SMTP, POP3, IMAP and mail round trips.

mod imap;
mod mail_server_target;
mod pop;
mod round_trip;
mod smtp;

pub(super) use imap::build as imap;
pub(super) use pop::build as pop;
pub(super) use round_trip::build as round_trip;
pub(super) use smtp::build as smtp;
