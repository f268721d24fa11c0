//! Round trips from postfix to dovecot.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use vigie::domain::{FailureKind as Kind, Phase};

use crate::probe_mail::kit::transcript;
use crate::probe_mail::trip::{Monitor, SOON, fetching};
use crate::support::mail_house::House;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_postfix_to_dovecot_and_away() {
    let Some(house) = House::build("a round trip through postfix and dovecot") else { return };
    let fields = |smtp: String, pop: String, password: &str| {
        json!({
            "smtp_hostname": smtp, "pop3_hostname": pop, "email": "anna@vigie.test",
            "email_password": password, "require_tls": true,
        })
    };
    let trust = [house.certificate.clone()];
    let monitor = Monitor::new(7);
    for (smtp, pop) in [
        (format!("127.0.0.1:{}", house.smtp), format!("127.0.0.1:{}", house.pop)),
        (format!("smtps://127.0.0.1:{}", house.smtps), format!("pop3s://127.0.0.1:{}", house.pops)),
    ] {
        let observation = monitor.attempt(fields(smtp, pop, "secret"), &trust, SOON).await;
        assert_eq!(observation.failure, None, "{}\n{}", transcript(&observation), house.log());
        let trip = observation.facts.round_trip.unwrap();
        assert!(
            trip.trip_send_us.is_some() && trip.trip_transit_us.is_some() && trip.trip_fetch_us.is_some()
        );
        assert!(!observation.facts.mail.unwrap().password_in_clear);
        assert!(observation.facts.tls.is_some());
        for phase in [Phase::Deliver, Phase::Transit, Phase::Fetch, Phase::Delete, Phase::Quit, Phase::Auth] {
            assert!(observation.phases.micros(phase).is_some(), "{phase:?}");
        }
    }
    assert!(
        crate::support::mail_house::read_mails(house.imap, "anna").is_empty(),
        "something was left behind"
    );
    let wrong = fields(format!("127.0.0.1:{}", house.smtp), format!("127.0.0.1:{}", house.pop), "wrong");
    let observation = monitor.attempt(wrong, &trust, SOON).await;
    let failure = observation.failure.unwrap();
    assert_eq!(
        (failure.status().0, failure.kind, failure.phase),
        (5, Kind::LoginRefused, Phase::Auth),
        "{failure}"
    );
    assert!(failure.detail.starts_with(fetching(Phase::Auth)), "{failure}");
    assert_eq!(house.mails("anna", 1).len(), 1, "it was sent all the same");
}

/// Somebody else who has the mailbox open.
struct Reader(BufReader<TcpStream>);

impl Reader {
    async fn of(house: &House, user: &str) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", house.pop)).await.unwrap();
        let mut reader = Self(BufReader::new(stream));
        reader.hears_good("the greeting").await;
        for line in [format!("USER {user}"), "PASS secret".to_owned(), "STAT".to_owned()] {
            reader.says(&line).await;
        }
        reader
    }

    async fn says(&mut self, line: &str) {
        self.0.write_all(format!("{line}\r\n").as_bytes()).await.unwrap();
        self.hears_good(line).await;
    }

    async fn hears_good(&mut self, after: &str) {
        let mut line = String::new();
        self.0.read_line(&mut line).await.unwrap();
        assert!(line.starts_with("+OK"), "{after}: {line}");
    }
}

/// Waits until dovecot has written `text` to its log.
async fn logged(house: &House, text: &str) {
    let end = Instant::now() + Duration::from_secs(40);
    while !house.log().contains(text) {
        assert!(Instant::now() < end, "no `{text}`: {}", house.log());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// dovecot lets the second one wait for ten seconds, and then refuses it with `[IN-USE]`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mailbox_that_dovecot_locks_is_waited_for() {
    let test = "a round trip through a dovecot that locks the mailbox";
    let Some(house) = House::with(test, "pop3_lock_session = yes\n") else { return };
    let fields: Value = json!({
        "smtp_hostname": format!("127.0.0.1:{}", house.smtp), "pop3_hostname": format!("127.0.0.1:{}", house.pop),
        "email": "anna@vigie.test", "email_password": "secret",
    });
    let trust = [house.certificate.clone()];
    let (one, two) = (Monitor::new(7), Monitor::new(8));
    let mut other = Reader::of(&house, "anna").await;
    let letting_go = async {
        logged(&house, "Couldn't lock POP3 session").await;
        other.says("QUIT").await;
    };
    let (observation, ()) = tokio::join!(one.attempt(fields.clone(), &trust, 2 * SOON), letting_go);
    assert_eq!(observation.failure, None, "{}\n{}", transcript(&observation), house.log());
    let trip = observation.facts.round_trip.unwrap();
    assert!(trip.mailbox_locked >= 1 && trip.mailbox_polls >= 1, "{trip:?}");
    // Both at once lock each other out for a moment, and each takes its own message alone.
    let both = tokio::join!(
        one.attempt(fields.clone(), &trust, 2 * SOON),
        two.attempt(fields.clone(), &trust, 2 * SOON)
    );
    for observation in [both.0, both.1] {
        assert_eq!(observation.failure, None, "{}\n{}", transcript(&observation), house.log());
    }
    assert!(
        crate::support::mail_house::read_mails(house.imap, "anna").is_empty(),
        "something was left behind"
    );
    // Nobody lets go: what is told is that it was locked, not that mail was lost.
    let _other = Reader::of(&house, "anna").await;
    let observation = one.attempt(fields, &trust, Duration::from_secs(25)).await;
    let failure = observation.failure.unwrap();
    assert_eq!((failure.status().0, failure.phase), (2, Phase::Transit), "{failure}");
    assert!(failure.detail.contains("never open to be looked at and found locked once"), "{failure}");
}
