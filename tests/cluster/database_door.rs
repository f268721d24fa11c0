//! The way of one controller to the database: a TCP proxy that can lead to another server, and that knows which
//! connections were those of the controller.

use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};

/// A TCP proxy to PostgreSQL on loopback.
pub struct DatabaseDoor {
    /// Where the controller connects.
    pub port: u16,
    server_port: Arc<AtomicU16>,
    opened: Arc<Mutex<Opened>>,
}

#[derive(Default)]
struct Opened {
    streams: Vec<TcpStream>,
    /// The ports at which the server saw the controller.
    client_ports: HashSet<u16>,
}

impl DatabaseDoor {
    pub fn open(server_port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (server_port, opened) = (Arc::new(AtomicU16::new(server_port)), Arc::<Mutex<Opened>>::default());
        let (target, accepted) = (Arc::clone(&server_port), Arc::clone(&opened));
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                // While the server is down, the controller sees its connection closed.
                if let Ok(server) = TcpStream::connect(("127.0.0.1", target.load(Ordering::SeqCst))) {
                    let _ = join(client, server, &accepted);
                }
            }
        });
        Self { port, server_port, opened }
    }

    /// Leads to another server from now on; open connections break.
    pub fn lead_to(&self, server_port: u16) {
        self.server_port.store(server_port, Ordering::SeqCst);
        for stream in self.opened.lock().unwrap().streams.drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Returns the ports at which the server saw the controller so far.
    pub fn client_ports(&self) -> HashSet<u16> {
        self.opened.lock().unwrap().client_ports.clone()
    }
}

fn join(client: TcpStream, server: TcpStream, opened: &Mutex<Opened>) -> std::io::Result<()> {
    for stream in [&client, &server] {
        stream.set_nodelay(true)?;
    }
    {
        let mut opened = opened.lock().unwrap();
        opened.client_ports.insert(server.local_addr()?.port());
        opened.streams.extend([client.try_clone()?, server.try_clone()?]);
    }
    for (from, to) in [(client.try_clone()?, server.try_clone()?), (server, client)] {
        std::thread::spawn(move || copy(from, to));
    }
    Ok(())
}

/// Copies until one side is closed, then closes both.
fn copy(mut from: TcpStream, mut to: TcpStream) {
    let mut bytes = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    for stream in [&from, &to] {
        let _ = stream.shutdown(Shutdown::Both);
    }
}
