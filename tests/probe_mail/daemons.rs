//! Round trips from postfix to dovecot.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use vigie::domain::{FailureKind as Kind, Phase};

use crate::probe_mail::round_trip::{Monitor, TIMEOUT, fetching};
use crate::probe_mail::scripted_server::transcript;
use crate::support::mail_server::MailServer;

// row: 2.2 email-round-trip.smtp_hostname; 2.2 email-round-trip.pop3_hostname; 2.2 email-round-trip.email
// row: 2.2 email-round-trip.email_username; 2.2 email-round-trip.email_password
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_round_trip_through_postfix_and_dovecot_passes() {
    let Some(daemons) = MailServer::build("a round trip through postfix and dovecot") else { return };
    let fields = |smtp: String, pop: String, password: &str| {
        json!({
            "smtp_hostname": smtp, "pop3_hostname": pop, "email": "anna@vigie.test",
            "email_password": password, "require_tls": true,
        })
    };
    let trust = [daemons.certificate.clone()];
    let monitor = Monitor::new(7);
    for (smtp, pop) in [
        (format!("127.0.0.1:{}", daemons.smtp), format!("127.0.0.1:{}", daemons.pop)),
        (format!("smtps://127.0.0.1:{}", daemons.smtps), format!("pop3s://127.0.0.1:{}", daemons.pops)),
    ] {
        let observation = monitor.attempt(fields(smtp, pop, "secret"), &trust, TIMEOUT).await;
        assert_eq!(observation.failure, None, "{}\n{}", transcript(&observation), daemons.log());
        let trip = observation.facts.round_trip.unwrap();
        assert!(
            trip.round_trip_send_us.is_some()
                && trip.round_trip_transit_us.is_some()
                && trip.round_trip_fetch_us.is_some()
        );
        assert!(!observation.facts.mail.unwrap().sent_password_in_cleartext);
        assert!(observation.facts.tls.is_some());
        for phase in [Phase::Submit, Phase::Transit, Phase::Fetch, Phase::Delete, Phase::Quit, Phase::Auth] {
            assert!(observation.phases.micros(phase).is_some(), "{phase:?}");
        }
    }
    assert!(
        crate::support::mail_server::read_mails(daemons.imap, "anna").is_empty(),
        "something was left behind"
    );
    let wrong = fields(format!("127.0.0.1:{}", daemons.smtp), format!("127.0.0.1:{}", daemons.pop), "wrong");
    let observation = monitor.attempt(wrong, &trust, TIMEOUT).await;
    let failure = observation.failure.unwrap();
    assert_eq!(
        (failure.status().0, failure.kind, failure.phase),
        (5, Kind::LoginRejected, Phase::Auth),
        "{failure}"
    );
    assert!(failure.detail.starts_with(fetching(Phase::Auth)), "{failure}");
    assert_eq!(daemons.mails("anna", 1).len(), 1, "it was sent all the same");
}

/// Another client that has the mailbox open.
struct Reader(BufReader<TcpStream>);

impl Reader {
    async fn open(daemons: &MailServer, user: &str) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", daemons.pop)).await.unwrap();
        let mut reader = Self(BufReader::new(stream));
        reader.expect_ok("the greeting").await;
        for line in [format!("USER {user}"), "PASS secret".to_owned(), "STAT".to_owned()] {
            reader.send(&line).await;
        }
        reader
    }

    async fn send(&mut self, line: &str) {
        self.0.write_all(format!("{line}\r\n").as_bytes()).await.unwrap();
        self.expect_ok(line).await;
    }

    async fn expect_ok(&mut self, after: &str) {
        let mut line = String::new();
        self.0.read_line(&mut line).await.unwrap();
        assert!(line.starts_with("+OK"), "{after}: {line}");
    }
}

/// Waits until dovecot has written `text` to its log.
async fn wait_for_log(daemons: &MailServer, text: &str) {
    let end = Instant::now() + Duration::from_secs(40);
    while !daemons.log().contains(text) {
        assert!(Instant::now() < end, "no `{text}`: {}", daemons.log());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

// dovecot keeps the second client waiting for ten seconds, and then refuses it with `[IN-USE]`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_round_trip_waits_for_a_mailbox_locked_by_dovecot() {
    let test = "a round trip through a dovecot that locks the mailbox";
    let Some(daemons) = MailServer::with(test, "pop3_lock_session = yes\n") else { return };
    let fields: Value = json!({
        "smtp_hostname": format!("127.0.0.1:{}", daemons.smtp), "pop3_hostname": format!("127.0.0.1:{}", daemons.pop),
        "email": "anna@vigie.test", "email_password": "secret",
    });
    let trust = [daemons.certificate.clone()];
    let (one, two) = (Monitor::new(7), Monitor::new(8));
    let mut other = Reader::open(&daemons, "anna").await;
    let unlock = async {
        wait_for_log(&daemons, "Couldn't lock POP3 session").await;
        other.send("QUIT").await;
    };
    let (observation, ()) = tokio::join!(one.attempt(fields.clone(), &trust, 2 * TIMEOUT), unlock);
    assert_eq!(observation.failure, None, "{}\n{}", transcript(&observation), daemons.log());
    let trip = observation.facts.round_trip.unwrap();
    assert!(trip.mailbox_locked_count >= 1 && trip.mailbox_polls >= 1, "{trip:?}");
    // Two monitors at once lock each other out for a moment, and each fetches its own message only.
    let both = tokio::join!(
        one.attempt(fields.clone(), &trust, 2 * TIMEOUT),
        two.attempt(fields.clone(), &trust, 2 * TIMEOUT)
    );
    for observation in [both.0, both.1] {
        assert_eq!(observation.failure, None, "{}\n{}", transcript(&observation), daemons.log());
    }
    assert!(
        crate::support::mail_server::read_mails(daemons.imap, "anna").is_empty(),
        "something was left behind"
    );
    // The mailbox stays locked: the failure reports the lock, not a lost mail.
    let _other = Reader::open(&daemons, "anna").await;
    let observation = one.attempt(fields, &trust, Duration::from_secs(25)).await;
    let failure = observation.failure.unwrap();
    assert_eq!((failure.status().0, failure.phase), (2, Phase::Transit), "{failure}");
    assert!(failure.detail.contains("could never be opened and found locked once"), "{failure}");
}
