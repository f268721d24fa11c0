//! Built-in targets on loopback: HTTP, HTTPS with a CA of its own, TCP and DNS. `vigie serve --demo` monitors them and
//! `vigie load` checks them, so that both work without a network.
//!
//! | Server | Responses |
//! |---|---|
//! | HTTP, HTTPS | `/` 200 with a short page, `/flaky` 500 at times, `/redirect` 302 to `/`, `/status/NNN` that status,
//! else 404 |
//! | TCP | the bytes that it receives |
//! | DNS (UDP and TCP) | A 127.0.0.1 and AAAA ::1 for any name, NXDOMAIN for names whose first label is `missing` |

mod certificate_authority;
mod dns;
mod echo;
mod flaky;
mod http;
mod responder;
mod sockets;

pub use flaky::FlakySchedule;
pub use responder::{BuiltInTargetAddresses, BuiltInTargetConfig, BuiltInTargets, nth_target_address};
