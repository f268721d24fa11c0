//! Sockets of the processes of this host, from `/proc` (proc(5)).

use std::collections::BTreeSet;
use std::fs;

/// State of a listening socket in `/proc/net/tcp`.
const TCP_LISTEN_STATE: &str = "0A";

/// Returns the TCP ports that these processes listen on. Processes of another user show their sockets to root only.
pub(crate) fn listening_ports(process_ids: impl Iterator<Item = i32>) -> BTreeSet<u16> {
    let inodes: BTreeSet<u64> = process_ids.flat_map(socket_inodes).collect();
    let socket_tables = ["/proc/self/net/tcp", "/proc/self/net/tcp6"];
    let socket_tables = socket_tables.map(|path| fs::read_to_string(path).unwrap_or_default());
    let listeners = socket_tables.iter().flat_map(|table| table.lines().filter_map(parse_listener));
    listeners.filter(|(_, inode)| inodes.contains(inode)).map(|(port, _)| port).collect()
}

/// Whether the process has the socket `inode` open. A process of another user shows its sockets to root only.
pub(crate) fn has_open_socket(process_id: i32, inode: u64) -> bool {
    socket_inodes(process_id).any(|open_inode| open_inode == inode)
}

fn socket_inodes(process_id: i32) -> impl Iterator<Item = u64> {
    let entries = fs::read_dir(format!("/proc/{process_id}/fd")).into_iter().flatten().flatten();
    let link_targets = entries.filter_map(|entry| fs::read_link(entry.path()).ok());
    link_targets
        .filter_map(|target| target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok())
}

/// Parses the port and the inode of a listening socket.
fn parse_listener(socket_table_line: &str) -> Option<(u16, u64)> {
    let mut fields = socket_table_line.split_ascii_whitespace().skip(1);
    let (_, port) = fields.next()?.rsplit_once(':')?;
    if fields.nth(1)? != TCP_LISTEN_STATE {
        return None;
    }
    // The fields in between are the queues, the timer, the retransmissions, the user and the timeout.
    Some((u16::from_str_radix(port, 16).ok()?, fields.nth(5)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn only_listening_sockets_of_the_processes_count() {
        let listeners = ["127.0.0.1:0", "[::1]:0"].map(|address| TcpListener::bind(address).unwrap());
        let ports = listeners.each_ref().map(|listener| listener.local_addr().unwrap().port());
        let client = TcpStream::connect(("127.0.0.1", ports[0])).unwrap();
        let own_process_id = i32::try_from(std::process::id()).unwrap();
        let ports_found = listening_ports([own_process_id].into_iter());
        assert!(ports.iter().all(|port| ports_found.contains(port)), "{ports:?} {ports_found:?}");
        assert!(!ports_found.contains(&client.local_addr().unwrap().port()));
        assert!(listening_ports([1_000_000_000].into_iter()).is_empty());
    }
}
