//! A post office: SMTP takes messages, POP3 hands them out, and either may be odd at one command.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// What a server does instead of what it should.
#[derive(Clone, Copy, Debug)]
pub enum Odd {
    /// Says this.
    Say(&'static str),
    /// Closes the connection.
    Close,
    /// Says nothing more.
    Stall,
    /// Says this again and again.
    Flood(&'static str),
}

/// How the office differs from a good one.
#[derive(Clone, Debug, Default)]
pub struct Ways {
    /// SMTP commands that begin so; `CONNECT` is the greeting, `.` the end of a message.
    pub smtp: Option<(&'static str, Odd)>,
    /// POP3 commands that begin so; `CONNECT` is the greeting.
    pub pop: Option<(&'static str, Odd)>,
    /// Answer to CAPA beyond UIDL and TOP.
    pub capa: &'static str,
    /// What SMTP offers; a login with any password, when it begins with `AUTH`.
    pub offer: Option<&'static str>,
    /// Whether SMTP takes nothing without a login.
    pub demands_login: bool,
    /// How many logins find the mailbox locked.
    pub locked: usize,
    /// After this a message is in the mailbox.
    pub late: Duration,
    /// Whether messages never get there.
    pub lost: bool,
    /// Whether the headers that make a message one's own are imitated as each one comes.
    pub imitated: bool,
}

pub struct Mail {
    uid: String,
    since: Instant,
    pub text: String,
}

#[derive(Default)]
pub struct State {
    pub mails: Mutex<Vec<Arc<Mail>>>,
    pub deleted: Mutex<Vec<String>>,
    pub heard: Mutex<Vec<String>>,
    locked: Mutex<usize>,
    ways: Ways,
}

pub struct Office {
    pub smtp: SocketAddr,
    pub pop: SocketAddr,
    pub state: Arc<State>,
}

impl Office {
    pub async fn open(ways: Ways) -> Self {
        let state = Arc::new(State { locked: Mutex::new(ways.locked), ways, ..State::default() });
        let smtp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let pop = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = (smtp.local_addr().unwrap(), pop.local_addr().unwrap());
        let (one, two) = (Arc::clone(&state), Arc::clone(&state));
        tokio::spawn(async move {
            while let Ok((stream, _)) = smtp.accept().await {
                tokio::spawn(take(stream, Arc::clone(&one)));
            }
        });
        tokio::spawn(async move {
            while let Ok((stream, _)) = pop.accept().await {
                tokio::spawn(hand_out(stream, Arc::clone(&two)));
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

    /// How often a command that begins with `start` was heard.
    pub fn heard(&self, start: &str) -> usize {
        self.state.heard.lock().unwrap().iter().filter(|line| line.starts_with(start)).count()
    }
}

impl State {
    fn put(&self, text: &str, late: Duration) {
        let mut mails = self.mails.lock().unwrap();
        let uid = format!("uid-{}-{}", mails.len(), self.deleted.lock().unwrap().len());
        mails.push(Arc::new(Mail { uid, since: Instant::now() + late, text: text.to_owned() }));
    }

    fn deliver(&self, text: &str) {
        if self.ways.imitated {
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
        if !self.ways.lost {
            self.put(text, self.ways.late);
        }
    }
}

type Lines = tokio::io::Lines<BufReader<tokio::net::tcp::OwnedReadHalf>>;

/// The next command, or what is odd about it; `None` when the session is over.
async fn next(
    lines: &mut Lines,
    writer: &mut tokio::net::tcp::OwnedWriteHalf,
    state: &State,
    odd: Option<(&'static str, Odd)>,
    greeting: bool,
) -> Option<String> {
    let mut first = greeting;
    loop {
        let line = if first { "CONNECT".to_owned() } else { lines.next_line().await.ok()?? };
        first = false;
        state.heard.lock().unwrap().push(line.clone());
        match odd.filter(|(start, _)| line.starts_with(start)).map(|(_, odd)| odd) {
            None => return Some(line),
            Some(Odd::Say(text)) => writer.write_all(format!("{text}\r\n").as_bytes()).await.ok()?,
            Some(Odd::Close) => return None,
            Some(Odd::Stall) => std::future::pending().await,
            Some(Odd::Flood(text)) => loop {
                writer.write_all(text.repeat(1000).as_bytes()).await.ok()?;
            },
        }
    }
}

async fn take(stream: TcpStream, state: Arc<State>) -> Option<()> {
    let (reader, mut writer) = stream.into_split();
    let mut lines = BufReader::new(reader).lines();
    let odd = state.ways.smtp;
    let mut logged_in = false;
    let mut greeting = true;
    loop {
        let line = next(&mut lines, &mut writer, &state, odd, greeting).await?;
        greeting = false;
        let reply = match line.split([' ', ':']).next().unwrap() {
            "CONNECT" => "220 office.test".to_owned(),
            "EHLO" => format!("250-office.test\r\n250 {}", state.ways.offer.unwrap_or("HELP")),
            "AUTH" => {
                logged_in = true;
                "235 welcome".to_owned()
            }
            "MAIL" if state.ways.demands_login && !logged_in => "530 5.7.0 log in first".to_owned(),
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
                match odd {
                    Some((".", Odd::Say(reply))) => reply.to_owned(),
                    Some((".", Odd::Close)) => return None,
                    Some((".", Odd::Stall)) => std::future::pending().await,
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

async fn hand_out(stream: TcpStream, state: Arc<State>) -> Option<()> {
    let (reader, mut writer) = stream.into_split();
    let mut lines = BufReader::new(reader).lines();
    let odd = state.ways.pop;
    let mut mails: Vec<Arc<Mail>> = Vec::new();
    let mut marked: Vec<usize> = Vec::new();
    let mut greeting = true;
    loop {
        let line = next(&mut lines, &mut writer, &state, odd, greeting).await?;
        greeting = false;
        let mut words = line.split(' ');
        let command = words.next().unwrap();
        let number = words.next().and_then(|word| word.parse::<usize>().ok()).unwrap_or_default();
        let mail = number.checked_sub(1).and_then(|at| mails.get(at)).cloned();
        let reply = match (command, &mail) {
            ("CONNECT", _) => "+OK office".to_owned(),
            ("CAPA", _) => format!("+OK\r\nUIDL\r\nTOP\r\n{}.", state.ways.capa),
            ("PASS", _) => {
                let mut locked = state.locked.lock().unwrap();
                if *locked > 0 {
                    *locked -= 1;
                    "-ERR [IN-USE] somebody else reads it".to_owned()
                } else {
                    let now = Instant::now();
                    let all = state.mails.lock().unwrap();
                    mails = all.iter().filter(|mail| mail.since <= now).cloned().collect();
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
                format!("+OK\r\n{}\r\n\r\n.", stuffed(head))
            }
            ("RETR", Some(mail)) => format!("+OK\r\n{}.", stuffed(&mail.text)),
            ("DELE", Some(_)) => {
                marked.push(number - 1);
                "+OK".to_owned()
            }
            ("RSET", _) => {
                marked.clear();
                "+OK".to_owned()
            }
            ("QUIT", _) => {
                let gone: Vec<&str> = marked.iter().map(|at| mails[*at].uid.as_str()).collect();
                state.mails.lock().unwrap().retain(|mail| !gone.contains(&mail.uid.as_str()));
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

fn stuffed(text: &str) -> String {
    let text = if text.starts_with('.') { format!(".{text}") } else { text.to_owned() };
    text.replace("\r\n.", "\r\n..")
}
