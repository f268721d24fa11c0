//! API steps against a service that answers by what it is asked, over real loopback sockets.

mod check;
mod flow;
mod judging;
mod logins;
mod requests;
mod secured;
mod service;
mod variables;
