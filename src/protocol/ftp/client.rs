//! A session after its opening: login, list, files, farewell. Each step is one of suppaftp's.

use std::net::SocketAddr;

use suppaftp::tokio::{ImplAsyncFtpStream, TransferStream};
use suppaftp::types::FileType;
use suppaftp::{FtpResult, Mode, Status};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::mpsc;

use super::client_builder;
use super::driver::FtpDriver;
use super::list::ListEntryCounter;
use super::recorder::SessionRecorder;
use super::stream::FtpStream;
use crate::domain::{Failure, FailureKind, Phase};
use crate::net::{Deadline, Net};
use crate::protocol::line_session::LineSession;
use crate::syntax::MASK;

/// Bytes of a list that are read at most; only its entries are counted, none is kept.
const MAX_LIST_BYTES: u64 = 8 * 1024 * 1024;

/// Who logs in.
#[derive(Clone, Copy)]
pub struct FtpCredentials<'a> {
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
pub struct FtpClient<'a> {
    ftp: ImplAsyncFtpStream<FtpStream>,
    driver: FtpDriver<'a>,
    mode: Mode,
    /// Entries of the list, as far as it was read.
    pub entry_count: Option<u64>,
    /// Whether the server began to take a file.
    pub upload_started: bool,
}

impl<'a> FtpClient<'a> {
    /// Takes `session` over, whose opening is done; with TLS this sets the protection of data connections.
    pub async fn from_session(
        net: &'a Net,
        deadline: Deadline,
        session: &mut LineSession<'_>,
        watch: SessionRecorder,
    ) -> Result<Self, Failure> {
        let lost = || Failure::new(Phase::Connect, FailureKind::Internal, "the session has no connection");
        let host = session.trace.address.ok_or_else(lost)?;
        let (stream, ahead) = session.take_stream().ok_or_else(lost)?;
        let tls = session.tls_session();
        let control = FtpStream::control(stream, ahead, watch.clone());
        let (sender, data_requests) = mpsc::unbounded_channel();
        let mut ftp_driver = FtpDriver {
            net,
            deadline,
            recorder: watch,
            requests: data_requests,
            host,
            tls,
            data_address: None,
            tls_resumed: None,
        };
        let ftp = ftp_driver.drive(client_builder::build_client(control, "", sender)).await?;
        Ok(Self {
            ftp,
            driver: ftp_driver,
            mode: Mode::ExtendedPassive,
            entry_count: None,
            upload_started: false,
        })
    }

    /// From now on everything has to be over at `deadline`.
    pub fn set_deadline(&mut self, deadline: Deadline) {
        self.driver.deadline = deadline;
    }

    /// USER, and PASS where the server asks for it. suppaftp logs what it says, so it is given a mask for a
    /// password; the wire says the real one.
    pub async fn login(&mut self, login: FtpCredentials<'_>) -> Result<(), Failure> {
        self.driver.drive(self.ftp.login(login.user, MASK)).await
    }

    /// LIST of the folder that the login led to. A 450 means that nothing is there (RFC 959 5.4).
    pub async fn list(&mut self) -> Result<(), Failure> {
        let mut entries = ListEntryCounter::default();
        let opened = self.open_data(Transfer::List).await;
        if opened.is_err() && self.was_answered_with("LIST", 450) {
            self.entry_count = Some(0);
            return Ok(());
        }
        let mut data = opened?;
        let (mut part, mut bytes) = (vec![0; 16 * 1024], 0);
        let read = loop {
            match self.read(&mut data, &mut part).await {
                Ok(0) => break Ok(()),
                Ok(count) => {
                    entries.push(&part[..count]);
                    bytes += count as u64;
                }
                Err(failure) => break Err(failure),
            }
            if bytes > MAX_LIST_BYTES {
                self.entry_count = Some(entries.count());
                let detail = format!("its list has more than {MAX_LIST_BYTES} bytes");
                return Err(Failure::new(Phase::List, FailureKind::ResponseTooLarge, detail));
            }
        };
        self.entry_count = Some(entries.count());
        self.finish(data, read).await
    }

    /// STOR of `content` as `name`, byte for byte.
    pub async fn upload(&mut self, name: &str, content: &[u8]) -> Result<(), Failure> {
        self.driver.drive(self.ftp.transfer_type(FileType::Binary)).await?;
        let mut data = self.open_data(Transfer::Store(name)).await?;
        self.upload_started = true;
        let written = self.driver.enforce(data.write_all(content)).await;
        self.finish(data, written).await
    }

    /// RETR of `name`, at most one byte more than `wanted`: what is longer is another file anyway.
    pub async fn download(&mut self, name: &str, wanted: usize) -> Result<Vec<u8>, Failure> {
        let mut data = self.open_data(Transfer::Retrieve(name)).await?;
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
        self.driver.drive(self.ftp.rm(name)).await
    }

    /// QUIT.
    pub async fn quit(&mut self) -> Result<(), Failure> {
        self.driver.drive(self.ftp.quit()).await
    }

    /// `EPSV` or `PASV`, when a data connection was opened by it.
    #[must_use]
    pub fn passive_command(&self) -> Option<&'static str> {
        let word = if matches!(self.mode, Mode::Passive) { "PASV" } else { "EPSV" };
        self.driver.data_address.map(|_| word)
    }

    /// Peer of the last data connection.
    #[must_use]
    pub fn data_address(&self) -> Option<SocketAddr> {
        self.driver.data_address
    }

    /// Whether every data connection took up the TLS session of the control connection; `None` without TLS.
    #[must_use]
    pub fn tls_resumed(&self) -> Option<bool> {
        self.driver.tls_resumed
    }

    /// A data connection by EPSV; by PASV once the server has refused EPSV, over IPv4.
    async fn open_data(&mut self, transfer: Transfer<'_>) -> Result<TransferStream<FtpStream>, Failure> {
        let opened = self.driver.drive(begin_transfer(&mut self.ftp, transfer)).await;
        // 421 ends the session.
        let refused = |code| (400..600).contains(&code) && code != 421;
        let refused = self.driver.recorder.last_reply().is_some_and(|reply| refused(reply.code));
        let falls_back =
            refused && self.driver.recorder.last_command() == "EPSV" && self.driver.host.is_ipv4();
        if opened.is_ok() || !falls_back {
            return opened;
        }
        self.mode = Mode::Passive;
        self.ftp.set_mode(Mode::Passive);
        self.driver.drive(begin_transfer(&mut self.ftp, transfer)).await
    }

    /// Reads from `data`. Servers that close without a farewell of TLS have closed: whether all came is told
    /// by the reply.
    async fn read(&self, data: &mut TransferStream<FtpStream>, part: &mut [u8]) -> Result<usize, Failure> {
        let read = async {
            match data.read(part).await {
                Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(0),
                other => other,
            }
        };
        self.driver.enforce(read).await
    }

    /// Closes `data` and hears the reply to the transfer. When the connection broke, the reply often says
    /// why, and then goes before `so_far`.
    async fn finish(
        &mut self,
        data: TransferStream<FtpStream>,
        so_far: Result<(), Failure>,
    ) -> Result<(), Failure> {
        if let Err(failure) = &so_far
            && failure.kind == FailureKind::TimedOut
        {
            return so_far;
        }
        let finished = self.driver.drive(data.finish()).await;
        match (so_far, finished) {
            (Ok(()), finished) => finished,
            (Err(_), Err(said)) if said.kind == FailureKind::DialogueUnexpected => Err(said),
            (broken, _) => broken,
        }
    }

    fn was_answered_with(&self, command: &str, code: u16) -> bool {
        let reply = self.driver.recorder.last_reply();
        self.driver.recorder.last_command() == command && reply.is_some_and(|reply| reply.code == code)
    }
}

async fn begin_transfer(
    ftp: &mut ImplAsyncFtpStream<FtpStream>,
    transfer: Transfer<'_>,
) -> FtpResult<TransferStream<FtpStream>> {
    match transfer {
        Transfer::List => {
            let begun = &[Status::AboutToSend, Status::AlreadyOpen];
            ftp.custom_data_command("LIST", begun).await.map(|(_, data)| data)
        }
        Transfer::Store(name) => ftp.put_with_stream(name).await,
        Transfer::Retrieve(name) => ftp.retr_as_stream(name).await,
    }
}
