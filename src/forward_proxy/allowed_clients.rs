//! Access control of a forward proxy. A browser asks its user before it sends proxy credentials, so the proxy
//! identifies its clients by the user and the process that own their sockets, or by their address.

use std::fmt::Debug;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use futures::future::BoxFuture;

use crate::net::IpNetwork;

/// Clients whose connections are accepted.
#[derive(Clone, Debug)]
pub enum AllowedClients {
    /// Processes of this user on this host, according to `/proc/self/net/tcp`.
    LocalUser(u32),
    /// Those processes of this user whose sockets
    /// [`ForwardProxy::set_socket_owner`](super::ForwardProxy::set_socket_owner) names: the browser of the check.
    /// Before it is set, nobody is served.
    LocalBrowser(u32),
    /// Clients in these networks: the hosts that remote browsers run on.
    Networks(Vec<IpNetwork>),
}

/// The processes of one browser, which own sockets.
pub trait SocketOwner: Debug + Send + Sync {
    /// Whether one of the processes has the socket `inode` open.
    fn owns_socket(&self, inode: u64) -> BoxFuture<'_, bool>;
}

impl AllowedClients {
    /// Allows the processes of the user that this process runs as.
    #[must_use]
    pub fn current_user() -> Self {
        Self::LocalUser(nix::unistd::geteuid().as_raw())
    }

    /// Whether the connection from `client_address` to `proxy_address` is served.
    pub async fn allows_connection(
        &self,
        client_address: SocketAddr,
        proxy_address: SocketAddr,
        socket_owner: Option<Arc<dyn SocketOwner>>,
    ) -> bool {
        match self {
            Self::Networks(allowed) => {
                allowed.iter().any(|network| network.contains(client_address.ip().to_canonical()))
            }
            Self::LocalUser(uid) => {
                let socket = find_socket(client_address, proxy_address).await;
                socket.is_some_and(|socket| socket.uid == *uid)
            }
            Self::LocalBrowser(uid) => {
                let Some(socket_owner) = socket_owner else { return false };
                match find_socket(client_address, proxy_address).await {
                    Some(socket) if socket.uid == *uid => socket_owner.owns_socket(socket.inode).await,
                    _ => false,
                }
            }
        }
    }
}

/// A socket in the table of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Socket {
    uid: u32,
    inode: u64,
}

/// Returns the socket that is bound to `local_address` and connected to `remote_address`.
async fn find_socket(local_address: SocketAddr, remote_address: SocketAddr) -> Option<Socket> {
    let socket_table = if local_address.is_ipv4() { "/proc/self/net/tcp" } else { "/proc/self/net/tcp6" };
    let socket_table = tokio::fs::read_to_string(socket_table).await.unwrap_or_default();
    let (local_address, remote_address) =
        (format_proc_net_address(local_address), format_proc_net_address(remote_address));
    socket_table.lines().find_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let matches = fields.next() == Some(&local_address) && fields.next() == Some(&remote_address);
        if !matches {
            return None;
        }
        // The fields before the user are the state, the queues, the timer and the retransmissions; the timeout follows.
        let uid = fields.nth(4)?.parse().ok()?;
        Some(Socket { uid, inode: fields.nth(1)?.parse().ok()? })
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
    use std::os::fd::AsRawFd;

    use futures::FutureExt;

    use super::*;

    /// Owns one socket.
    #[derive(Debug)]
    struct OneSocket(u64);

    impl SocketOwner for OneSocket {
        fn owns_socket(&self, inode: u64) -> BoxFuture<'_, bool> {
            std::future::ready(inode == self.0).boxed()
        }
    }

    fn socket_inode(stream: &TcpStream) -> u64 {
        let link = std::fs::read_link(format!("/proc/self/fd/{}", stream.as_raw_fd())).unwrap();
        link.to_str().unwrap().trim_start_matches("socket:[").trim_end_matches(']').parse().unwrap()
    }

    #[tokio::test]
    async fn only_the_processes_of_the_browser_are_allowed() {
        let uid = nix::unistd::geteuid().as_raw();
        for proxy_address in ["127.0.0.1:0", "[::1]:0"] {
            let listener = TcpListener::bind(proxy_address).unwrap();
            let proxy_address = listener.local_addr().unwrap();
            let stream = TcpStream::connect(proxy_address).unwrap();
            let client_address = stream.local_addr().unwrap();
            let inode = socket_inode(&stream);
            for (uid, owner, allowed) in [
                (uid, Some(inode), true),
                (uid, Some(inode + 1), false),
                (uid + 1, Some(inode), false),
                (uid, None, false),
            ] {
                let socket_owner = owner.map(|inode| Arc::new(OneSocket(inode)) as Arc<dyn SocketOwner>);
                let clients = AllowedClients::LocalBrowser(uid);
                assert_eq!(
                    clients.allows_connection(client_address, proxy_address, socket_owner).await,
                    allowed,
                    "{proxy_address} {owner:?}"
                );
            }
        }
    }

    #[tokio::test]
    async fn a_connection_is_allowed_for_its_user_only() {
        for proxy_address in ["127.0.0.1:0", "[::1]:0"] {
            let listener = TcpListener::bind(proxy_address).unwrap();
            let proxy_address = listener.local_addr().unwrap();
            let stream = TcpStream::connect(proxy_address).unwrap();
            let client_address = stream.local_addr().unwrap();
            assert!(
                AllowedClients::current_user().allows_connection(client_address, proxy_address, None).await,
                "{proxy_address}"
            );
            let other_uid = nix::unistd::geteuid().as_raw() + 1;
            assert!(
                !AllowedClients::LocalUser(other_uid)
                    .allows_connection(client_address, proxy_address, None)
                    .await,
                "{proxy_address}"
            );
            assert!(
                !AllowedClients::current_user().allows_connection(proxy_address, proxy_address, None).await,
                "nobody is connected there"
            );
            assert!(
                AllowedClients::Networks(vec![IpNetwork::from_address(client_address.ip())])
                    .allows_connection(client_address, proxy_address, None)
                    .await
            );
            assert!(
                !AllowedClients::Networks(vec!["192.0.2.0/24".parse().unwrap()])
                    .allows_connection(client_address, proxy_address, None)
                    .await
            );
        }
    }
}
