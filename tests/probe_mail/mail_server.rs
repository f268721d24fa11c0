//! A mail server: SMTP accepts messages, POP3 returns them, and either can deviate at one command.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// What the server does instead of the correct reply.
#[derive(Clone, Copy, Debug)]
pub enum Deviation {
    /// Sends this line.
    Reply(&'static str),
    /// Closes the connection.
    Close,
    /// Sends nothing more.
    Stall,
    /// Sends this text repeatedly.
    Flood(&'static str),
}

/// How the server differs from a correct one.
#[derive(Clone, Debug, Default)]
pub struct Behaviour {
    /// Deviation at SMTP commands with this prefix; `CONNECT` is the greeting, `.` the end of a message.
    pub smtp: Option<(&'static str, Deviation)>,
    /// Deviation at POP3 commands with this prefix; `CONNECT` is the greeting.
    pub pop: Option<(&'static str, Deviation)>,
    /// Further lines of the reply to CAPA, beyond UIDL and TOP.
    pub capa: &'static str,
    /// SMTP extension; when it starts with `AUTH`, any password is accepted.
    pub offer: Option<&'static str>,
    /// Whether SMTP accepts messages only after a login.
    pub demands_login: bool,
    /// Number of logins that find the mailbox locked.
    pub locked: usize,
    /// Delay until a message is in the mailbox.
    pub delay: Duration,
    /// Whether messages are dropped.
    pub lost: bool,
    /// Whether each message arrives with imitations of the headers that mark an own message.
    pub imitated: bool,
}

pub struct Mail {
    uid: String,
    available_at: Instant,
    pub text: String,
}

#[derive(Default)]
pub struct State {
    pub mails: Mutex<Vec<Arc<Mail>>>,
    pub deleted: Mutex<Vec<String>>,
    pub commands: Mutex<Vec<String>>,
    locked: Mutex<usize>,
    behaviour: Behaviour,
}

pub struct MailServer {
    pub smtp: SocketAddr,
    pub pop: SocketAddr,
    pub state: Arc<State>,
}

impl MailServer {
    pub async fn start(behaviour: Behaviour) -> Self {
        let state = Arc::new(State { locked: Mutex::new(behaviour.locked), behaviour, ..State::default() });
        let smtp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let pop = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = (smtp.local_addr().unwrap(), pop.local_addr().unwrap());
        let (one, two) = (Arc::clone(&state), Arc::clone(&state));
        tokio::spawn(async move {
            while let Ok((stream, _)) = smtp.accept().await {
                tokio::spawn(serve_smtp(stream, Arc::clone(&one)));
            }
        });
        tokio::spawn(async move {
            while let Ok((stream, _)) = pop.accept().await {
                tokio::spawn(serve_pop3(stream, Arc::clone(&two)));
            }
        });
        Self { smtp: at.0, pop: at.1, state }
    }

    /// Puts `text` into the mailbox.
    pub fn put(&self, text: &str) {
        self.state.put(text, Duration::ZERO);
    }

    pub fn texts(&self) -> Vec<String> {
        self.state.mails.lock().unwrap().iter().map(|mail| mail.text.clone()).collect()
    }

    pub fn deleted(&self) -> Vec<String> {
        self.state.deleted.lock().unwrap().clone()
    }

    /// Returns the number of commands with this prefix.
    pub fn command_count(&self, start: &str) -> usize {
        self.state.commands.lock().unwrap().iter().filter(|line| line.starts_with(start)).count()
    }
}

impl State {
    fn put(&self, text: &str, delay: Duration) {
        let mut mails = self.mails.lock().unwrap();
        let uid = format!("uid-{}-{}", mails.len(), self.deleted.lock().unwrap().len());
        mails.push(Arc::new(Mail { uid, available_at: Instant::now() + delay, text: text.to_owned() }));
    }

    fn deliver(&self, text: &str) {
        if self.behaviour.imitated {
            let token = text.lines().find_map(|line| line.strip_prefix("X-Vigie-Trip: ")).unwrap();
            let flipped = if token.ends_with('0') { "1" } else { "0" };
            let forged = format!("{}{flipped}", &token[..token.len() - 1]);
            for imitation in [
                text.replace(token, &forged),
                text.replace(token, &token.to_uppercase()),
                text.replace("X-Vigie-Trip: ", "X-Vigie-Trip: x\r\nX-Vigie-Trip: "),
                text.replace("X-Vigie-Trip: ", "X-Vigie-Trips: "),
                format!("Subject: forwarded\r\n\r\n{text}"),
                text.replace(token, &token.replacen('1', "2", 1)),
            ] {
                assert_ne!(imitation, text);
                self.put(&imitation, Duration::ZERO);
            }
        }
        if !self.behaviour.lost {
            self.put(text, self.behaviour.delay);
        }
    }
}

type Lines = tokio::io::Lines<BufReader<tokio::net::tcp::OwnedReadHalf>>;

/// Returns the next command, after deviations; `None` when the session is over.
async fn next_command(
    lines: &mut Lines,
    writer: &mut tokio::net::tcp::OwnedWriteHalf,
    state: &State,
    deviation: Option<(&'static str, Deviation)>,
    greeting: bool,
) -> Option<String> {
    let mut first = greeting;
    loop {
        let line = if first { "CONNECT".to_owned() } else { lines.next_line().await.ok()?? };
        first = false;
        state.commands.lock().unwrap().push(line.clone());
        match deviation.filter(|(start, _)| line.starts_with(start)).map(|(_, deviation)| deviation) {
            None => return Some(line),
            Some(Deviation::Reply(text)) => writer.write_all(format!("{text}\r\n").as_bytes()).await.ok()?,
            Some(Deviation::Close) => return None,
            Some(Deviation::Stall) => std::future::pending().await,
            Some(Deviation::Flood(text)) => loop {
                writer.write_all(text.repeat(1000).as_bytes()).await.ok()?;
            },
        }
    }
}

async fn serve_smtp(stream: TcpStream, state: Arc<State>) -> Option<()> {
    let (reader, mut writer) = stream.into_split();
    let mut lines = BufReader::new(reader).lines();
    let deviation = state.behaviour.smtp;
    let mut logged_in = false;
    let mut greeting = true;
    loop {
        let line = next_command(&mut lines, &mut writer, &state, deviation, greeting).await?;
        greeting = false;
        let reply = match line.split([' ', ':']).next().unwrap() {
            "CONNECT" => "220 office.test".to_owned(),
            "EHLO" => format!("250-office.test\r\n250 {}", state.behaviour.offer.unwrap_or("HELP")),
            "AUTH" => {
                logged_in = true;
                "235 welcome".to_owned()
            }
            "MAIL" if state.behaviour.demands_login && !logged_in => "530 5.7.0 log in first".to_owned(),
            "DATA" => {
                writer.write_all(b"354 go on\r\n").await.ok()?;
                let mut text = String::new();
                loop {
                    let line = lines.next_line().await.ok()??;
                    if line == "." {
                        break;
                    }
                    text.push_str(line.strip_prefix('.').unwrap_or(&line));
                    text.push_str("\r\n");
                }
                match deviation {
                    Some((".", Deviation::Reply(reply))) => reply.to_owned(),
                    Some((".", Deviation::Close)) => return None,
                    Some((".", Deviation::Stall)) => std::future::pending().await,
                    _ => {
                        state.deliver(&text);
                        "250 2.0.0 Ok: queued as 4711".to_owned()
                    }
                }
            }
            "QUIT" => "221 bye".to_owned(),
            _ => "250 fine".to_owned(),
        };
        writer.write_all(format!("{reply}\r\n").as_bytes()).await.ok()?;
    }
}

async fn serve_pop3(stream: TcpStream, state: Arc<State>) -> Option<()> {
    let (reader, mut writer) = stream.into_split();
    let mut lines = BufReader::new(reader).lines();
    let deviation = state.behaviour.pop;
    let mut mails: Vec<Arc<Mail>> = Vec::new();
    let mut marked: Vec<usize> = Vec::new();
    let mut greeting = true;
    loop {
        let line = next_command(&mut lines, &mut writer, &state, deviation, greeting).await?;
        greeting = false;
        let mut parts = line.split(' ');
        let command = parts.next().unwrap();
        let number = parts.next().and_then(|part| part.parse::<usize>().ok()).unwrap_or_default();
        let mail = number.checked_sub(1).and_then(|at| mails.get(at)).cloned();
        let reply = match (command, &mail) {
            ("CONNECT", _) => "+OK office".to_owned(),
            ("CAPA", _) => format!("+OK\r\nUIDL\r\nTOP\r\n{}.", state.behaviour.capa),
            ("PASS", _) => {
                let mut locked = state.locked.lock().unwrap();
                if *locked > 0 {
                    *locked -= 1;
                    "-ERR [IN-USE] somebody else reads it".to_owned()
                } else {
                    let now = Instant::now();
                    let all = state.mails.lock().unwrap();
                    mails = all.iter().filter(|mail| mail.available_at <= now).cloned().collect();
                    "+OK".to_owned()
                }
            }
            ("STAT", _) => {
                format!("+OK {} {}", mails.len(), mails.iter().map(|m| m.text.len()).sum::<usize>())
            }
            ("UIDL", _) => {
                let lines = mails.iter().enumerate().map(|(at, mail)| format!("{} {}\r\n", at + 1, mail.uid));
                format!("+OK\r\n{}.", lines.collect::<String>())
            }
            ("LIST", Some(mail)) => format!("+OK {number} {}", mail.text.len()),
            ("TOP", Some(mail)) => {
                let head = mail.text.split("\r\n\r\n").next().unwrap();
                format!("+OK\r\n{}\r\n\r\n.", dot_stuffed(head))
            }
            ("RETR", Some(mail)) => format!("+OK\r\n{}.", dot_stuffed(&mail.text)),
            ("DELE", Some(_)) => {
                marked.push(number - 1);
                "+OK".to_owned()
            }
            ("RSET", _) => {
                marked.clear();
                "+OK".to_owned()
            }
            ("QUIT", _) => {
                let deleted: Vec<&str> = marked.iter().map(|at| mails[*at].uid.as_str()).collect();
                state.mails.lock().unwrap().retain(|mail| !deleted.contains(&mail.uid.as_str()));
                state.deleted.lock().unwrap().extend(marked.iter().map(|at| mails[*at].text.clone()));
                marked.clear();
                "+OK bye".to_owned()
            }
            ("USER", _) => "+OK".to_owned(),
            _ => "-ERR what?".to_owned(),
        };
        writer.write_all(format!("{reply}\r\n").as_bytes()).await.ok()?;
    }
}

fn dot_stuffed(text: &str) -> String {
    let text = if text.starts_with('.') { format!(".{text}") } else { text.to_owned() };
    text.replace("\r\n.", "\r\n..")
}
