//! Mail: sent through postfix to dovecot and read back over IMAP; and mail servers that misbehave.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use vigie::clock::SystemClock;
use vigie::domain::{CapturedFile, NotificationKind, NotificationMethod};
use vigie::net::{Net, NetConfig, Pem, PublicRoots, TrustConfig};
use vigie::notify::{
    ChannelSettings, MailEncryption, MailSettings, MessageSender, NotificationChannels, OutgoingMessage,
    Secret,
};

use super::samples::{message, settings};
use crate::support::daemon::free_port;
use crate::support::mail_server::{MailServer, read_mails};

fn mail_to(port: u16, tls: MailEncryption) -> MailSettings {
    MailSettings {
        host: "127.0.0.1".to_owned(),
        port,
        encryption: tls,
        verify_certificate: true,
        username: String::new(),
        password: Secret::default(),
        sender: "Vigie <alerts@vigie.test>".to_owned(),
        ehlo_name: "vigie.test".to_owned(),
        attempt_timeout: Duration::from_secs(10),
    }
}

fn channels(mail: MailSettings, authorities: Vec<Pem>) -> NotificationChannels {
    let trust = TrustConfig {
        public_roots: PublicRoots::None,
        additional_authorities: authorities,
        ..TrustConfig::default()
    };
    let net = Arc::new(Net::new(&NetConfig { trust_config: trust, ..NetConfig::default() }).unwrap());
    NotificationChannels::new(net, Arc::new(SystemClock), ChannelSettings { mail: Some(mail), ..settings() })
}

impl MailServer {
    fn channels(&self, tls: MailEncryption, login: Option<&str>) -> NotificationChannels {
        let mut mail = mail_to(self.smtp, tls);
        if let Some(password) = login {
            (mail.username, mail.password) = ("vigie".to_owned(), Secret(password.to_owned()));
        }
        let certificate = Pem { label: "test".to_owned(), text: self.certificate.clone().into_bytes() };
        channels(mail, vec![certificate])
    }
}

/// Returns the header lines of this name.
fn header<'a>(mail: &'a str, name: &str) -> Vec<&'a str> {
    let head = mail.split("\r\n\r\n").next().unwrap();
    let prefix = format!("{}:", name.to_lowercase());
    head.split("\r\n").filter(|line| line.to_lowercase().starts_with(&prefix)).collect()
}

fn mail(kind: NotificationKind, method: NotificationMethod, user: &str) -> OutgoingMessage {
    message(kind, method, &format!("{user}@vigie.test"), "")
}

#[tokio::test(flavor = "multi_thread")]
async fn mail_arrives_encrypted_with_text_html_and_files() {
    let Some(server) = MailServer::build("mail through postfix to dovecot") else { return };
    let channels = server.channels(MailEncryption::Auto, Some("secret"));
    let mut html = mail(NotificationKind::SiteError, NotificationMethod::MailHtml, "anna");
    html.attachments = vec![
        CapturedFile::new("screen-1.png", "image/png", b"\x89PNG\r\n\x1a\n not really"),
        CapturedFile::new("traceroute.txt", "text/plain; charset=utf-8", b" 1  192.0.2.1  0.4 ms\n"),
    ];
    channels.send(&html).await.unwrap();
    channels.send(&mail(NotificationKind::SiteClear, NotificationMethod::MailText, "anna")).await.unwrap();
    let mut mails = server.mails("anna", 2);
    // Mail servers guarantee no order.
    mails.sort_by_key(|mail| header(mail, "Subject")[0].contains("Clear"));
    let first = &mails[0];
    assert!(first.contains("with ESMTPSA"), "neither encrypted nor logged in: {first}");
    assert!(header(first, "Subject")[0].contains("[Vigie] Site/Device Alert (ST=7)"), "{first}");
    assert_eq!(header(first, "Message-ID"), ["Message-ID: <site_error-4711-1795262400000000-1@vigie.test>"]);
    assert_eq!(header(first, "Auto-Submitted"), ["Auto-Submitted: auto-generated"]);
    for part in [
        "multipart/mixed",
        "multipart/alternative",
        "text/plain",
        "text/html",
        "filename=\"screen-1.png\"",
        "filename=\"traceroute.txt\"",
    ] {
        assert!(first.contains(part), "{part} is not in {first}");
    }
    let second = &mails[1];
    assert!(
        header(second, "Subject")[0].contains("Clear (ST=0)") && second.contains("Site Clear"),
        "{second}"
    );
    assert!(!second.contains("text/html"), "{second}");
    assert_eq!(
        header(first, "References").first().map(|line| line.len() > 20),
        Some(true),
        "those of one outage are a thread: {first}"
    );
    assert_eq!(header(first, "References"), header(second, "References"));
    // A wrong password is not the fault of the message: it is retried until the password is corrected.
    let error = server.channels(MailEncryption::Auto, Some("wrong-one")).send(&html).await.unwrap_err();
    assert!(
        error.is_retryable && error.detail.contains("535") && !error.detail.contains("wrong-one"),
        "{error}"
    );
    // A server with an untrusted certificate gets no mail.
    let untrusting = self::channels(mail_to(server.smtp, MailEncryption::StartTls), Vec::new());
    let error = untrusting.send(&html).await.unwrap_err();
    assert!(error.is_retryable && error.detail.contains("certificate"), "{error}");
    assert_eq!(server.mails("anna", 2).len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_notification_content_adds_a_header_or_a_recipient() {
    let Some(server) = MailServer::build("hostile words in mail") else { return };
    let channels = server.channels(MailEncryption::Auto, None);
    let hostile =
        "x\r\nBcc: eve@vigie.test\r\nX-Evil: 1\r\n\r\n<b>body</b>\r\n.\r\nRCPT TO:<eve@vigie.test>\r\n";
    let mut message = mail(NotificationKind::SiteError, NotificationMethod::MailText, "bob");
    message.subject = hostile.to_owned();
    message.text = format!("{hostile}\n.\n..\nlast line");
    message.idempotency_key = format!("key{hostile}");
    message.attachments = vec![CapturedFile::new(hostile, hostile, b"file")];
    channels.send(&message).await.unwrap();
    let mails = server.mails("bob", 1);
    for name in ["Bcc", "X-Evil"] {
        assert!(header(&mails[0], name).is_empty(), "{}", mails[0]);
    }
    assert!(mails[0].contains("last line"), "{}", mails[0]);
    assert_eq!(read_mails(server.imap, "eve").len(), 0);
    let mut invalid = mail(NotificationKind::Test, NotificationMethod::MailText, "bob");
    for address in ["bob@vigie.test\r\nRCPT TO:<eve@vigie.test>", "bob@vigie.test, eve@vigie.test", "", "bob"]
    {
        invalid.recipient.address = address.to_owned();
        let error = channels.send(&invalid).await.unwrap_err();
        assert!(
            !error.is_retryable && error.detail.contains("not a valid mail address"),
            "{address:?}: {error}"
        );
    }
}

/// Starts a mail server that replies to each command by `script`; `Unencrypted` is silence from then on.
async fn scripted(script: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = Arc::new(script);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let script = Arc::clone(&script);
            tokio::spawn(async move {
                let (reader, mut writer) = stream.into_split();
                let mut lines = tokio::io::BufReader::new(reader).lines();
                let mut command = "CONNECT".to_owned();
                loop {
                    let Some(reply) = script(&command) else {
                        std::future::pending::<()>().await;
                        return;
                    };
                    if writer.write_all(reply.as_bytes()).await.is_err() {
                        return;
                    }
                    let in_data = reply.starts_with("354");
                    loop {
                        let Ok(Some(line)) = lines.next_line().await else { return };
                        command = line;
                        if !in_data || command == "." {
                            break;
                        }
                    }
                }
            });
        }
    });
    port
}

/// Returns the usual reply, except to commands that begin with `failing_command`, which get `reply`.
fn usual_reply(command: &str, failing_command: &str, reply: &str) -> Option<String> {
    if command.starts_with(failing_command) {
        return Some(format!("{reply}\r\n")).filter(|_| !reply.is_empty());
    }
    Some(match command.split([' ', ':']).next().unwrap() {
        "CONNECT" => "220 odd.test\r\n".to_owned(),
        "EHLO" => "250-odd.test\r\n250 8BITMIME\r\n".to_owned(),
        "DATA" => "354 go on\r\n".to_owned(),
        "QUIT" => "221 bye\r\n".to_owned(),
        _ => "250 fine\r\n".to_owned(),
    })
}

#[tokio::test]
async fn mail_is_retried_unless_the_server_refuses_it_permanently() {
    let cases = [
        ("CONNECT", "554 go away", true),
        ("CONNECT", "", true),
        ("EHLO", "421 not now", true),
        ("MAIL", "452 no room", true),
        ("RCPT", "451 greylisted", true),
        ("RCPT", "550 no such user", false),
        ("DATA", "554 no", false),
        (".", "451 later", true),
        (".", "554 spam", false),
        (".", "", true),
    ];
    for (failing_command, reply, is_retryable) in cases {
        let port = scripted(move |command| usual_reply(command, failing_command, reply)).await;
        let settings = MailSettings {
            attempt_timeout: Duration::from_secs(1),
            ..mail_to(port, MailEncryption::Unencrypted)
        };
        let started = Instant::now();
        let message = mail(NotificationKind::SiteError, NotificationMethod::MailText, "anna");
        let error = channels(settings, Vec::new()).send(&message).await.unwrap_err();
        assert_eq!(error.is_retryable, is_retryable, "{failing_command} {reply}: {error}");
        assert!(
            started.elapsed() < Duration::from_secs(5),
            "{failing_command} {reply}: {:?}",
            started.elapsed()
        );
    }
}

#[tokio::test]
async fn a_server_without_starttls_gets_mail_unencrypted_but_never_a_password() {
    let port = scripted(|command| usual_reply(command, "none", "")).await;
    let message = mail(NotificationKind::SiteError, NotificationMethod::MailHtml, "anna");
    channels(mail_to(port, MailEncryption::Auto), Vec::new()).send(&message).await.unwrap();
    let login = |tls| MailSettings {
        username: "vigie".to_owned(),
        password: Secret("secret".to_owned()),
        ..mail_to(port, tls)
    };
    for (settings, text) in [
        (login(MailEncryption::Auto), "not sent unencrypted"),
        (mail_to(port, MailEncryption::StartTls), "no STARTTLS"),
    ] {
        let error = channels(settings, Vec::new()).send(&message).await.unwrap_err();
        assert!(error.is_retryable && error.detail.contains(text), "{error}");
    }
}

#[tokio::test]
async fn a_server_with_an_endless_reply_is_given_up() {
    let port = scripted(|command| match command {
        "CONNECT" => Some("220 odd.test\r\n".to_owned()),
        _ => Some("250-more\r\n".repeat(200_000)),
    })
    .await;
    let message = mail(NotificationKind::SiteError, NotificationMethod::MailText, "anna");
    let error =
        channels(mail_to(port, MailEncryption::Unencrypted), Vec::new()).send(&message).await.unwrap_err();
    assert!(error.is_retryable, "{error}");
}

#[tokio::test]
async fn a_mail_server_that_is_down_or_not_configured_is_retried() {
    let message = mail(NotificationKind::SiteError, NotificationMethod::MailText, "anna");
    let down = channels(mail_to(free_port(), MailEncryption::Auto), Vec::new());
    let error = down.send(&message).await.unwrap_err();
    assert!(error.is_retryable && error.detail.contains("refused"), "{error}");
    let error = super::samples::send(&message).await.unwrap_err();
    assert!(error.is_retryable && error.detail.contains("`mail.server` is not set"), "{error}");
}
