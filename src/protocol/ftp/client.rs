//! A session after its opening: login, list, files, farewell. Each step is one of suppaftp's.

use std::net::SocketAddr;

use suppaftp::tokio::{ImplAsyncFtpStream, TransferStream};
use suppaftp::types::FileType;
use suppaftp::{FtpResult, Mode, Status};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::mpsc;

use super::desk::Desk;
use super::handover;
use super::list::Entries;
use super::watch::Watch;
use super::wire::Wire;
use crate::domain::{Failure, FailureKind, Phase};
use crate::net::{Deadline, Net};
use crate::protocol::session::Session;
use crate::syntax::MASK;

/// Bytes of a list that are read at most; only its entries are counted, none is kept.
const LIST: u64 = 8 * 1024 * 1024;

/// Who logs in.
#[derive(Clone, Copy)]
pub struct Login<'a> {
    /// User name; `anonymous` is one.
    pub user: &'a str,
    /// Its password.
    pub password: &'a str,
}

/// What a data connection is wanted for.
#[derive(Clone, Copy)]
enum Transfer<'a> {
    List,
    Store(&'a str),
    Retrieve(&'a str),
}

/// A session with a server.
pub struct Client<'a> {
    ftp: ImplAsyncFtpStream<Wire>,
    desk: Desk<'a>,
    mode: Mode,
    /// Entries of the list, as far as it was read.
    pub listed: Option<u64>,
    /// Whether the server began to take a file.
    pub stored: bool,
}

impl<'a> Client<'a> {
    /// Takes `session` over, whose opening is done; with TLS this sets the protection of data connections.
    pub async fn over(
        net: &'a Net,
        deadline: Deadline,
        session: &mut Session<'_>,
        watch: Watch,
    ) -> Result<Self, Failure> {
        let lost = || Failure::new(Phase::Connect, FailureKind::Internal, "the session has no connection");
        let host = session.trace.address.ok_or_else(lost)?;
        let (stream, ahead) = session.take_stream().ok_or_else(lost)?;
        let tls = session.tls();
        let control = Wire::control(stream, ahead, watch.clone());
        let (sender, errands) = mpsc::unbounded_channel();
        let mut desk = Desk { net, deadline, watch, errands, host, tls, data_address: None, reused: None };
        let ftp = desk.drive(handover::client(control, "", sender)).await?;
        Ok(Self { ftp, desk, mode: Mode::ExtendedPassive, listed: None, stored: false })
    }

    /// From now on everything has to be over at `deadline`.
    pub fn until(&mut self, deadline: Deadline) {
        self.desk.deadline = deadline;
    }

    /// USER, and PASS where the server asks for it. suppaftp logs what it says, so it is given a mask for a
    /// password; the wire says the real one.
    pub async fn login(&mut self, login: Login<'_>) -> Result<(), Failure> {
        self.desk.drive(self.ftp.login(login.user, MASK)).await
    }

    /// LIST of the folder that the login led to. A 450 means that nothing is there (RFC 959 5.4).
    pub async fn list(&mut self) -> Result<(), Failure> {
        let mut entries = Entries::default();
        let opened = self.open(Transfer::List).await;
        if opened.is_err() && self.answered("LIST", 450) {
            self.listed = Some(0);
            return Ok(());
        }
        let mut data = opened?;
        let (mut part, mut bytes) = (vec![0; 16 * 1024], 0);
        let read = loop {
            match self.read(&mut data, &mut part).await {
                Ok(0) => break Ok(()),
                Ok(count) => {
                    entries.feed(&part[..count]);
                    bytes += count as u64;
                }
                Err(failure) => break Err(failure),
            }
            if bytes > LIST {
                self.listed = Some(entries.count());
                let detail = format!("its list has more than {LIST} bytes");
                return Err(Failure::new(Phase::List, FailureKind::ResponseTooLarge, detail));
            }
        };
        self.listed = Some(entries.count());
        self.finish(data, read).await
    }

    /// STOR of `content` as `name`, byte for byte.
    pub async fn upload(&mut self, name: &str, content: &[u8]) -> Result<(), Failure> {
        self.desk.drive(self.ftp.transfer_type(FileType::Binary)).await?;
        let mut data = self.open(Transfer::Store(name)).await?;
        self.stored = true;
        let written = self.desk.hold(data.write_all(content)).await;
        self.finish(data, written).await
    }

    /// RETR of `name`, at most one byte more than `wanted`: what is longer is another file anyway.
    pub async fn download(&mut self, name: &str, wanted: usize) -> Result<Vec<u8>, Failure> {
        let mut data = self.open(Transfer::Retrieve(name)).await?;
        let (mut content, mut part) = (Vec::new(), vec![0; 4096]);
        let read = loop {
            match self.read(&mut data, &mut part).await {
                Ok(0) => break Ok(()),
                Ok(count) => content.extend(&part[..count]),
                Err(failure) => break Err(failure),
            }
            if content.len() > wanted {
                content.truncate(wanted + 1);
                return Ok(content);
            }
        };
        self.finish(data, read).await.map(|()| content)
    }

    /// DELE of `name`.
    pub async fn delete(&mut self, name: &str) -> Result<(), Failure> {
        self.desk.drive(self.ftp.rm(name)).await
    }

    /// QUIT.
    pub async fn quit(&mut self) -> Result<(), Failure> {
        self.desk.drive(self.ftp.quit()).await
    }

    /// `EPSV` or `PASV`, when a data connection was opened by it.
    #[must_use]
    pub fn passive(&self) -> Option<&'static str> {
        let word = if matches!(self.mode, Mode::Passive) { "PASV" } else { "EPSV" };
        self.desk.data_address.map(|_| word)
    }

    /// Peer of the last data connection.
    #[must_use]
    pub fn data_address(&self) -> Option<SocketAddr> {
        self.desk.data_address
    }

    /// Whether every data connection took up the TLS session of the control connection; `None` without TLS.
    #[must_use]
    pub fn reused(&self) -> Option<bool> {
        self.desk.reused
    }

    /// A data connection by EPSV; by PASV once the server has refused EPSV, over IPv4.
    async fn open(&mut self, transfer: Transfer<'_>) -> Result<TransferStream<Wire>, Failure> {
        let opened = self.desk.drive(begin(&mut self.ftp, transfer)).await;
        // 421 ends the session.
        let refused = |code| (400..600).contains(&code) && code != 421;
        let refused = self.desk.watch.reply().is_some_and(|reply| refused(reply.code));
        let falls_back = refused && self.desk.watch.asked() == "EPSV" && self.desk.host.is_ipv4();
        if opened.is_ok() || !falls_back {
            return opened;
        }
        self.mode = Mode::Passive;
        self.ftp.set_mode(Mode::Passive);
        self.desk.drive(begin(&mut self.ftp, transfer)).await
    }

    /// Reads from `data`. Servers that close without a farewell of TLS have closed: whether all came is told
    /// by the reply.
    async fn read(&self, data: &mut TransferStream<Wire>, part: &mut [u8]) -> Result<usize, Failure> {
        let read = async {
            match data.read(part).await {
                Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(0),
                other => other,
            }
        };
        self.desk.hold(read).await
    }

    /// Closes `data` and hears the reply to the transfer. When the connection broke, the reply often says
    /// why, and then goes before `so_far`.
    async fn finish(
        &mut self,
        data: TransferStream<Wire>,
        so_far: Result<(), Failure>,
    ) -> Result<(), Failure> {
        if let Err(failure) = &so_far
            && failure.kind == FailureKind::TimedOut
        {
            return so_far;
        }
        let finished = self.desk.drive(data.finish()).await;
        match (so_far, finished) {
            (Ok(()), finished) => finished,
            (Err(_), Err(said)) if said.kind == FailureKind::DialogueUnexpected => Err(said),
            (broken, _) => broken,
        }
    }

    fn answered(&self, command: &str, code: u16) -> bool {
        let reply = self.desk.watch.reply();
        self.desk.watch.asked() == command && reply.is_some_and(|reply| reply.code == code)
    }
}

async fn begin(
    ftp: &mut ImplAsyncFtpStream<Wire>,
    transfer: Transfer<'_>,
) -> FtpResult<TransferStream<Wire>> {
    match transfer {
        Transfer::List => {
            let begun = &[Status::AboutToSend, Status::AlreadyOpen];
            ftp.custom_data_command("LIST", begun).await.map(|(_, data)| data)
        }
        Transfer::Store(name) => ftp.put_with_stream(name).await,
        Transfer::Retrieve(name) => ftp.retr_as_stream(name).await,
    }
}
