//! The link that `vigie serve --demo` prints.

use std::net::{IpAddr, SocketAddr};

use super::services::Services;
use crate::domain::CustomerId;
use crate::service::{AccountService, EntryPoint};

/// Prints a link that signs in to the pages at `address` once, on standard output: logs never contain it.
pub(super) fn print_sign_in_link(services: &Services, scheme: &str, address: SocketAddr) {
    let host_caller = AccountService::host_admin_caller(CustomerId::OPERATOR, EntryPoint::Server);
    match services.api_state.account_service.create_sign_in_link(&host_caller) {
        Ok(link) => print_link(&format!(
            "{scheme}://{}/sign-in/link?token={}",
            reachable_address(address),
            link.token
        )),
        Err(error) => tracing::warn!(error = ?error, "failed to make a sign-in link"),
    }
}

#[expect(clippy::print_stdout, reason = "for the person who started the demo alone, never in a log")]
fn print_link(url: &str) {
    println!(
        "\nOpen the status page with this link (it works once, within 10 minutes):\n\n  {url}\n\n\
         `vigie open` prints another one.\n"
    );
}

/// Returns an address that a browser on this host can open.
fn reachable_address(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        ip if !ip.is_unspecified() => ip,
        IpAddr::V4(_) => IpAddr::from([127, 0, 0, 1]),
        IpAddr::V6(_) => IpAddr::V6(std::net::Ipv6Addr::LOCALHOST),
    };
    SocketAddr::new(ip, address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_on_this_host_opens_loopback_instead_of_every_address() {
        for (listen, expected) in
            [("0.0.0.0:7979", "127.0.0.1:7979"), ("[::]:1", "[::1]:1"), ("192.0.2.7:80", "192.0.2.7:80")]
        {
            assert_eq!(reachable_address(listen.parse().unwrap()).to_string(), expected);
        }
    }
}
