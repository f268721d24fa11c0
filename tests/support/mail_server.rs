//! A real mail server: postfix, which delivers everything to dovecot.
#![allow(dead_code, reason = "every test binary takes what it needs")]

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::daemon::{Daemon, free_port, has, is_root, open_folder, wait_for};
use super::lacking;

/// The servers, which stop when this is dropped. Every user name exists, with the password `secret`.
pub struct MailServer {
    folder: TempDir,
    /// SMTP that offers STARTTLS, allows a login only after it, and accepts mail for every address.
    pub smtp: u16,
    /// The same, but STARTTLS is required.
    pub smtp_strict: u16,
    /// The same, with TLS from the start.
    pub smtps: u16,
    /// IMAP, with STARTTLS.
    pub imap: u16,
    /// The same, with TLS from the start.
    pub imaps: u16,
    /// POP3, with STLS.
    pub pop: u16,
    /// The same, with TLS from the start.
    pub pops: u16,
    /// The self-signed certificate for `127.0.0.1` that all of them present.
    pub certificate: String,
    _dovecot: Daemon,
}

/// Attempts to start the servers.
const TRIES: u32 = 3;

/// Ports of dovecot.
struct Ports {
    imap: u16,
    imaps: u16,
    pop: u16,
    pops: u16,
    lmtp: u16,
    auth: u16,
}

impl MailServer {
    /// Starts the servers. Returns `None`, and counts `test` as skipped, where they are not installed.
    pub fn build(test: &str) -> Option<Self> {
        Self::with(test, "")
    }

    /// Like [`MailServer::build`], with settings for dovecot appended.
    pub fn with(test: &str, more: &str) -> Option<Self> {
        let pop3 = Path::new("/usr/lib/dovecot/pop3").exists();
        if !is_root() || !has("postfix") || !has("dovecot") || !pop3 {
            let remedy = "as root: apt-get install postfix dovecot-imapd dovecot-pop3d dovecot-lmtpd";
            lacking::lacks(test, "root, postfix and dovecot", remedy);
            return None;
        }
        // Another process may bind a free port before the server does.
        let mut reason = String::new();
        for _ in 0..TRIES {
            match Self::open(more) {
                Ok(server) => return Some(server),
                Err(text) => reason = text,
            }
        }
        panic!("postfix does not start: {reason}");
    }

    /// Starts the servers once; the error is the log of postfix.
    fn open(more: &str) -> Result<Self, String> {
        let folder = open_folder();
        let base = folder.path().display().to_string();
        let [imap, imaps, pop, pops, lmtp, auth] = std::array::from_fn(|_| free_port());
        let [smtp, smtp_strict, smtps] = std::array::from_fn(|_| free_port());
        let rcgen::CertifiedKey { cert, signing_key } =
            rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
        fs::write(folder.path().join("cert.pem"), cert.pem()).unwrap();
        fs::write(folder.path().join("key.pem"), signing_key.serialize_pem()).unwrap();
        let dovecot = dovecot(&base, &Ports { imap, imaps, pop, pops, lmtp, auth }, more);
        postfix(&base, [smtp, smtp_strict, smtps], lmtp, auth)?;
        for port in [imap, pop, lmtp, smtp, smtp_strict, smtps] {
            wait_for(port);
        }
        let certificate = cert.pem();
        Ok(Self { folder, smtp, smtp_strict, smtps, imap, imaps, pop, pops, certificate, _dovecot: dovecot })
    }

    /// Returns every mail of `user` as soon as there are `count`.
    pub fn mails(&self, user: &str, count: usize) -> Vec<String> {
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            let mails = read_mails(self.imap, user);
            if mails.len() >= count {
                return mails;
            }
            assert!(Instant::now() < end, "{} of {count} mails came: {}", mails.len(), self.log());
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Returns the logs of both servers, for failure messages.
    pub fn log(&self) -> String {
        let read = |name: &str| fs::read_to_string(self.folder.path().join(name)).unwrap_or_default();
        format!("{}\n{}", read("mail.log"), read("dovecot.log"))
    }
}

impl Drop for MailServer {
    fn drop(&mut self) {
        let etc = self.folder.path().join("etc");
        let _ = Command::new("/usr/sbin/postfix").arg("-c").arg(etc).arg("stop").output();
    }
}

fn dovecot(base: &str, ports: &Ports, more: &str) -> Daemon {
    let Ports { imap, imaps, pop, pops, lmtp, auth } = ports;
    let text = format!(
        "base_dir = {base}/run\nstate_dir = {base}/run\ninstance_name = t\nlog_path = {base}/dovecot.log\n\
         protocols = imap pop3 lmtp\nlisten = 127.0.0.1\ndisable_plaintext_auth = no\n\
         ssl = yes\nssl_cert = <{base}/cert.pem\nssl_key = <{base}/key.pem\n\
         auth_mechanisms = plain login cram-md5\nauth_failure_delay = 0\n\
         mail_location = maildir:{base}/mail/%n\nauth_username_format = %n\n\
         mail_uid = 8\nmail_gid = 8\nfirst_valid_uid = 1\n\
         passdb {{\n driver = static\n args = password=secret\n}}\n\
         userdb {{\n driver = static\n args = uid=8 gid=8 home={base}/mail/%n allow_all_users=yes\n}}\n\
         service imap-login {{\n inet_listener imap {{\n port = {imap}\n }}\n\
         inet_listener imaps {{\n port = {imaps}\n ssl = yes\n }}\n}}\n\
         service pop3-login {{\n inet_listener pop3 {{\n port = {pop}\n }}\n\
         inet_listener pop3s {{\n port = {pops}\n ssl = yes\n }}\n}}\n\
         service lmtp {{\n inet_listener lmtp {{\n address = 127.0.0.1\n port = {lmtp}\n }}\n}}\n\
         service auth {{\n inet_listener {{\n address = 127.0.0.1\n port = {auth}\n }}\n}}\n{more}"
    );
    let path = format!("{base}/dovecot.conf");
    fs::write(&path, text).unwrap();
    fs::create_dir(format!("{base}/mail")).unwrap();
    std::os::unix::fs::chown(format!("{base}/mail"), Some(8), Some(8)).unwrap();
    Daemon::start(Command::new("/usr/sbin/dovecot").args(["-F", "-c", &path]))
}

fn postfix(base: &str, [smtp, strict, smtps]: [u16; 3], lmtp: u16, auth: u16) -> Result<(), String> {
    for folder in ["etc", "queue", "data"] {
        fs::create_dir(format!("{base}/{folder}")).unwrap();
    }
    let postfix = nix::unistd::User::from_name("postfix").unwrap().unwrap();
    std::os::unix::fs::chown(format!("{base}/data"), Some(postfix.uid.as_raw()), None).unwrap();
    let main = format!(
        "compatibility_level = 3.6\nqueue_directory = {base}/queue\ndata_directory = {base}/data\n\
         command_directory = /usr/sbin\ndaemon_directory = /usr/lib/postfix/sbin\nmail_owner = postfix\n\
         setgid_group = postdrop\nmyhostname = mx.vigie.test\nmydestination =\ninet_interfaces = loopback-only\n\
         inet_protocols = ipv4\nmynetworks = 127.0.0.0/8\nalias_maps =\nalias_database =\n\
         default_transport = lmtp:inet:127.0.0.1:{lmtp}\nlocal_recipient_maps =\n\
         smtpd_tls_cert_file = {base}/cert.pem\nsmtpd_tls_key_file = {base}/key.pem\nsmtpd_tls_security_level = may\n\
         smtpd_tls_auth_only = yes\nsmtpd_sasl_auth_enable = yes\nsmtpd_sasl_type = dovecot\n\
         smtpd_sasl_path = inet:127.0.0.1:{auth}\nmaillog_file = {base}/mail.log\nmaillog_file_prefixes = {base}\n"
    );
    fs::write(format!("{base}/etc/main.cf"), main).unwrap();
    let mut master = format!(
        "127.0.0.1:{smtp} inet n - n - - smtpd\n\
         127.0.0.1:{strict} inet n - n - - smtpd -o smtpd_tls_security_level=encrypt\n\
         127.0.0.1:{smtps} inet n - n - - smtpd -o smtpd_tls_wrappermode=yes\n"
    );
    for (name, wake, most, program) in [
        ("pickup", "60", "1", "pickup"),
        ("cleanup", "-", "0", "cleanup"),
        ("qmgr", "300", "1", "qmgr"),
        ("tlsmgr", "1000?", "1", "tlsmgr"),
        ("rewrite", "-", "-", "trivial-rewrite"),
        ("bounce", "-", "0", "bounce"),
        ("defer", "-", "0", "bounce"),
        ("trace", "-", "0", "bounce"),
        ("verify", "-", "1", "verify"),
        ("proxymap", "-", "-", "proxymap"),
        ("lmtp", "-", "-", "lmtp"),
        ("error", "-", "-", "error"),
        ("anvil", "-", "1", "anvil"),
        ("scache", "-", "1", "scache"),
    ] {
        // The services to which other processes hand mail are public.
        let private = if ["pickup", "cleanup", "qmgr"].contains(&name) { "n" } else { "-" };
        writeln!(master, "{name} unix {private} - n {wake} {most} {program}").unwrap();
    }
    master.push_str("postlog unix-dgram n - n - 1 postlogd\n");
    fs::write(format!("{base}/etc/master.cf"), master).unwrap();
    // `postfix start` gives its master ten seconds, which a busy machine may exceed. Then it is started again.
    let etc = format!("{base}/etc");
    let call = |what: &str| Command::new("/usr/sbin/postfix").args(["-c", &etc, what]).output().unwrap();
    if call("start").status.success() || call("start").status.success() {
        return Ok(());
    }
    call("stop");
    Err(fs::read_to_string(format!("{base}/mail.log")).unwrap_or_default())
}

/// Returns the complete text of every mail of `user`, oldest first.
pub fn read_mails(port: u16, user: &str) -> Vec<String> {
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let mut writer = stream.try_clone().unwrap();
    let mut reader = BufReader::new(stream);
    let mut mails = Vec::new();
    let mut greeting = String::new();
    reader.read_line(&mut greeting).unwrap();
    for (tag, command) in [
        ("a", format!("LOGIN {user} secret")),
        ("b", "SELECT INBOX".to_owned()),
        ("c", "FETCH 1:* BODY.PEEK[]".to_owned()),
        ("d", "LOGOUT".to_owned()),
    ] {
        writer.write_all(format!("{tag} {command}\r\n").as_bytes()).unwrap();
        loop {
            let mut line = String::new();
            assert!(reader.read_line(&mut line).unwrap() > 0, "the mailbox closed at `{command}`");
            if let Some(size) = line.trim_end().strip_suffix('}').and_then(|line| line.rsplit('{').next()) {
                let mut bytes = vec![0; size.parse().unwrap()];
                std::io::Read::read_exact(&mut reader, &mut bytes).unwrap();
                mails.push(String::from_utf8(bytes).unwrap());
            }
            if line.starts_with(&format!("{tag} ")) {
                break;
            }
        }
    }
    mails
}
