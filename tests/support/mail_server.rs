//! A house of mail as it stands in the world: postfix that hands everything to dovecot.
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

/// The servers, until this is dropped. Every user is there, with the password `secret`.
pub struct MailServer {
    folder: TempDir,
    /// SMTP: STARTTLS is offered, a login only after it; takes mail for everybody.
    pub smtp: u16,
    /// The same, for those alone who use STARTTLS.
    pub smtp_strict: u16,
    /// The same, under TLS from the start.
    pub smtps: u16,
    /// IMAP, with STARTTLS.
    pub imap: u16,
    /// The same, under TLS from the start.
    pub imaps: u16,
    /// POP3, with STLS.
    pub pop: u16,
    /// The same, under TLS from the start.
    pub pops: u16,
    /// The certificate for `127.0.0.1` that all of them show, and that vouches for itself.
    pub certificate: String,
    _dovecot: Daemon,
}

/// Houses that are begun until one stands.
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
    /// `None` where it cannot be built; counted then.
    pub fn build(test: &str) -> Option<Self> {
        Self::with(test, "")
    }

    /// The same with further lines for dovecot, which go before those that stand there.
    pub fn with(test: &str, more: &str) -> Option<Self> {
        let pop3 = Path::new("/usr/lib/dovecot/pop3").exists();
        if !is_root() || !has("postfix") || !has("dovecot") || !pop3 {
            let remedy = "as root: apt-get install postfix dovecot-imapd dovecot-pop3d dovecot-lmtpd";
            lacking::lacks(test, "root, postfix and dovecot", remedy);
            return None;
        }
        // A port that was free may be somebody else's by the time that a server asks for it.
        let mut reason = String::new();
        for _ in 0..TRIES {
            match Self::open(more) {
                Ok(house) => return Some(house),
                Err(text) => reason = text,
            }
        }
        panic!("postfix does not start: {reason}");
    }

    /// One of them; or what postfix said, where it did not start.
    fn open(more: &str) -> Result<Self, String> {
        let folder = open_folder();
        let at = folder.path().display().to_string();
        let [imap, imaps, pop, pops, lmtp, auth] = std::array::from_fn(|_| free_port());
        let [smtp, smtp_strict, smtps] = std::array::from_fn(|_| free_port());
        let rcgen::CertifiedKey { cert, signing_key } =
            rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
        fs::write(folder.path().join("cert.pem"), cert.pem()).unwrap();
        fs::write(folder.path().join("key.pem"), signing_key.serialize_pem()).unwrap();
        let dovecot = dovecot(&at, &Ports { imap, imaps, pop, pops, lmtp, auth }, more);
        postfix(&at, [smtp, smtp_strict, smtps], lmtp, auth)?;
        for port in [imap, pop, lmtp, smtp, smtp_strict, smtps] {
            wait_for(port);
        }
        let certificate = cert.pem();
        Ok(Self { folder, smtp, smtp_strict, smtps, imap, imaps, pop, pops, certificate, _dovecot: dovecot })
    }

    /// Every mail of `user`, once there are `count`.
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

    /// What the servers wrote, for those who look for why something failed.
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

fn dovecot(at: &str, ports: &Ports, more: &str) -> Daemon {
    let Ports { imap, imaps, pop, pops, lmtp, auth } = ports;
    let text = format!(
        "base_dir = {at}/run\nstate_dir = {at}/run\ninstance_name = t\nlog_path = {at}/dovecot.log\n\
         protocols = imap pop3 lmtp\nlisten = 127.0.0.1\ndisable_plaintext_auth = no\n\
         ssl = yes\nssl_cert = <{at}/cert.pem\nssl_key = <{at}/key.pem\n\
         auth_mechanisms = plain login cram-md5\nauth_failure_delay = 0\n\
         mail_location = maildir:{at}/mail/%n\nauth_username_format = %n\n\
         mail_uid = 8\nmail_gid = 8\nfirst_valid_uid = 1\n\
         passdb {{\n driver = static\n args = password=secret\n}}\n\
         userdb {{\n driver = static\n args = uid=8 gid=8 home={at}/mail/%n allow_all_users=yes\n}}\n\
         service imap-login {{\n inet_listener imap {{\n port = {imap}\n }}\n\
         inet_listener imaps {{\n port = {imaps}\n ssl = yes\n }}\n}}\n\
         service pop3-login {{\n inet_listener pop3 {{\n port = {pop}\n }}\n\
         inet_listener pop3s {{\n port = {pops}\n ssl = yes\n }}\n}}\n\
         service lmtp {{\n inet_listener lmtp {{\n address = 127.0.0.1\n port = {lmtp}\n }}\n}}\n\
         service auth {{\n inet_listener {{\n address = 127.0.0.1\n port = {auth}\n }}\n}}\n{more}"
    );
    let path = format!("{at}/dovecot.conf");
    fs::write(&path, text).unwrap();
    fs::create_dir(format!("{at}/mail")).unwrap();
    std::os::unix::fs::chown(format!("{at}/mail"), Some(8), Some(8)).unwrap();
    Daemon::start(Command::new("/usr/sbin/dovecot").args(["-F", "-c", &path]))
}

fn postfix(at: &str, [smtp, strict, smtps]: [u16; 3], lmtp: u16, auth: u16) -> Result<(), String> {
    for folder in ["etc", "queue", "data"] {
        fs::create_dir(format!("{at}/{folder}")).unwrap();
    }
    let postfix = nix::unistd::User::from_name("postfix").unwrap().unwrap();
    std::os::unix::fs::chown(format!("{at}/data"), Some(postfix.uid.as_raw()), None).unwrap();
    let main = format!(
        "compatibility_level = 3.6\nqueue_directory = {at}/queue\ndata_directory = {at}/data\n\
         command_directory = /usr/sbin\ndaemon_directory = /usr/lib/postfix/sbin\nmail_owner = postfix\n\
         setgid_group = postdrop\nmyhostname = mx.vigie.test\nmydestination =\ninet_interfaces = loopback-only\n\
         inet_protocols = ipv4\nmynetworks = 127.0.0.0/8\nalias_maps =\nalias_database =\n\
         default_transport = lmtp:inet:127.0.0.1:{lmtp}\nlocal_recipient_maps =\n\
         smtpd_tls_cert_file = {at}/cert.pem\nsmtpd_tls_key_file = {at}/key.pem\nsmtpd_tls_security_level = may\n\
         smtpd_tls_auth_only = yes\nsmtpd_sasl_auth_enable = yes\nsmtpd_sasl_type = dovecot\n\
         smtpd_sasl_path = inet:127.0.0.1:{auth}\nmaillog_file = {at}/mail.log\nmaillog_file_prefixes = {at}\n"
    );
    fs::write(format!("{at}/etc/main.cf"), main).unwrap();
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
        // Those that others hand mail to are public.
        let private = if ["pickup", "cleanup", "qmgr"].contains(&name) { "n" } else { "-" };
        writeln!(master, "{name} unix {private} - n {wake} {most} {program}").unwrap();
    }
    master.push_str("postlog unix-dgram n - n - 1 postlogd\n");
    fs::write(format!("{at}/etc/master.cf"), master).unwrap();
    // It gives its master ten seconds, which a busy machine may not have: then it is started once more.
    let etc = format!("{at}/etc");
    let call = |what: &str| Command::new("/usr/sbin/postfix").args(["-c", &etc, what]).output().unwrap();
    if call("start").status.success() || call("start").status.success() {
        return Ok(());
    }
    call("stop");
    Err(fs::read_to_string(format!("{at}/mail.log")).unwrap_or_default())
}

/// Every mail of `user`, whole, in their order.
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
