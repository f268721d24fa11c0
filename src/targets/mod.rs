//! Built-in targets on loopback: HTTP, HTTPS with a CA of its own, TCP and DNS. What `vigie serve --demo`
//! watches and what `vigie load` checks, so that both work without a network.
//!
//! | Server | Answers |
//! |---|---|
//! | HTTP, HTTPS | `/` 200 with a short page, `/flaky` 500 now and then, `/redirect` 302 to `/`, `/status/NNN` that status, else 404 |
//! | TCP | whatever it is sent |
//! | DNS (UDP and TCP) | A 127.0.0.1 and AAAA ::1 for any name, NXDOMAIN for names whose first label is `missing` |

mod certificate_authority;
mod dns;
mod echo;
mod flaky;
mod http;
mod responder;
mod sockets;

pub use flaky::FlakySchedule;
pub use responder::{Responder, ResponderAddresses, ResponderConfig, spread_address};
