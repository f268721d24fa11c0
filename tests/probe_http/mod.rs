//! The HTTP probe against targets that do what a script says, over real loopback sockets.

mod bodies;
mod check;
mod crowd;
mod digest;
mod http2;
mod http3;
mod logins;
mod nginx;
mod places;
mod prefixes;
mod proxies;
mod requests;
mod server;
mod table;
mod through;
mod tls;
