//! Built-in targets on loopback: HTTP, HTTPS with a CA of its own, TCP and DNS. `vigie serve --demo` monitors them and
//! `vigie load` checks them, so that both work without a network.
//!
//! | Server | Responses |
//! |---|---|
//! | HTTP, HTTPS | `/` 200 with a short page, `/flaky` 500 at times, `/redirect` 302 to `/`, `/status/NNN` that status,
//! else 404 |
//! | TCP | the bytes that it receives |
//! | DNS (UDP and TCP) | A 127.0.0.1 and AAAA ::1 for any name, NXDOMAIN for names whose first label is `missing` |

mod built_in_targets;
mod certificate_authority;
mod dns;
mod flaky_schedule;
mod http;
mod sockets;
mod tcp_echo;

pub use built_in_targets::{BuiltInTargetAddresses, BuiltInTargetConfig, BuiltInTargets, nth_target_address};
pub use flaky_schedule::FlakySchedule;
