//! Access control of a forward proxy. A browser asks its user before it sends proxy credentials, so
//! the proxy identifies its clients by the uid that the kernel reports for their sockets, or by their address.

use std::net::{IpAddr, SocketAddr};

use crate::net::IpNetwork;

/// Clients whose connections are accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllowedClients {
    /// Processes of this user on this host, according to `/proc/self/net/tcp`.
    LocalUser(u32),
    /// Clients in these networks: the hosts that remote browsers run on.
    Networks(Vec<IpNetwork>),
}

impl AllowedClients {
    /// Allows the processes of the user that this process runs as.
    #[must_use]
    pub fn current_user() -> Self {
        Self::LocalUser(nix::unistd::geteuid().as_raw())
    }

    /// Whether the connection from `client_address` to `proxy_address` is served.
    pub(super) async fn allows_connection(
        &self,
        client_address: SocketAddr,
        proxy_address: SocketAddr,
    ) -> bool {
        match self {
            Self::Networks(allowed) => {
                allowed.iter().any(|network| network.contains(client_address.ip().to_canonical()))
            }
            Self::LocalUser(uid) => {
                let socket_table =
                    if client_address.is_ipv4() { "/proc/self/net/tcp" } else { "/proc/self/net/tcp6" };
                let socket_table = tokio::fs::read_to_string(socket_table).await.unwrap_or_default();
                socket_owner_uid(&socket_table, client_address, proxy_address) == Some(*uid)
            }
        }
    }
}

/// Returns the user of the socket that is bound to `local_address` and connected to `remote_address`.
fn socket_owner_uid(
    socket_table: &str,
    local_address: SocketAddr,
    remote_address: SocketAddr,
) -> Option<u32> {
    let (local_address, remote_address) =
        (format_proc_net_address(local_address), format_proc_net_address(remote_address));
    socket_table.lines().find_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let matches = fields.next() == Some(&local_address) && fields.next() == Some(&remote_address);
        // The fields before the user are the state, the queues, the timer and the retransmissions.
        if matches { fields.nth(4)?.parse().ok() } else { None }
    })
}

/// Formats an address like the kernel: 32-bit words in the byte order of the host, and the port.
fn format_proc_net_address(address: SocketAddr) -> String {
    use std::fmt::Write as _;
    let octets = match address.ip() {
        IpAddr::V4(v4) => v4.octets().to_vec(),
        IpAddr::V6(v6) => v6.octets().to_vec(),
    };
    let mut text = String::with_capacity(octets.len() * 2 + 5);
    for word in octets.chunks_exact(4) {
        let bytes = [word[0], word[1], word[2], word[3]];
        // Writing to a String cannot fail.
        let _ = write!(text, "{:08X}", u32::from_ne_bytes(bytes));
    }
    let _ = write!(text, ":{:04X}", address.port());
    text
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[tokio::test]
    async fn a_connection_is_allowed_for_its_user_only() {
        for here in ["127.0.0.1:0", "[::1]:0"] {
            let listener = TcpListener::bind(here).unwrap();
            let here = listener.local_addr().unwrap();
            let stream = TcpStream::connect(here).unwrap();
            let from = stream.local_addr().unwrap();
            assert!(AllowedClients::current_user().allows_connection(from, here).await, "{here}");
            let other = nix::unistd::geteuid().as_raw() + 1;
            assert!(!AllowedClients::LocalUser(other).allows_connection(from, here).await, "{here}");
            assert!(
                !AllowedClients::current_user().allows_connection(here, here).await,
                "nobody is connected there"
            );
            assert!(
                AllowedClients::Networks(vec![IpNetwork::from_address(from.ip())])
                    .allows_connection(from, here)
                    .await
            );
            assert!(
                !AllowedClients::Networks(vec!["192.0.2.0/24".parse().unwrap()])
                    .allows_connection(from, here)
                    .await
            );
        }
    }
}
