//! `email-round-trip` against a mail server that can deviate from the protocol.

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::join_all;
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use vigie::clock::{Clock, SystemClock};
use vigie::domain::{FailureKind as Kind, MonitorId, MonitorType, Observation, Phase, Timestamp};
use vigie::net::Deadline;
use vigie::probe::{ProbeBuildContext, ProbeContext, build_probe};
use vigie::schema::MonitorDocument;
use vigie::vault::Keyring;

use crate::probe_mail::mail_server::Deviation::{self, Close, Flood, Reply, Stall};
use crate::probe_mail::mail_server::{Behaviour, MailServer};
use crate::probe_mail::scripted_server::{net, transcript};
use crate::probe_mail::table::{assert_no_secrets, golden};

const EMAIL: &str = "monitor@vigie.test";
const PASSWORD: &str = crate::probe_mail::table::PASSWORD;

/// A clock that always returns the same time.
struct FixedClock(Timestamp);

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        self.0
    }

    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// A monitor of an installation.
pub struct Monitor {
    id: i64,
    keyring: Arc<Keyring>,
    now: Option<Timestamp>,
}

impl Monitor {
    pub fn new(id: i64) -> Self {
        Self { id, keyring: Arc::new(Keyring::ephemeral()), now: None }
    }

    pub async fn attempt(&self, fields: Value, trust: &[String], timeout: Duration) -> Observation {
        let Value::Object(fields) = fields else { panic!("{fields} is not an object") };
        let settings = ProbeBuildContext {
            monitor_id: MonitorId(self.id),
            keyring: Some(Arc::clone(&self.keyring)),
            ..ProbeBuildContext::default()
        };
        let (probe, _) =
            build_probe(&MonitorDocument::new(MonitorType::EmailRoundTrip, fields).unwrap(), &settings);
        let (net, cancel) = (net(trust), CancellationToken::new());
        let fixed_clock = self.now.map(FixedClock);
        let clock: &dyn Clock = match &fixed_clock {
            Some(fixed_clock) => fixed_clock,
            None => &SystemClock,
        };
        let cx = ProbeContext::new(&net, Deadline::within(timeout), &cancel, clock);
        let observation = probe.attempt(cx).await;
        assert!(observation.duration <= timeout + Duration::from_secs(1), "{:?}", observation.duration);
        assert_no_secrets(&observation);
        let whole: u64 = observation.phases.iter().map(|(_, micros)| u64::from(micros)).sum();
        assert!(
            whole <= u64::try_from(observation.duration.as_micros()).unwrap() + 1000,
            "{:?}",
            observation.phases
        );
        observation
    }

    async fn attempt_at(&self, server: &MailServer, timeout: Duration) -> Observation {
        self.attempt(fields_for(server), &[], timeout).await
    }
}

fn fields_for(server: &MailServer) -> Value {
    json!({
        "smtp_hostname": server.smtp.to_string(), "pop3_hostname": server.pop.to_string(),
        "email": EMAIL, "email_username": "tim", "email_password": PASSWORD,
    })
}

/// Expected failure: status, kind, phase and a part of the text.
type Expected = Option<(u16, Kind, Phase, &'static str)>;

pub const TIMEOUT: Duration = Duration::from_secs(30);
const SHORT: Duration = Duration::from_millis(1500);

struct Case {
    name: &'static str,
    behaviour: Behaviour,
    timeout: Duration,
    expected: Expected,
}

fn smtp(name: &'static str, at: &'static str, deviation: Deviation, expected: Expected) -> Case {
    let timeout = if matches!(deviation, Stall) { SHORT } else { TIMEOUT };
    Case {
        name,
        behaviour: Behaviour { smtp: Some((at, deviation)), ..Behaviour::default() },
        timeout,
        expected,
    }
}

fn pop(name: &'static str, at: &'static str, deviation: Deviation, expected: Expected) -> Case {
    let timeout = if matches!(deviation, Stall) { SHORT } else { TIMEOUT };
    Case {
        name,
        behaviour: Behaviour { pop: Some((at, deviation)), ..Behaviour::default() },
        timeout,
        expected,
    }
}

fn with_behaviour(name: &'static str, behaviour: Behaviour, timeout: Duration, expected: Expected) -> Case {
    Case { name, behaviour, timeout, expected }
}

fn sending_cases() -> Vec<Case> {
    use Kind::{LoginRejected, NoResponse, ResponseInvalid, TimedOut, UnexpectedReply};
    let deliver = Phase::Submit;
    vec![
        smtp("no service", "CONNECT", Reply("554 no"), Some((3, UnexpectedReply, Phase::Banner, "554 no"))),
        smtp("SMTP closes at once", "CONNECT", Close, Some((6, NoResponse, Phase::Banner, ""))),
        smtp("SMTP stalls at once", "CONNECT", Stall, Some((2, TimedOut, Phase::Banner, ""))),
        smtp(
            "no SMTP",
            "CONNECT",
            Reply("+OK POP3"),
            Some((3, ResponseInvalid, Phase::Banner, "not an SMTP reply")),
        ),
        smtp("busy at EHLO", "EHLO", Reply("421 later"), Some((3, UnexpectedReply, Phase::Ehlo, "421"))),
        smtp("stalls at EHLO", "EHLO", Stall, Some((2, TimedOut, Phase::Ehlo, ""))),
        smtp(
            "sender refused",
            "MAIL",
            Reply("550 not you"),
            Some((3, UnexpectedReply, deliver, "`550 not you`")),
        ),
        smtp("greylisted", "RCPT", Reply("451 later"), Some((3, UnexpectedReply, deliver, "`451 later`"))),
        smtp(
            "no such user",
            "RCPT",
            Reply("550 who?"),
            Some((3, UnexpectedReply, deliver, "RCPT TO:<monitor@vigie.test>")),
        ),
        smtp("closes at RCPT", "RCPT", Close, Some((6, NoResponse, deliver, ""))),
        smtp("stalls at RCPT", "RCPT", Stall, Some((2, TimedOut, deliver, ""))),
        smtp(
            "DATA refused",
            "DATA",
            Reply("554 no"),
            Some((3, UnexpectedReply, deliver, "`DATA` with `554 no`")),
        ),
        smtp("taken for spam", ".", Reply("554 spam"), Some((3, UnexpectedReply, deliver, "`554 spam`"))),
        smtp(
            "put off at the end",
            ".",
            Reply("451 later"),
            Some((3, UnexpectedReply, deliver, "`451 later`")),
        ),
        smtp("closes at the end", ".", Close, Some((6, NoResponse, deliver, ""))),
        smtp("stalls at the end", ".", Stall, Some((2, TimedOut, deliver, ""))),
        smtp("stalls at QUIT, when the message is taken", "QUIT", Stall, None),
        smtp("closes at QUIT, when the message is taken", "QUIT", Close, None),
        with_behaviour(
            "a login that is demanded",
            Behaviour { offer: Some("AUTH PLAIN"), demands_login: true, ..Behaviour::default() },
            TIMEOUT,
            None,
        ),
        with_behaviour(
            "a login that is demanded and not offered",
            Behaviour { demands_login: true, ..Behaviour::default() },
            TIMEOUT,
            Some((3, UnexpectedReply, deliver, "530 5.7.0 log in first")),
        ),
        with_behaviour(
            "a login that is refused and not needed",
            Behaviour {
                offer: Some("AUTH PLAIN"),
                smtp: Some(("AUTH", Reply("535 no"))),
                ..Behaviour::default()
            },
            TIMEOUT,
            None,
        ),
        with_behaviour(
            "a login that is refused and needed",
            Behaviour {
                offer: Some("AUTH PLAIN"),
                smtp: Some(("AUTH", Reply("535 no"))),
                demands_login: true,
                ..Behaviour::default()
            },
            TIMEOUT,
            Some((5, LoginRejected, Phase::Auth, "`535 no`; without a login, it replies to `MAIL")),
        ),
    ]
}

fn fetching_cases() -> Vec<Case> {
    use Kind::{LoginRejected, NoResponse, ResponseInvalid, ResponseTooLarge, TimedOut, UnexpectedReply};
    vec![
        pop("POP3 closes at once", "CONNECT", Close, Some((6, NoResponse, Phase::Banner, ""))),
        pop("POP3 stalls at once", "CONNECT", Stall, Some((2, TimedOut, Phase::Banner, ""))),
        pop("no POP3", "CONNECT", Reply("* OK IMAP"), Some((3, UnexpectedReply, Phase::Banner, "* OK IMAP"))),
        pop("no CAPA", "CAPA", Reply("-ERR what?"), None),
        pop(
            "wrong password",
            "PASS",
            Reply("-ERR [AUTH] no"),
            Some((5, LoginRejected, Phase::Auth, "[AUTH] no")),
        ),
        pop("closes at PASS", "PASS", Close, Some((6, NoResponse, Phase::Auth, ""))),
        pop("stalls at PASS", "PASS", Stall, Some((2, TimedOut, Phase::Auth, ""))),
        pop("STAT refused", "STAT", Reply("-ERR no"), Some((3, UnexpectedReply, Phase::Select, "STAT"))),
        pop("stalls at STAT", "STAT", Stall, Some((2, TimedOut, Phase::Select, ""))),
        pop("no UIDL", "UIDL", Reply("-ERR what?"), None),
        pop("stalls at UIDL", "UIDL", Stall, Some((2, TimedOut, Phase::Select, ""))),
        pop(
            "nonsense for UIDL",
            "UIDL",
            Reply("+OK\r\nnonsense\r\n."),
            Some((3, ResponseInvalid, Phase::Select, "not a line of UIDL")),
        ),
        pop("UIDL without end", "UIDL", Flood("+OK 1 x\r\n"), Some((3, ResponseInvalid, Phase::Select, ""))),
        pop("no TOP", "TOP", Reply("-ERR what?"), None),
        pop("closes at TOP", "TOP", Close, Some((6, NoResponse, Phase::Fetch, ""))),
        pop("stalls at TOP", "TOP", Stall, Some((2, TimedOut, Phase::Fetch, ""))),
        pop("nonsense for TOP", "TOP", Reply("250 ok"), Some((3, UnexpectedReply, Phase::Fetch, "TOP"))),
        pop(
            "RETR refused",
            "RETR",
            Reply("-ERR gone"),
            Some((3, UnexpectedReply, Phase::Fetch, "refuses RETR")),
        ),
        pop(
            "RETR gives another message",
            "RETR",
            Reply("+OK\r\nSubject: other\r\n\r\nx\r\n."),
            Some((3, ResponseInvalid, Phase::Fetch, "another message")),
        ),
        pop(
            "RETR without end",
            "RETR",
            Flood("+OK x\r\n"),
            Some((3, ResponseTooLarge, Phase::Fetch, "1 MiB")),
        ),
        pop("stalls at RETR", "RETR", Stall, Some((2, TimedOut, Phase::Fetch, ""))),
        pop(
            "DELE refused",
            "DELE",
            Reply("-ERR read-only"),
            Some((3, UnexpectedReply, Phase::Delete, "read-only")),
        ),
        pop("closes at DELE", "DELE", Close, Some((6, NoResponse, Phase::Delete, ""))),
        pop("stalls at DELE", "DELE", Stall, Some((2, TimedOut, Phase::Delete, ""))),
        pop(
            "QUIT could not delete",
            "QUIT",
            Reply("-ERR some were not removed"),
            Some((3, UnexpectedReply, Phase::Quit, "not removed")),
        ),
        pop("stalls in UIDL", "UIDL", Reply("+OK"), Some((2, TimedOut, Phase::Select, ""))),
        with_behaviour(
            "arrives late",
            Behaviour { delay: Duration::from_millis(700), ..Behaviour::default() },
            TIMEOUT,
            None,
        ),
        with_behaviour("locked for a while", Behaviour { locked: 2, ..Behaviour::default() }, TIMEOUT, None),
        with_behaviour(
            "never arrives",
            Behaviour { lost: true, ..Behaviour::default() },
            SHORT,
            Some((2, TimedOut, Phase::Transit, "`250 2.0.0 Ok: queued as 4711`), but it did not show up")),
        ),
        with_behaviour(
            "locked all the time",
            Behaviour { locked: 1000, ..Behaviour::default() },
            SHORT,
            Some((2, TimedOut, Phase::Transit, "it could never be opened and found locked")),
        ),
    ]
    .into_iter()
    .map(|case| match case.name {
        "stalls in UIDL" => Case { timeout: SHORT, ..case },
        _ => case,
    })
    .collect()
}

/// Returns how the detail of a failure starts in each phase of sending.
fn sending(_: Phase) -> &'static str {
    "sending by SMTP through `127.0.0.1` failed"
}

/// Returns how the detail of a failure starts in each phase of fetching.
pub fn fetching(phase: Phase) -> &'static str {
    match phase {
        Phase::Transit => "the SMTP server accepted the message at ",
        Phase::Delete | Phase::Quit => "deleting by POP3 at `127.0.0.1` failed",
        _ => "fetching by POP3 from `127.0.0.1` failed",
    }
}

async fn run_cases(cases: Vec<Case>, start_of: fn(Phase) -> &'static str) {
    assert!(cases.len() >= 22, "{}", cases.len());
    let outcomes = join_all(cases.into_iter().map(|case| async move {
        let server = MailServer::start(case.behaviour.clone()).await;
        server.put("Subject: foreign\r\n\r\nstays\r\n");
        let started = Instant::now();
        let observation = Monitor::new(7).attempt_at(&server, case.timeout).await;
        let failure = observation.failure.as_ref();
        let fits = match case.expected {
            None => failure.is_none() && server.deleted().len() == 1,
            Some((status, kind, phase, text)) => failure.is_some_and(|failure| {
                (failure.status().0, failure.kind, failure.phase) == (status, kind, phase)
                    && failure.to_string().contains(text)
                    && failure.detail.starts_with(start_of(phase))
            }),
        };
        let foreign = server.texts().iter().any(|text| text.contains("foreign"));
        let ours = server.deleted().iter().all(|text| text.contains("X-Vigie-Trip: "));
        let trip = observation.facts.round_trip.is_some();
        if fits && foreign && ours && trip {
            return None;
        }
        let reply = transcript(&observation);
        let took = started.elapsed();
        Some(format!("{} ({took:?}): expected {:?}, saw {failure:?}\n{reply}", case.name, case.expected))
    }))
    .await;
    let errors: Vec<String> = outcomes.into_iter().flatten().collect();
    assert!(errors.is_empty(), "{}", errors.join("\n\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_sending_failure_has_its_kind() {
    run_cases(sending_cases(), sending).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_fetching_failure_has_its_kind() {
    run_cases(fetching_cases(), fetching).await;
}

#[tokio::test]
async fn every_session_ends_with_quit() {
    let server =
        MailServer::start(Behaviour { delay: Duration::from_millis(400), locked: 1, ..Behaviour::default() })
            .await;
    let observation = Monitor::new(7).attempt_at(&server, TIMEOUT).await;
    assert_eq!(observation.failure, None);
    let trip = observation.facts.round_trip.unwrap();
    assert_eq!((trip.mailbox_locked_count, trip.deleted_stale_messages), (1, 0));
    assert!(trip.mailbox_polls >= 1 && trip.round_trip_transit_us.unwrap() >= 400_000, "{trip:?}");
    // One session per poll over POP3, and one over SMTP.
    assert_eq!(server.command_count("QUIT"), server.command_count("CONNECT"));
    assert_eq!(server.command_count("RETR"), 1, "foreign mail is not read");
}

#[tokio::test]
async fn only_own_messages_older_than_a_day_are_deleted() {
    let server = MailServer::start(Behaviour { imitated: true, ..Behaviour::default() }).await;
    let now = SystemClock.now();
    let mut monitor = Monitor::new(7);
    let other = Monitor { id: 8, keyring: Arc::clone(&monitor.keyring), now: None };
    let stranger = Monitor::new(7);
    // Left behind two days ago, an hour ago, by another monitor, by another installation.
    for (sender, age) in [(&monitor, 48), (&monitor, 1), (&other, 48), (&stranger, 48)] {
        let source =
            MailServer::start(Behaviour { pop: Some(("DELE", Reply("-ERR no"))), ..Behaviour::default() })
                .await;
        let sent_at = now - Duration::from_hours(age);
        let past = Monitor { id: sender.id, keyring: Arc::clone(&sender.keyring), now: Some(sent_at) };
        past.attempt_at(&source, TIMEOUT).await;
        let [text] = source.texts().try_into().unwrap();
        server.put(&text);
    }
    monitor.keyring.add_key().unwrap();
    monitor.now = Some(now);
    let before = server.texts();
    let observation = monitor.attempt_at(&server, TIMEOUT).await;
    assert_eq!(observation.failure, None);
    assert_eq!(observation.facts.round_trip.unwrap().deleted_stale_messages, 1);
    let deleted = server.deleted();
    assert_eq!(deleted.len(), 2, "{deleted:?}");
    assert!(deleted.contains(&before[0]), "the one of two days ago is left");
    let texts = server.texts();
    assert_eq!(texts.len(), 3 + 6, "{texts:?}");
    assert!(before[1..].iter().all(|text| texts.contains(text)), "something else was deleted");
}

#[tokio::test]
async fn a_large_mailbox_is_searched_from_its_newest_message() {
    let server = MailServer::start(Behaviour::default()).await;
    for number in 0..100_000 {
        server.put(&format!("Subject: {number}\r\n\r\nx\r\n"));
    }
    server.put(&format!("X-Long: {}\r\n\r\nx\r\n", "y".repeat(1024 * 1024)));
    server.put(&format!("X-Long:{}\r\n\r\nx\r\n", "\r\n yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy".repeat(32 * 1024)));
    let started = Instant::now();
    let observation = Monitor::new(7).attempt_at(&server, TIMEOUT).await;
    assert_eq!(observation.failure, None, "{}", transcript(&observation));
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    assert!(server.command_count("TOP") <= 201, "{}", server.command_count("TOP"));
    assert_eq!((server.deleted().len(), server.texts().len()), (1, 100_002));
}

#[tokio::test]
async fn an_overlong_message_does_not_hide_the_own_message() {
    let server =
        MailServer::start(Behaviour { delay: Duration::from_millis(300), ..Behaviour::default() }).await;
    server.put(&format!("X-Long:{}\r\n\r\nx\r\n", "\r\n yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy".repeat(96 * 1024)));
    let observation = Monitor::new(7).attempt_at(&server, TIMEOUT).await;
    assert_eq!(observation.failure, None, "{}", transcript(&observation));
    assert_eq!((server.deleted().len(), server.texts().len()), (1, 1));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// Whatever a mailbox contains, only messages with a valid token are ever deleted.
    #[test]
    fn only_messages_with_a_right_token_are_deleted(
        heads in proptest::collection::vec("(X-Vigie-Trip: ?[0-9]{16}\\.[0-9a-f]{16}\\.[0-9a-f]{64}|[A-Z][a-z-]{1,8}: [ -~]{0,40}|x-vigie-TRIP:[ -~]{0,30}|\\.[ -~]{0,9}|[ -~]{0,30})", 0..30),
        imitated in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        runtime.block_on(async {
            let server = MailServer::start(Behaviour { imitated, ..Behaviour::default() }).await;
            for head in &heads {
                server.put(&format!("{head}\r\n\r\n.body\r\n"));
            }
            let observation = Monitor::new(7).attempt_at(&server, TIMEOUT).await;
            assert_eq!(observation.failure, None);
            let own = observation.facts.round_trip.unwrap().message_id;
            let deleted = server.deleted();
            assert_eq!(deleted.len(), 1, "{deleted:?}");
            assert!(deleted[0].contains(&format!("Message-ID: <{own}>")), "{deleted:?}");
            assert_eq!(server.texts().len(), heads.len() + if imitated { 6 } else { 0 });
        });
    }
}

#[test]
fn the_target_of_a_round_trip_is_its_smtp_server() {
    let Value::Object(fields) = json!({
        "smtp_hostname": "smtps://out.test", "pop3_hostname": "in.test", "email": "a@in.test",
    }) else {
        unreachable!()
    };
    let document = MonitorDocument::new(MonitorType::EmailRoundTrip, fields).unwrap();
    assert_eq!(build_probe(&document, &ProbeBuildContext::default()).0.target_host(), Some("out.test"));
}

/// Returns `text` with values that differ from run to run masked.
fn masked(text: &str) -> String {
    let mut masked = text.to_owned();
    for (pattern, replacement) in [
        (r"[0-9]{16}\.[0-9a-f]{16}\.[0-9a-f]{64}", "TOKEN"),
        (r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z", "TIME"),
        (r"in [0-9]+\.[0-9] s;", "in N s;"),
        (r"polled ([0-9]+ times|once)", "polled N times"),
        (r"127\.0\.0\.1:[0-9]+", "HOST"),
        (r"<[0-9a-f.]+@[^>]*>", "<STAMP>"),
        (r"queued as [0-9A-Z]+", "queued as ID"),
        (r"[0-9]+ bytes of a message", "N bytes of a message"),
        (r"a message of [0-9]+ bytes", "a message of N bytes"),
        (r"SIZE=[0-9]+", "SIZE=N"),
        (r"\+OK [0-9]+ [0-9]+", "+OK N N"),
        (r#""mailbox_bytes": [0-9]+"#, r#""mailbox_bytes": N"#),
    ] {
        masked = regex::Regex::new(pattern).unwrap().replace_all(&masked, replacement).into_owned();
    }
    masked
}

#[tokio::test]
async fn goldens() {
    let fine = MailServer::start(Behaviour::default()).await;
    let observation = Monitor::new(7).attempt_at(&fine, TIMEOUT).await;
    insta::assert_snapshot!("round_trip_passes", masked(&golden(&observation)));
    let lost = MailServer::start(Behaviour { lost: true, ..Behaviour::default() }).await;
    let observation = Monitor::new(7).attempt_at(&lost, SHORT).await;
    insta::assert_snapshot!("round_trip_never_arrives", masked(&golden(&observation)));
    let full =
        MailServer::start(Behaviour { smtp: Some(("RCPT", Reply("452 full"))), ..Behaviour::default() })
            .await;
    let observation = Monitor::new(7).attempt_at(&full, TIMEOUT).await;
    insta::assert_snapshot!("round_trip_cannot_send", masked(&golden(&observation)));
    let closed =
        MailServer::start(Behaviour { pop: Some(("PASS", Reply("-ERR [AUTH] no"))), ..Behaviour::default() })
            .await;
    let observation = Monitor::new(7).attempt_at(&closed, TIMEOUT).await;
    insta::assert_snapshot!("round_trip_cannot_fetch", masked(&golden(&observation)));
}
