//! An FTP server on loopback that handles everything a check sends, except for the steps that a test changes.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// What the server does at a step instead of the correct reply.
#[derive(Clone)]
pub enum Act {
    /// Sends these bytes; a data connection is closed afterwards.
    Send(Vec<u8>),
    /// Sends these bytes after a delay.
    SendAfter(Duration, Vec<u8>),
    /// Sends these bytes and closes.
    SendAndClose(Vec<u8>),
    /// Listens for a data connection and sends the text made of its address.
    Listen(fn(SocketAddr) -> String),
    /// Sends these bytes repeatedly.
    Endless(&'static [u8]),
    Close,
    Stall,
}

pub fn send(text: impl AsRef<[u8]>) -> Act {
    Act::Send(text.as_ref().to_vec())
}

pub fn send_and_close(text: impl AsRef<[u8]>) -> Act {
    Act::SendAndClose(text.as_ref().to_vec())
}

/// How a server differs from a correct one. The keys of `steps` are commands, `greeting`, `data` (bytes of LIST),
/// `RETR data`, `STOR data`, `LIST done`, `STOR done`, `RETR done` and `data tls`.
#[derive(Clone, Default)]
pub struct Rules {
    pub steps: HashMap<&'static str, Act>,
    pub tls: Option<Arc<ServerConfig>>,
    /// TLS configuration of data connections, when it differs.
    pub data_tls: Option<Arc<ServerConfig>>,
    pub implicit: bool,
}

impl Rules {
    pub fn with_act(mut self, step: &'static str, act: Act) -> Self {
        self.steps.insert(step, act);
        self
    }
}

trait Io: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Io for T {}

pub struct Server {
    pub address: SocketAddr,
    received: Arc<Mutex<Vec<String>>>,
    pub files: Arc<Mutex<HashMap<String, Vec<u8>>>>,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    pub async fn start(rules: Rules) -> Self {
        Self::start_on("127.0.0.1", rules).await
    }

    pub async fn start_on(ip: &str, rules: Rules) -> Self {
        let listener = TcpListener::bind((ip, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (received, files) = (Arc::default(), Arc::default());
        let session =
            Session { rules: Arc::new(rules), received: Arc::clone(&received), files: Arc::clone(&files) };
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let _ = stream.set_nodelay(true);
                let session = session.clone();
                tokio::spawn(async move { session.serve(stream).await });
            }
        });
        Self { address, received, files, task }
    }

    /// Returns the received commands without their arguments.
    pub fn commands(&self) -> Vec<String> {
        self.received.lock().unwrap().iter().map(|line| line.split(' ').next().unwrap().to_owned()).collect()
    }

    pub fn lines(&self) -> Vec<String> {
        self.received.lock().unwrap().clone()
    }
}

#[derive(Clone)]
struct Session {
    rules: Arc<Rules>,
    received: Arc<Mutex<Vec<String>>>,
    files: Arc<Mutex<HashMap<String, Vec<u8>>>>,
}

/// `None` when the control connection is closed.
type SessionResult = Option<()>;

impl Session {
    async fn serve(self, stream: TcpStream) -> SessionResult {
        let local = stream.local_addr().ok()?.ip();
        let mut tls = false;
        let mut control: Box<dyn Io> = Box::new(stream);
        if self.rules.implicit {
            control = Box::new(protect(self.rules.tls.as_ref()?, control).await?);
            tls = true;
        }
        self.send_reply(&mut control, "greeting", "220 test server\r\n").await?;
        let mut listener = None;
        loop {
            let line = read_line(&mut control).await?;
            self.received.lock().unwrap().push(line.clone());
            let (command, name) = line.split_once(' ').unwrap_or((&line, ""));
            match command {
                "AUTH" => {
                    self.send_reply(&mut control, "AUTH", "234 go on\r\n").await?;
                    control = Box::new(protect(self.rules.tls.as_ref()?, control).await?);
                    tls = true;
                }
                "EPSV" | "PASV" => listener = self.listen(&mut control, command, local).await?,
                "LIST" | "RETR" | "STOR" => {
                    let command = if command == "LIST" {
                        "LIST"
                    } else if command == "RETR" {
                        "RETR"
                    } else {
                        "STOR"
                    };
                    self.send_reply(&mut control, command, "150 here it comes\r\n").await?;
                    let refused = self
                        .rules
                        .steps
                        .get(command)
                        .is_some_and(|act| matches!(act, Act::Send(text) if !text.starts_with(b"1")));
                    let Some(listener) = listener.take().filter(|_| !refused) else { continue };
                    self.transfer(listener, command, name, tls).await?;
                    let (step, reply) = match command {
                        "LIST" => ("LIST done", "226 listed\r\n"),
                        "RETR" => ("RETR done", "226 sent\r\n"),
                        _ => ("STOR done", "226 stored\r\n"),
                    };
                    self.send_reply(&mut control, step, reply).await?;
                }
                _ => self.simple(&mut control, command, name).await?,
            }
        }
    }

    async fn simple(&self, control: &mut Box<dyn Io>, command: &str, name: &str) -> SessionResult {
        let (step, reply) = match command {
            "USER" => ("USER", "331 password\r\n"),
            "PASS" => ("PASS", "230 welcome\r\n"),
            "PBSZ" => ("PBSZ", "200 PBSZ=0\r\n"),
            "PROT" => ("PROT", "200 private\r\n"),
            "TYPE" => ("TYPE", "200 binary\r\n"),
            "DELE" => ("DELE", "250 deleted\r\n"),
            "QUIT" => ("QUIT", "221 bye\r\n"),
            _ => ("unknown", "500 what?\r\n"),
        };
        if step == "DELE" && !self.rules.steps.contains_key("DELE") {
            self.files.lock().unwrap().remove(name);
        }
        self.send_reply(control, step, reply).await
    }

    async fn send_reply(&self, control: &mut Box<dyn Io>, step: &str, default_reply: &str) -> SessionResult {
        match self.rules.steps.get(step) {
            None => control.write_all(default_reply.as_bytes()).await.ok(),
            Some(act) => play(control, act).await,
        }
    }

    async fn listen(
        &self,
        control: &mut Box<dyn Io>,
        command: &str,
        local: IpAddr,
    ) -> Option<Option<TcpListener>> {
        let default_format: fn(SocketAddr) -> String = if command == "EPSV" { extended } else { passive };
        let format = match self.rules.steps.get(command) {
            None => default_format,
            Some(Act::Listen(format)) => *format,
            Some(act) => return play(control, act).await.map(|()| None),
        };
        let listener = TcpListener::bind((local, 0)).await.ok()?;
        let text = format(listener.local_addr().ok()?);
        control.write_all(text.as_bytes()).await.ok()?;
        Some(Some(listener))
    }

    async fn transfer(&self, listener: TcpListener, command: &str, name: &str, tls: bool) -> SessionResult {
        let mut data: Box<dyn Io> = Box::new(listener.accept().await.ok()?.0);
        if tls {
            if let Some(act) = self.rules.steps.get("data tls") {
                return play(&mut data, act).await.or(Some(()));
            }
            let config = self.rules.data_tls.as_ref().or(self.rules.tls.as_ref())?;
            let Some(protected) = protect(config, data).await else { return Some(()) };
            data = Box::new(protected);
        }
        let step = if command == "RETR" { "RETR data" } else { "data" };
        if let Some(act) = self.rules.steps.get(step).filter(|_| command != "STOR") {
            let _ = play(&mut data, act).await;
            let _ = data.shutdown().await;
            return Some(());
        }
        match command {
            "LIST" => data.write_all(b"total 2\r\n-rw a\r\n-rw b\r\n").await.ok()?,
            "RETR" => {
                let content = self.files.lock().unwrap().get(name).cloned().unwrap_or_default();
                data.write_all(&content).await.ok()?;
            }
            _ => {
                let mut content = Vec::new();
                match self.rules.steps.get("STOR data") {
                    Some(act) => play(&mut data, act).await.or(Some(()))?,
                    None => drop(data.read_to_end(&mut content).await),
                }
                self.files.lock().unwrap().insert(name.to_owned(), content);
            }
        }
        let _ = data.shutdown().await;
        Some(())
    }
}

async fn play(stream: &mut Box<dyn Io>, act: &Act) -> SessionResult {
    match act {
        Act::Send(bytes) => stream.write_all(bytes).await.ok(),
        Act::SendAfter(delay, bytes) => {
            tokio::time::sleep(*delay).await;
            stream.write_all(bytes).await.ok()
        }
        Act::SendAndClose(bytes) => {
            let _ = stream.write_all(bytes).await;
            let _ = stream.flush().await;
            let _ = stream.shutdown().await;
            // Read what the client sent meanwhile, so that this is a close and not a reset.
            let _ = tokio::time::timeout(Duration::from_secs(1), stream.read_to_end(&mut Vec::new())).await;
            None
        }
        Act::Listen(_) | Act::Close => None,
        Act::Endless(bytes) => {
            let many = bytes.repeat(1 + 4096 / bytes.len());
            while stream.write_all(&many).await.is_ok() {}
            None
        }
        Act::Stall => {
            std::future::pending::<()>().await;
            None
        }
    }
}

async fn protect<S: Io>(config: &Arc<ServerConfig>, stream: S) -> Option<tokio_rustls::server::TlsStream<S>> {
    TlsAcceptor::from(Arc::clone(config)).accept(stream).await.ok()
}

async fn read_line(stream: &mut Box<dyn Io>) -> Option<String> {
    let mut line = Vec::new();
    loop {
        let byte = stream.read_u8().await.ok()?;
        if byte == b'\n' {
            return Some(String::from_utf8_lossy(&line).trim_end().to_owned());
        }
        line.push(byte);
    }
}

pub fn extended(at: SocketAddr) -> String {
    format!("229 Extended Passive Mode (|||{}|)\r\n", at.port())
}

pub fn passive(at: SocketAddr) -> String {
    let numbers = at.ip().to_string().replace('.', ",");
    format!("227 Passive Mode ({numbers},{},{})\r\n", at.port() >> 8, at.port() & 255)
}
