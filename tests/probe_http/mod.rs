//! Tests the HTTP probe against scripted servers and real daemons, over loopback sockets.

mod addresses;
mod bodies;
mod check;
mod concurrent_searches;
mod cut_responses;
mod digest;
mod http2;
mod http3;
mod logins;
mod nginx;
mod object_proxies;
mod proxies;
mod requests;
mod server;
mod table;
mod tls;
// Builds with that feature speak to such servers; see `tests/old_tls`.
#[cfg(not(feature = "legacy-tls"))]
mod weak_suites;
