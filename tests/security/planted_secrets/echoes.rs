//! Servers on loopback that repeat what they are sent, as it is and decoded, and secrets that they know.

use std::io::{Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

pub trait Stream: Read + Write {}
impl<S: Read + Write> Stream for S {}

/// What a server repeats beside what it was sent.
#[derive(Clone, Default)]
pub struct Repeated(Arc<Mutex<Vec<String>>>);

impl Repeated {
    pub fn add(&self, secrets: Vec<String>) {
        self.0.lock().unwrap().extend(secrets);
    }

    /// Returns the secrets as they are, in a URL, in JSON, in HTML and in Base64, in one line.
    fn line(&self) -> String {
        let secrets = self.0.lock().unwrap();
        let forms = secrets.iter().flat_map(|secret| {
            [
                secret.clone(),
                secret.replace('/', "%2F"),
                secret.replace('/', "\\/"),
                secret.replace('/', "&#x2F;"),
                STANDARD.encode(secret),
                STANDARD.encode(format!("monitor:{secret}")),
            ]
        });
        forms.collect::<Vec<_>>().join(" ")
    }
}

/// What servers received that others may read: messages.
#[derive(Clone, Default)]
pub struct Received(Arc<Mutex<Vec<u8>>>);

impl Received {
    fn add(&self, text: &[u8]) {
        self.0.lock().unwrap().extend_from_slice(text);
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }
}

type Talk = fn(&mut dyn Stream, &Repeated, &Received) -> std::io::Result<()>;

/// Serves `talk`, over TLS with `tls`. Returns the port.
pub fn serve(talk: Talk, repeated: &Repeated, received: &Received, tls: Option<Arc<ServerConfig>>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (repeated, received) = (repeated.clone(), received.clone());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let (repeated, received, tls) = (repeated.clone(), received.clone(), tls.clone());
            std::thread::spawn(move || {
                let _ = stream.set_read_timeout(Some(std::time::Duration::from_secs(20)));
                let _ = match tls {
                    None => talk(&mut stream, &repeated, &received),
                    Some(config) => {
                        let mut tls = StreamOwned::new(ServerConnection::new(config).unwrap(), stream);
                        let end = talk(&mut tls, &repeated, &received);
                        tls.conn.send_close_notify();
                        let _ = tls.flush();
                        end
                    }
                };
            });
        }
    });
    port
}

/// Receives datagrams and says nothing. Returns the port.
pub fn sink() -> u16 {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = socket.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let mut datagram = vec![0; 65_536];
        while socket.recv(&mut datagram).is_ok() {}
    });
    port
}

/// Reads a line without its line break; empty at the end.
fn line(stream: &mut dyn Stream) -> String {
    let (mut line, mut byte) = (Vec::new(), [0]);
    while line.len() < 65_536 && stream.read(&mut byte).is_ok_and(|length| length == 1) && byte != *b"\n" {
        line.push(byte[0]);
    }
    String::from_utf8_lossy(&line).trim_end().to_owned()
}

/// Returns the words of `line`, decoded where they are Base64, in one line.
fn decoded(line: &str) -> String {
    let words = line.split(' ').filter_map(|word| STANDARD.decode(word).ok());
    words.map(|word| String::from_utf8_lossy(&word).replace('\0', " ")).collect::<Vec<_>>().join(" ")
}

struct Request {
    head: String,
    body: Vec<u8>,
}

fn request(stream: &mut dyn Stream) -> Option<Request> {
    let mut head = String::new();
    let mut length = 0;
    loop {
        let line = line(stream);
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        head.push_str(&line);
        head.push('\n');
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    (!head.is_empty()).then_some(Request { head, body })
}

fn echo(
    stream: &mut dyn Stream,
    status: &str,
    request: &Request,
    repeated: &Repeated,
) -> std::io::Result<()> {
    let told = repeated.line();
    let decoded: Vec<String> = request.head.lines().map(decoded).collect();
    let body = [
        format!("<p>{told}</p>\n{}\n{}\n", request.head, decoded.join("\n")).into_bytes(),
        request.body.clone(),
    ]
    .concat();
    let cookie = told.split(' ').next().unwrap_or_default();
    let head = format!(
        "HTTP/1.1 {status} {told}\r\nX-Echo: {told}\r\nSet-Cookie: sid={cookie}; Path=/\r\n\
         Content-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\
         WWW-Authenticate: Basic realm=\"{cookie}\"\r\nProxy-Authenticate: Basic realm=\"{cookie}\"\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(&body)?;
    stream.flush()
}

/// HTTP: asks for a login, then fails.
pub fn http(stream: &mut dyn Stream, repeated: &Repeated, _: &Received) -> std::io::Result<()> {
    let Some(request) = request(stream) else { return Ok(()) };
    let has_login = request.head.to_ascii_lowercase().contains("\nauthorization:");
    echo(stream, if has_login { "500" } else { "401" }, &request, repeated)
}

/// HTTP that takes messages: it fails, too. Their bodies may be read by others.
pub fn webhook(stream: &mut dyn Stream, repeated: &Repeated, received: &Received) -> std::io::Result<()> {
    let Some(request) = request(stream) else { return Ok(()) };
    received.add(&request.body);
    echo(stream, "500", &request, repeated)
}

/// An HTTP proxy that takes no login.
pub fn proxy(stream: &mut dyn Stream, repeated: &Repeated, _: &Received) -> std::io::Result<()> {
    let Some(request) = request(stream) else { return Ok(()) };
    echo(stream, "407", &request, repeated)
}

/// A SOCKS 5 proxy that takes no login (RFC 1929).
pub fn socks(stream: &mut dyn Stream, _: &Repeated, _: &Received) -> std::io::Result<()> {
    let mut bytes = [0; 512];
    let _greeting = stream.read(&mut bytes)?;
    stream.write_all(&[5, 2])?;
    let _login = stream.read(&mut bytes)?;
    stream.write_all(&[1, 1])
}

/// SMTP that takes no login.
pub fn smtp(stream: &mut dyn Stream, repeated: &Repeated, _: &Received) -> std::io::Result<()> {
    let told = repeated.line();
    write!(stream, "220 {told}\r\n")?;
    loop {
        let line = auth_line(stream, "334 ")?;
        match line.split(' ').next().unwrap_or_default() {
            "" => return Ok(()),
            "EHLO" => write!(stream, "250-x {told}\r\n250 AUTH PLAIN LOGIN\r\n")?,
            _ => write!(stream, "535 5.7.8 {line} {} {told}\r\n", decoded(&line))?,
        }
        stream.flush()?;
    }
}

/// Reads a command; one that logs in with its credentials, for which `prompt` asks.
fn auth_line(stream: &mut dyn Stream, prompt: &str) -> std::io::Result<String> {
    let mut line = line(stream);
    let words = line.to_ascii_uppercase();
    for (command, prompts) in [("AUTH PLAIN", 1), ("AUTHENTICATE PLAIN", 1), ("AUTH LOGIN", 2)] {
        if words.ends_with(command) {
            for _ in 0..prompts {
                write!(stream, "{prompt}\r\n")?;
                stream.flush()?;
                line = format!("{line} {}", self::line(stream));
            }
        }
    }
    Ok(line)
}

/// The mail server for messages. It refuses the recipients whose names begin with `refused`, and repeats the login.
pub fn mail(stream: &mut dyn Stream, repeated: &Repeated, received: &Received) -> std::io::Result<()> {
    let told = repeated.line();
    write!(stream, "220 {told}\r\n")?;
    let mut login = String::new();
    loop {
        let line = auth_line(stream, "334 ")?;
        let command = line.to_ascii_uppercase();
        match command.split([' ', ':']).next().unwrap_or_default() {
            "" => return Ok(()),
            "EHLO" => write!(stream, "250-x {told}\r\n250 AUTH PLAIN LOGIN\r\n")?,
            "AUTH" => {
                login = format!("{line} {}", decoded(&line));
                write!(stream, "235 {login} {told}\r\n")?;
            }
            "RCPT" if line.contains("<refused") => write!(stream, "451 {line} {login} {told}\r\n")?,
            "DATA" => {
                write!(stream, "354 {told}\r\n")?;
                stream.flush()?;
                loop {
                    let line = self::line(stream);
                    if line == "." || line.is_empty() && received.bytes().len() > 10_000_000 {
                        break;
                    }
                    received.add(format!("{line}\n").as_bytes());
                }
                write!(stream, "250 {told}\r\n")?;
            }
            _ => write!(stream, "250 {told}\r\n")?,
        }
        stream.flush()?;
    }
}

/// IMAP that takes no login.
pub fn imap(stream: &mut dyn Stream, repeated: &Repeated, _: &Received) -> std::io::Result<()> {
    let told = repeated.line();
    write!(stream, "* OK {told}\r\n")?;
    loop {
        let line = auth_line(stream, "+ ")?;
        let tag = line.split(' ').next().unwrap_or_default();
        match line.split(' ').nth(1).unwrap_or_default().to_ascii_uppercase().as_str() {
            "" => return Ok(()),
            "CAPABILITY" => {
                write!(stream, "* CAPABILITY IMAP4rev1 AUTH=PLAIN\r\n{tag} OK {told}\r\n")?;
            }
            "LOGOUT" => write!(stream, "* BYE {told}\r\n{tag} OK {told}\r\n")?,
            _ => write!(stream, "{tag} NO {line} {} {told}\r\n", decoded(&line))?,
        }
        stream.flush()?;
    }
}

/// POP3 that takes no login.
pub fn pop(stream: &mut dyn Stream, repeated: &Repeated, _: &Received) -> std::io::Result<()> {
    let told = repeated.line();
    write!(stream, "+OK {told}\r\n")?;
    loop {
        let line = auth_line(stream, "+ ")?;
        match line.split(' ').next().unwrap_or_default().to_ascii_uppercase().as_str() {
            "" => return Ok(()),
            "CAPA" => write!(stream, "+OK {told}\r\nUSER\r\nX {told}\r\n.\r\n")?,
            "USER" => write!(stream, "+OK {line} {told}\r\n")?,
            _ => write!(stream, "-ERR {line} {} {told}\r\n", decoded(&line))?,
        }
        stream.flush()?;
    }
}

/// FTP that takes no login.
pub fn ftp(stream: &mut dyn Stream, repeated: &Repeated, _: &Received) -> std::io::Result<()> {
    let told = repeated.line();
    write!(stream, "220-{told}\r\n220 {told}\r\n")?;
    loop {
        let line = line(stream);
        match line.split(' ').next().unwrap_or_default() {
            "" => return Ok(()),
            "USER" => write!(stream, "331 {line} {told}\r\n")?,
            "PBSZ" | "PROT" => write!(stream, "200 {told}\r\n")?,
            "QUIT" => write!(stream, "221 {told}\r\n")?,
            _ => write!(stream, "530-{line}\r\n530 {line} {told}\r\n")?,
        }
        stream.flush()?;
    }
}
