//! The table of misbehaving servers: what each does, and how the probe classifies it.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use serde_json::{Value, json};
use vigie::domain::FailureKind::*;
use vigie::domain::MonitorType::{Ftp, FtpSsl};
use vigie::domain::{FailureKind as Kind, MonitorType, Phase as P};

use crate::probe_ftp::check::{attempt, config, fields, transcript};
use crate::probe_ftp::server::{Act, Rules, Server, send, send_and_close};
use crate::probe_ftp::sessions::BOTH;
use crate::support::tls_server::{self, Authority, Identity, self_signed};

/// One server and the expected status, kind, phase and a part of the text.
struct Case {
    name: String,
    kind: MonitorType,
    fields: Value,
    rules: Rules,
    timeout: Duration,
    expect: (u16, Kind, P, &'static str),
    /// Commands that must come last, for sessions that clean up.
    ends: &'static str,
}

impl Case {
    fn stalls(mut self) -> Self {
        self.timeout = Duration::from_millis(1500);
        self
    }

    fn ends(mut self, commands: &'static str) -> Self {
        self.ends = commands;
        self
    }

    async fn run(self, authority: &str) -> Result<(), String> {
        let server = Server::start(self.rules).await;
        let monitor_fields = fields(server.address, self.fields);
        let observation = attempt(&config(Some(authority)), self.kind, monitor_fields, self.timeout).await;
        let Some(failure) = &observation.failure else { return Err(format!("{}: it passed", self.name)) };
        let found = (failure.status().0, failure.kind, failure.phase);
        let (status, kind, phase, text) = self.expect;
        let commands = server.commands().join(" ");
        if found == (status, kind, phase)
            && failure.detail.contains(text)
            && commands.ends_with(self.ends)
            && failure.detail.len() < 700
        {
            return Ok(());
        }
        Err(format!(
            "{}: expected {:?}, found {found:?} `{}` after `{commands}`\n{}",
            self.name,
            self.expect,
            failure.detail,
            transcript(&observation)
        ))
    }
}

fn case(name: impl Into<String>, step: &'static str, act: Act, expect: (u16, Kind, P, &'static str)) -> Case {
    let rules = Rules::default().with_act(step, act);
    let timeout = Duration::from_secs(20);
    Case { name: name.into(), kind: Ftp, fields: json!({}), rules, timeout, expect, ends: "" }
}

fn uploading(
    name: impl Into<String>,
    step: &'static str,
    act: Act,
    expect: (u16, Kind, P, &'static str),
) -> Case {
    Case { fields: json!({"enable_ftp_upload": true}), ..case(name, step, act, expect) }
}

/// Every step of a session with its phase, and whether it occurs in uploads only.
const STEPS: &[(&str, P, bool)] = &[
    ("greeting", P::Banner, false),
    ("USER", P::Auth, false),
    ("PASS", P::Auth, false),
    ("EPSV", P::OpenDataConnection, false),
    ("LIST", P::List, false),
    ("data", P::List, false),
    ("LIST done", P::List, false),
    ("TYPE", P::Upload, true),
    ("STOR", P::Upload, true),
    ("STOR done", P::Upload, true),
    ("RETR", P::Download, true),
    ("RETR done", P::Download, true),
    ("DELE", P::Delete, true),
];

fn at_each_step() -> Vec<Case> {
    let mut cases = Vec::new();
    for &(step, phase, uploads) in STEPS {
        let with = |name: &str, act: Act, expect| Case {
            fields: json!({"enable_ftp_upload": uploads}),
            ..case(format!("{name} at {step}"), step, act, expect)
        };
        let stalled = "no data within";
        cases.push(with("stall", Act::Stall, (2, TimedOut, phase, stalled)).stalls());
        if step == "data" {
            continue;
        }
        cases.push(with("close", send_and_close(""), (6, NoResponse, phase, "")));
        cases.push(with(
            "half a line",
            send_and_close("22"),
            (3, ResponseTruncated, phase, "closed after 2 bytes"),
        ));
        let garbage = "expected a reply that starts with three digits, got `";
        cases.push(with("garbage", send(b"\x00\xff\x80 \x1b[2J\r\n"), (3, UnexpectedReply, phase, garbage)));
        let line = Act::Endless(b"2");
        cases.push(with("a line without end", line, (3, ResponseTooLarge, phase, "more than")));
        let lines = Act::Endless(b"220-and on\r\n");
        cases.push(with("lines without end", lines, (3, ResponseTooLarge, phase, "more than")));
        let shutdown = send_and_close("421 shutting down\r\n");
        cases.push(with("421", shutdown, (3, UnexpectedReply, phase, "421 shutting down")));
        // PASV follows after this; see below.
        if step != "EPSV" {
            let kind = if phase == P::Auth { LoginRejected } else { UnexpectedReply };
            let status = if phase == P::Auth { 5 } else { 3 };
            cases.push(with(
                "5xx",
                send("550 no such thing\r\n"),
                (status, kind, phase, "550 no such thing"),
            ));
            let later = send("451 local error\r\n");
            cases.push(with("4xx", later, (3, UnexpectedReply, phase, "451 local error")));
        }
    }
    cases
}

fn logins() -> Vec<Case> {
    let refused = |text| (5, LoginRejected, P::Auth, text);
    vec![
        case(
            "530",
            "PASS",
            send("530 Login incorrect.\r\n"),
            refused("it replies to `PASS` with `530 Login inc"),
        ),
        case("430", "PASS", send("430 wrong\r\n"), refused("it replies to `PASS` with `430 wrong`")),
        case("user refused", "USER", send("530 no anonymous\r\n"), refused("it replies to `USER` with `530")),
        case("an account", "USER", send("332 which account?\r\n"), refused("it replies to `USER` with `332")),
        case("an account then", "PASS", send("332 account?\r\n"), refused("it replies to `PASS` with `332")),
        case("the password", "PASS", send("530 s3cret-pw is wrong\r\n"), refused("`530 ******** is wrong`")),
        case(
            "a banner of SSH",
            "greeting",
            send("SSH-2.0-x\r\n"),
            (3, UnexpectedReply, P::Banner, "`SSH-2.0-x`"),
        ),
        case(
            "a busy server",
            "greeting",
            send_and_close("421 too many\r\n"),
            (3, UnexpectedReply, P::Banner, "`421 too many`"),
        ),
        case(
            "120 and no more",
            "greeting",
            send("120 in 5 minutes\r\n"),
            (2, TimedOut, P::Banner, "no data within"),
        )
        .stalls(),
    ]
}

fn data_connections() -> Vec<Case> {
    let passive = |kind, status, text| (status, kind, P::OpenDataConnection, text);
    let no_port = passive(ResponseInvalid, 3, "contains no port");
    let refuses = Rules::default().with_act("EPSV", send("502 no\r\n"));
    let pasv = |name: &str, act: Act, expect| {
        let refused = case(name, "PASV", act, expect);
        Case {
            rules: Rules {
                steps: refused.rules.steps.into_iter().chain(refuses.steps.clone()).collect(),
                ..Rules::default()
            },
            ..refused
        }
    };
    vec![
        case("229 without a port", "EPSV", send("229 ok\r\n"), no_port),
        case("229 with port 0", "EPSV", send("229 (|||0|)\r\n"), no_port),
        case("229 with port 99999", "EPSV", send("229 (|||99999|)\r\n"), no_port),
        case(
            "227 to EPSV",
            "EPSV",
            send("227 (127,0,0,1,1,1)\r\n"),
            passive(UnexpectedReply, 3, "`EPSV` with `227"),
        ),
        Case {
            rules: Rules::default()
                .with_act("EPSV", send("229 (|||1|)\r\n"))
                .with_act("PASV", send("227 (127,0,0,1,0,2)\r\n")),
            ..case(
                "data refused twice",
                "EPSV",
                send(""),
                passive(ConnectRefused, 1, "before, by EPSV, on the data connection: 127.0.0.1:1"),
            )
        },
        Case {
            rules: Rules::default()
                .with_act("EPSV", send("229 (|||1|)\r\n"))
                .with_act("PASV", send("502 no\r\n")),
            ..case(
                "data refused, and no PASV",
                "EPSV",
                send(""),
                passive(ConnectRefused, 1, "on the data connection: 127.0.0.1:1"),
            )
        },
        pasv("both refused", send("502 no\r\n"), passive(UnexpectedReply, 3, "`PASV` with `502 no`")),
        pasv("227 without numbers", send("227 ok\r\n"), no_port),
        pasv("227 with 999", send("227 (999,0,0,1,1,1)\r\n"), no_port),
        pasv("227 with port 0", send("227 (127,0,0,1,0,0)\r\n"), no_port),
        // To the address of the control connection, where that port is closed.
        pasv(
            "227 to another host",
            send("227 (192,0,2,1,0,1)\r\n"),
            passive(ConnectRefused, 1, "127.0.0.1:1"),
        ),
        pasv("PASV stalls", Act::Stall, passive(TimedOut, 2, "no data within")).stalls(),
        case(
            "425",
            "LIST",
            send("425 no data connection\r\n"),
            (3, UnexpectedReply, P::List, "`425 no data"),
        ),
        case("426", "LIST done", send("426 aborted\r\n"), (3, UnexpectedReply, P::List, "`426 aborted`")),
        case("551", "LIST done", send("551 page type\r\n"), (3, UnexpectedReply, P::List, "`551 page type`")),
        case(
            "a list without end",
            "data",
            Act::Endless(b"-rw-r--r-- 1 a a 1 x\r\n"),
            (3, ResponseTooLarge, P::List, "its list has more than 8388608 bytes"),
        ),
        case(
            "one name without end",
            "data",
            Act::Endless(b"x"),
            (3, ResponseTooLarge, P::List, "its list has more than"),
        ),
    ]
}

fn uploads() -> Vec<Case> {
    let upload = |text| (3, UnexpectedReply, P::Upload, text);
    let differs = |text| (5, FileDiffers, P::Download, text);
    vec![
        uploading("553", "STOR", send("553 not allowed\r\n"), upload("`STOR` with `553 not"))
            .ends("EPSV STOR"),
        uploading("552", "STOR done", send("552 disk full\r\n"), upload("`552 disk full`")).ends("STOR DELE"),
        uploading("452", "STOR", send("452 no space\r\n"), upload("`452 no space`")).ends("EPSV STOR"),
        uploading(
            "data reset",
            "STOR data",
            Act::Close,
            (5, FileDiffers, P::Download, "1024 bytes were uploaded, 0 bytes were downloaded"),
        )
        .ends("RETR DELE"),
        uploading(
            "another file",
            "RETR data",
            send("other"),
            differs("1024 bytes were uploaded, 5 bytes were downloaded; the first difference is at byte 0"),
        )
        .ends("RETR DELE"),
        uploading("no file", "RETR data", send(""), differs("0 bytes were downloaded")).ends("RETR DELE"),
        uploading(
            "a file without end",
            "RETR data",
            Act::Endless(b"\x00"),
            differs("more than 1024 bytes were downloaded"),
        )
        .ends("RETR DELE"),
        uploading(
            "a download that stalls",
            "RETR data",
            Act::Stall,
            (2, TimedOut, P::Download, "no data within 1.2 s"),
        )
        .stalls(),
        uploading(
            "deleted by nobody",
            "DELE",
            send("550 denied\r\n"),
            (3, UnexpectedReply, P::Delete, "may have been left there: the target replied differently than expected: it replies to `DELE` with `550 denied`"),
        )
        .ends("RETR DELE"),
        uploading("type refused", "TYPE", send("504 no\r\n"), upload("`TYPE` with `504 no`"))
            .ends("LIST TYPE"),
    ]
}

fn tls_of(identity: &Identity) -> Rules {
    Rules { tls: Some(Arc::new(tls_server::config(identity, BOTH, None))), ..Rules::default() }
}

fn secure(name: &str, rules: Rules, expect: (u16, Kind, P, &'static str)) -> Case {
    Case { kind: FtpSsl, rules, ..case(name, "none", Act::Close, expect) }
}

fn encryption(authority: &Authority) -> Vec<Case> {
    let good = || tls_of(&authority.issue(&["127.0.0.1"], (2020, 2090)));
    let other = Authority::new("other CA");
    let starttls = |kind, status, text| (status, kind, P::Starttls, text);
    let injected = send("234 go on\r\n230 you are in\r\n");
    let data_tls = |identity: &Identity| Rules { data_tls: tls_of(identity).tls, ..good() };
    let two = (
        3,
        CertificateNameMismatch,
        P::OpenDataConnection,
        "on the data connection: asked for `127.0.0.1`, the certificate is for b.test",
    );
    vec![
        secure(
            "AUTH refused",
            good().with_act("AUTH", send("502 no TLS\r\n")),
            starttls(TlsNotOffered, 5, "`AUTH TLS` with `502 no TLS`"),
        ),
        secure(
            "AUTH not now",
            good().with_act("AUTH", send("431 later\r\n")),
            starttls(UnexpectedReply, 3, "`431 later`"),
        ),
        secure("AUTH closed", good().with_act("AUTH", send_and_close("")), starttls(NoResponse, 6, "")),
        secure("AUTH stalls", good().with_act("AUTH", Act::Stall), starttls(TimedOut, 2, "no data within"))
            .stalls(),
        secure(
            "bytes before TLS",
            good().with_act("AUTH", injected),
            (
                3,
                UnexpectedReply,
                P::Tls,
                "it sent 16 bytes in plain text before the TLS handshake; they were discarded",
            ),
        ),
        secure(
            "no TLS after 234",
            good().with_act("AUTH", send_and_close("234 go on\r\n")),
            (3, TlsHandshakeFailed, P::Tls, "closed the connection during the handshake"),
        ),
        secure(
            "PBSZ refused",
            good().with_act("PBSZ", send("503 no\r\n")),
            starttls(UnexpectedReply, 3, "`PBSZ` with `503 no`"),
        ),
        secure(
            "PROT refused",
            good().with_act("PROT", send("536 no\r\n")),
            starttls(UnexpectedReply, 3, "`PROT` with `536 no`"),
        ),
        secure("PROT stalls", good().with_act("PROT", Act::Stall), starttls(TimedOut, 2, "no data within"))
            .stalls(),
        secure("PROT closes", good().with_act("PROT", send_and_close("")), starttls(NoResponse, 6, "")),
        secure(
            "expired",
            tls_of(&authority.issue(&["127.0.0.1"], (2020, 2021))),
            (5, CertificateExpired, P::Tls, "expired at 2021"),
        ),
        secure(
            "another name",
            tls_of(&authority.issue(&["a.test"], (2020, 2090))),
            (3, CertificateNameMismatch, P::Tls, "a.test"),
        ),
        secure(
            "unknown CA",
            tls_of(&other.issue(&["127.0.0.1"], (2020, 2090))),
            (3, CertificateIssuerUnknown, P::Tls, "not trusted"),
        ),
        secure(
            "self-signed",
            tls_of(&self_signed(&["127.0.0.1"], false)),
            (3, CertificateIssuerUnknown, P::Tls, "self-signed"),
        ),
        secure("another certificate for data", data_tls(&authority.issue(&["b.test"], (2020, 2090))), two),
        secure(
            "data in plain text",
            good().with_act("data tls", send("-rw a\r\n")),
            (3, TlsHandshakeFailed, P::OpenDataConnection, "on the data connection: "),
        ),
        secure(
            "TLS of data stalls",
            good().with_act("data tls", Act::Stall),
            (2, TimedOut, P::OpenDataConnection, "on the data connection: no data within"),
        )
        .stalls(),
        secure(
            "522 for data",
            good().with_act("LIST", send("522 data must be encrypted\r\n")),
            (3, UnexpectedReply, P::List, "522 data must"),
        ),
        Case {
            kind: FtpSsl,
            fields: json!({"hostname": "ftps://127.0.0.1"}),
            ..secure("plain where TLS is meant", Rules::default(), (3, TlsHandshakeFailed, P::Tls, ""))
        },
        Case {
            kind: Ftp,
            ..secure(
                "TLS where plain is meant",
                Rules { implicit: true, ..good() },
                (2, TimedOut, P::Banner, "no data within"),
            )
        }
        .stalls(),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn every_misbehaving_server_gets_its_status_phase_and_text() {
    let authority = Authority::new("test CA");
    let mut cases = at_each_step();
    cases.extend(logins());
    cases.extend(data_connections());
    cases.extend(uploads());
    cases.extend(encryption(&authority));
    assert!(cases.len() > 100, "{}", cases.len());
    let pem = authority.pem();
    let outcomes = futures::stream::iter(cases).map(|case| case.run(&pem)).buffer_unordered(8);
    let errors: Vec<String> = outcomes.filter_map(async |outcome| outcome.err()).collect().await;
    assert!(errors.is_empty(), "{} of the table:\n{}", errors.len(), errors.join("\n"));
}
