//! A TCP proxy in front of a PostgreSQL server that breaks connections at a moment of choice.
#![allow(dead_code, reason = "every test binary takes what it needs")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// When connections break; each cut happens once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Cut {
    Never = 0,
    /// Before the server gets the commit.
    BeforeCommit = 1,
    /// After the server has committed, before the client gets the reply.
    AfterCommit = 2,
    /// Connections stay open, and nothing passes any more.
    Stall = 3,
    /// At the commit, which the server does not get; the connection stays open until the next call of `cut`.
    HoldCommit = 4,
    /// After the server has committed; the client gets no reply, and the connection stays open until the next call of `cut`.
    HoldReply = 5,
}

pub struct CuttingProxy {
    pub address: SocketAddr,
    cut: Arc<AtomicU8>,
    cuts: Arc<AtomicUsize>,
}

impl CuttingProxy {
    pub async fn start(server_port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (cut, cuts) = (Arc::new(AtomicU8::new(0)), Arc::new(AtomicUsize::new(0)));
        let (accepted_cut, accepted_cuts) = (Arc::clone(&cut), Arc::clone(&cuts));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(("127.0.0.1", server_port)).await;
                if let Ok(server) = server {
                    let (cut, cuts) = (Arc::clone(&accepted_cut), Arc::clone(&accepted_cuts));
                    tokio::spawn(relay(client, server, cut, cuts));
                }
            }
        });
        Self { address, cut, cuts }
    }

    pub fn cut(&self, when: Cut) {
        self.cut.store(when as u8, Ordering::SeqCst);
    }

    /// Returns how many connections were cut.
    pub fn cuts(&self) -> usize {
        self.cuts.load(Ordering::SeqCst)
    }
}

async fn relay(mut client: TcpStream, mut server: TcpStream, cut: Arc<AtomicU8>, cuts: Arc<AtomicUsize>) {
    let (mut from_client, mut from_server) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    loop {
        if cut.load(Ordering::SeqCst) == Cut::Stall as u8 {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            continue;
        }
        tokio::select! {
            read = client.read(&mut from_client) => {
                let Ok(length @ 1..) = read else { return };
                let bytes = &from_client[..length];
                let is_commit = bytes.windows(6).any(|window| window == b"COMMIT");
                let take = |when: Cut| {
                    let taken =
                        cut.compare_exchange(when as u8, 0, Ordering::SeqCst, Ordering::SeqCst).is_ok();
                    cuts.fetch_add(usize::from(taken), Ordering::SeqCst);
                    taken
                };
                if is_commit && take(Cut::BeforeCommit) {
                    return;
                }
                if is_commit && cut.load(Ordering::SeqCst) == Cut::HoldCommit as u8 {
                    return hold(Cut::HoldCommit, &cut, &cuts).await;
                }
                if server.write_all(bytes).await.is_err() {
                    return;
                }
                if is_commit && cut.load(Ordering::SeqCst) == Cut::HoldReply as u8 {
                    let _ = server.read(&mut from_server).await;
                    return hold(Cut::HoldReply, &cut, &cuts).await;
                }
                if is_commit && take(Cut::AfterCommit) {
                    // The server replies once it has committed.
                    let _ = server.read(&mut from_server).await;
                    return;
                }
            }
            read = server.read(&mut from_server) => {
                let Ok(length @ 1..) = read else { return };
                if client.write_all(&from_server[..length]).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// Counts a cut, and waits until it is no longer asked for.
async fn hold(when: Cut, cut: &AtomicU8, cuts: &AtomicUsize) {
    cuts.fetch_add(1, Ordering::SeqCst);
    while cut.load(Ordering::SeqCst) == when as u8 {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}
