//! A session after its setup: login, list, files, QUIT. suppaftp runs each of these steps.

use std::net::SocketAddr;
use std::time::Duration;

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
use crate::domain::{Failure, FailureKind, Fault, Phase};
use crate::net::{Deadline, Net};
use crate::protocol::line_session::LineSession;
use crate::syntax::MASK;

/// Longest list that is read, in bytes; its entries are only counted.
const MAX_LIST_BYTES: u64 = 8 * 1024 * 1024;
/// Opening the port of EPSV gets the remaining time divided by this, since PASV may follow.
const EPSV_TIME_DIVISOR: u32 = 3;
/// Longest time for opening the port of EPSV.
const MAX_EPSV_CONNECT_TIME: Duration = Duration::from_secs(10);

/// The login.
#[derive(Clone, Copy)]
pub struct FtpCredentials<'a> {
    /// User name; `anonymous` is one.
    pub user: &'a str,
    /// Its password.
    pub password: &'a str,
}

/// The purpose of a data connection.
#[derive(Clone, Copy)]
enum DataTransfer<'a> {
    List,
    Store(&'a str),
    Retrieve(&'a str),
}

/// A session with a server.
pub struct FtpClient<'a> {
    suppaftp_client: ImplAsyncFtpStream<FtpStream>,
    driver: FtpDriver<'a>,
    passive_mode: Mode,
    /// Number of entries of the list, as far as it was read.
    pub entry_count: Option<u64>,
    /// Whether the server started to receive a file.
    pub was_upload_accepted: bool,
    /// A remark that PASV was used since the port of EPSV could not be reached.
    pub pasv_fallback_note: Option<String>,
}

impl<'a> FtpClient<'a> {
    /// Takes over `session` after its opening; with TLS, sets the protection of data connections.
    pub async fn from_session(
        net: &'a Net,
        deadline: Deadline,
        session: &mut LineSession<'_>,
        recorder: SessionRecorder,
    ) -> Result<Self, Failure> {
        let no_connection =
            || Failure::new(Phase::Connect, FailureKind::Internal, "the session has no connection");
        let peer_address = session.connect_trace.peer_address.ok_or_else(no_connection)?;
        let (stream, read_ahead) = session.take_stream().ok_or_else(no_connection)?;
        let tls = session.tls_client();
        let control = FtpStream::from_control_connection(stream, read_ahead, recorder.clone());
        let (sender, data_requests) = mpsc::unbounded_channel();
        let mut ftp_driver = FtpDriver {
            net,
            deadline,
            data_connect_deadline: None,
            recorder,
            data_requests,
            control_peer: peer_address,
            tls_client: tls,
            data_address: None,
            tls_resumed: None,
        };
        // The host name is only passed on to `SuppaftpConnector`, which ignores it.
        let ftp = ftp_driver.drive(client_builder::build_client(control, "", sender)).await?;
        Ok(Self {
            suppaftp_client: ftp,
            driver: ftp_driver,
            passive_mode: Mode::ExtendedPassive,
            entry_count: None,
            was_upload_accepted: false,
            pasv_fallback_note: None,
        })
    }

    /// Sets the deadline of all further commands.
    pub fn set_deadline(&mut self, deadline: Deadline) {
        self.driver.deadline = deadline;
    }

    /// Sends USER, and PASS if the server asks for it. suppaftp logs commands, so it gets a mask instead of the
    /// password; the recorder replaces it.
    pub async fn login(&mut self, credentials: FtpCredentials<'_>) -> Result<(), Failure> {
        self.driver.drive(self.suppaftp_client.login(credentials.user, MASK)).await
    }

    /// Sends LIST for the folder of the login. A 450 reply means that it is empty (RFC 959 5.4).
    pub async fn list(&mut self) -> Result<(), Failure> {
        let mut entry_counter = ListEntryCounter::default();
        let transfer_result = self.begin_data_transfer(DataTransfer::List).await;
        if transfer_result.is_err() && self.last_reply_was("LIST", 450) {
            self.entry_count = Some(0);
            return Ok(());
        }
        let mut data = transfer_result?;
        let (mut chunk, mut bytes) = (vec![0; 16 * 1024], 0);
        let read_result = loop {
            match self.read_data(&mut data, &mut chunk).await {
                Ok(0) => break Ok(()),
                Ok(count) => {
                    entry_counter.push(&chunk[..count]);
                    bytes += count as u64;
                }
                Err(failure) => break Err(failure),
            }
            if bytes > MAX_LIST_BYTES {
                self.entry_count = Some(entry_counter.count());
                let detail = format!("its list has more than {MAX_LIST_BYTES} bytes");
                return Err(Failure::new(Phase::List, FailureKind::ResponseTooLarge, detail));
            }
        };
        self.entry_count = Some(entry_counter.count());
        self.finish_data_transfer(data, read_result).await
    }

    /// Sends STOR of `content` as `name`, in binary mode.
    pub async fn upload(&mut self, name: &str, content: &[u8]) -> Result<(), Failure> {
        self.driver.drive(self.suppaftp_client.transfer_type(FileType::Binary)).await?;
        let mut data = self.begin_data_transfer(DataTransfer::Store(name)).await?;
        self.was_upload_accepted = true;
        let write_result = self.driver.run_within_deadline(data.write_all(content)).await;
        self.finish_data_transfer(data, write_result).await
    }

    /// Sends RETR of `name`, and reads at most one byte more than `expected_len`: a longer file differs anyway.
    pub async fn download(&mut self, name: &str, expected_len: usize) -> Result<Vec<u8>, Failure> {
        let mut data = self.begin_data_transfer(DataTransfer::Retrieve(name)).await?;
        let (mut content, mut chunk) = (Vec::new(), vec![0; 4096]);
        let read_result = loop {
            match self.read_data(&mut data, &mut chunk).await {
                Ok(0) => break Ok(()),
                Ok(count) => content.extend(&chunk[..count]),
                Err(failure) => break Err(failure),
            }
            if content.len() > expected_len {
                content.truncate(expected_len + 1);
                return Ok(content);
            }
        };
        self.finish_data_transfer(data, read_result).await.map(|()| content)
    }

    /// Sends DELE of `name`.
    pub async fn delete(&mut self, name: &str) -> Result<(), Failure> {
        self.driver.drive(self.suppaftp_client.rm(name)).await
    }

    /// Sends QUIT.
    pub async fn quit(&mut self) -> Result<(), Failure> {
        self.driver.drive(self.suppaftp_client.quit()).await
    }

    /// Returns `EPSV` or `PASV`, if it opened a data connection.
    #[must_use]
    pub fn passive_command(&self) -> Option<&'static str> {
        let command = if matches!(self.passive_mode, Mode::Passive) { "PASV" } else { "EPSV" };
        self.driver.data_address.map(|_| command)
    }

    /// Returns the peer of the last data connection.
    #[must_use]
    pub fn data_address(&self) -> Option<SocketAddr> {
        self.driver.data_address
    }

    /// Whether every data connection resumed the TLS session of the control connection; `None` without TLS.
    #[must_use]
    pub fn tls_resumed(&self) -> Option<bool> {
        self.driver.tls_resumed
    }

    /// Opens a data connection by EPSV, or over IPv4 by PASV once the server refused EPSV or its port could not be
    /// reached: firewalls often know PASV alone, and let in what that names.
    async fn begin_data_transfer(
        &mut self,
        transfer: DataTransfer<'_>,
    ) -> Result<TransferStream<FtpStream>, Failure> {
        let can_fall_back =
            matches!(self.passive_mode, Mode::ExtendedPassive) && self.driver.control_peer.is_ipv4();
        self.driver.data_connect_deadline = can_fall_back.then(|| {
            let share = self.driver.deadline.remaining() / EPSV_TIME_DIVISOR;
            Deadline::within(share.min(MAX_EPSV_CONNECT_TIME))
        });
        let result =
            self.driver.drive(begin_transfer_in_current_mode(&mut self.suppaftp_client, transfer)).await;
        self.driver.data_connect_deadline = None;
        let Err(failure) = result else { return result };
        if !can_fall_back || self.driver.recorder.last_command() != "EPSV" {
            return Err(failure);
        }
        let Some(reply) = self.driver.recorder.last_reply() else { return Err(failure) };
        // 421 ends the session.
        let was_refused = (300..600).contains(&reply.code) && reply.code != 421;
        let is_unreachable =
            reply.code == 229 && failure.fault != Fault::Vigie && is_connect_failure(failure.kind);
        if !was_refused && !is_unreachable {
            return Err(failure);
        }
        self.passive_mode = Mode::Passive;
        self.suppaftp_client.set_mode(Mode::Passive);
        let fallback_result =
            self.driver.drive(begin_transfer_in_current_mode(&mut self.suppaftp_client, transfer)).await;
        if was_refused {
            return fallback_result;
        }
        match fallback_result {
            Ok(data) => {
                self.pasv_fallback_note = Some(format!(
                    "PASV was used, since the port of EPSV cannot be reached: {}",
                    failure.detail
                ));
                Ok(data)
            }
            // Without PASV, the port of EPSV is what has to be opened.
            Err(pasv_failure) if pasv_failure.kind == FailureKind::UnexpectedReply => Err(failure),
            Err(pasv_failure) => {
                let detail = format!("{}; before, by EPSV, {}", pasv_failure.detail, failure.detail);
                Err(Failure { detail, ..pasv_failure })
            }
        }
    }

    /// Reads from `data`. A missing TLS shutdown counts as an end: the reply tells whether everything was sent.
    async fn read_data(
        &self,
        data: &mut TransferStream<FtpStream>,
        chunk: &mut [u8],
    ) -> Result<usize, Failure> {
        let read = async {
            match data.read(chunk).await {
                Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(0),
                other => other,
            }
        };
        self.driver.run_within_deadline(read).await
    }

    /// Closes `data` and reads the reply to the transfer. If the connection broke, that reply often has the reason, and
    /// then replaces `transfer_result`.
    async fn finish_data_transfer(
        &mut self,
        data: TransferStream<FtpStream>,
        transfer_result: Result<(), Failure>,
    ) -> Result<(), Failure> {
        if let Err(failure) = &transfer_result
            && failure.kind == FailureKind::TimedOut
        {
            return transfer_result;
        }
        let reply_result = self.driver.drive(data.finish()).await;
        match (transfer_result, reply_result) {
            (Ok(()), reply_result) => reply_result,
            (Err(_), Err(reply_failure)) if reply_failure.kind == FailureKind::UnexpectedReply => {
                Err(reply_failure)
            }
            (earlier, _) => earlier,
        }
    }

    fn last_reply_was(&self, command: &str, code: u16) -> bool {
        let reply = self.driver.recorder.last_reply();
        self.driver.recorder.last_command() == command && reply.is_some_and(|reply| reply.code == code)
    }
}

/// Whether `kind` says that a port cannot be reached.
fn is_connect_failure(kind: FailureKind) -> bool {
    use FailureKind::{ConnectRefused, ConnectReset, TimedOut, Unreachable};
    matches!(kind, ConnectRefused | ConnectReset | TimedOut | Unreachable)
}

/// Opens a data connection by the current passive mode, and sends the command of `transfer`.
async fn begin_transfer_in_current_mode(
    ftp: &mut ImplAsyncFtpStream<FtpStream>,
    transfer: DataTransfer<'_>,
) -> FtpResult<TransferStream<FtpStream>> {
    match transfer {
        DataTransfer::List => {
            let expected = &[Status::AboutToSend, Status::AlreadyOpen];
            ftp.custom_data_command("LIST", expected).await.map(|(_, data)| data)
        }
        DataTransfer::Store(name) => ftp.put_with_stream(name).await,
        DataTransfer::Retrieve(name) => ftp.retr_as_stream(name).await,
    }
}
