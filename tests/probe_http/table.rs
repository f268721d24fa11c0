//! The table of target behaviours: what a target does, and how the probe classifies it.

use std::time::Duration;

use futures::StreamExt;
use serde_json::{Value, json};
use vigie::domain::{FailureKind as Kind, Phase, WarningKind};

use crate::probe_http::check::Check;
use crate::probe_http::check::Expect::{self, Fails, Passes, Warns};
use crate::probe_http::server::{Act, Server, page, redirect, respond, send, with_headers};
use crate::support::alone::alone;

/// One behaviour: its name, a script per connection, fields of the monitor, the expected result.
struct Case {
    name: &'static str,
    scripts: Vec<Vec<Act>>,
    fields: Value,
    timeout: Duration,
    expect: Expect,
}

fn case(name: &'static str, script: Vec<Act>, expect: Expect) -> Case {
    Case { name, scripts: vec![script], fields: json!({}), timeout: Duration::from_secs(20), expect }
}

impl Case {
    fn fields(mut self, fields: Value) -> Self {
        self.fields = fields;
        self
    }

    fn then(mut self, script: Vec<Act>) -> Self {
        self.scripts.push(script);
        self
    }

    /// Shortens the timeout, which ends the attempt at a target that stalls.
    fn stalls(mut self) -> Self {
        self.timeout = Duration::from_secs(1);
        self
    }

    async fn run(self) -> Result<(), String> {
        let server = Server::start(self.scripts).await;
        let check = Check::new(&server.url("/")).with(self.fields).within(self.timeout);
        let observation = check.run().await;
        self.expect.compare(&observation).map_err(|difference| format!("{}: {difference}", self.name))
    }
}

const FIRST_BYTE: Option<Phase> = Some(Phase::FirstByte);
const TRANSFER: Option<Phase> = Some(Phase::Transfer);
const VALIDATE: Option<Phase> = Some(Phase::Validate);

fn invalid() -> Expect {
    Fails(3, Kind::ResponseInvalid, TRANSFER)
}

fn truncated() -> Expect {
    Fails(3, Kind::ResponseTruncated, TRANSFER)
}

fn too_large() -> Expect {
    Fails(3, Kind::ResponseTooLarge, TRANSFER)
}

/// Returns `count` header lines.
fn fields(count: usize) -> String {
    (0..count).map(|n| format!("X-Field-{n}: {n}\r\n")).collect::<Vec<_>>().concat()
}

fn valid_responses() -> Vec<Case> {
    let many = fields(120);
    let wide = format!("X-Wide: {}\r\n", "w".repeat(60_000));
    vec![
        case("content length", respond(page("hello")), Passes),
        case(
            "chunked",
            respond("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"),
            Passes,
        ),
        case(
            "chunks with extensions and trailers",
            respond(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nX-T: 1\r\n\r\n",
            ),
            Passes,
        ),
        case("ended by closing", respond("HTTP/1.1 200 OK\r\n\r\nhello"), Passes),
        case("HTTP/1.0", respond("HTTP/1.0 200 OK\r\n\r\nhello"), Passes),
        case("no reason phrase", respond("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n"), Passes),
        case("204", respond("HTTP/1.1 204 No Content\r\n\r\n"), Passes),
        case("100 first", respond([b"HTTP/1.1 100 Continue\r\n\r\n", &*page("x")].concat()), Passes),
        case(
            "103 first",
            respond([b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", &*page("x")].concat()),
            Passes,
        ),
        case("byte by byte", vec![Act::Request, Act::Drip(page("hello"), Duration::from_millis(1))], Passes),
        case("answer before the request", vec![send(page("hello"))], Passes),
        case("answer and stall", vec![Act::Request, send(page("hello")), Act::Stall], Passes),
        case("answer and reset after a length", vec![Act::Request, send(page("hello")), Act::Stall], Passes),
        case("bytes after the end", respond([&*page("hello"), b"more"].concat()), Passes),
        case("a space before the colon", respond("HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok"), Passes),
        case(
            "a folded field",
            respond("HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 2\r\n\r\nok"),
            Passes,
        ),
        case("HTTP/1.2", respond("HTTP/1.2 200 OK\r\nContent-Length: 2\r\n\r\nok"), Passes),
        case(
            "chunks in HTTP/1.0",
            respond("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
            Passes,
        )
        .fields(json!({"keyword_string": "ok"})),
        case("bare line feeds", respond("HTTP/1.1 200 OK\nContent-Length: 2\n\nok"), Passes),
        case("an empty line first", respond([b"\r\n", &*page("x")].concat()), Passes),
        case(
            "the same length twice",
            respond("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok"),
            Passes,
        ),
        case("120 fields", respond(with_headers(&many, "x")), Passes),
        case("a field of 60,000 bytes", respond(with_headers(&wide, "x")), Passes),
        case("HEAD", respond("HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"), Passes)
            .fields(json!({"http_method": "HEAD"})),
        case("POST", respond(page("x")), Passes).fields(json!({"http_method": "POST", "post_body": "a=b"})),
        case("HTTP/1.0 asked", respond(page("x")), Passes).fields(json!({"http_version": "1.0"})),
        case("a body of 1 MiB", respond(page(vec![b'x'; 1024 * 1024])), Passes),
    ]
}

fn endings() -> Vec<Case> {
    let half = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf";
    let half_head = b"HTTP/1.1 200 OK\r\nContent-Le";
    let half_chunk = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nhalf";
    let timed_out = |phase| Fails(2, Kind::TimedOut, phase);
    vec![
        case("closes at once", vec![], Fails(6, Kind::NoResponse, FIRST_BYTE)),
        case("closes after the request", vec![Act::Request], Fails(6, Kind::NoResponse, FIRST_BYTE)),
        case(
            "resets after the request",
            vec![Act::Request, Act::Reset],
            Fails(6, Kind::ResponseReset, FIRST_BYTE),
        ),
        case("stalls at once", vec![Act::Stall], timed_out(FIRST_BYTE)).stalls(),
        case("stalls after the request", vec![Act::Request, Act::Stall], timed_out(FIRST_BYTE)).stalls(),
        case(
            "stalls in the status line",
            vec![Act::Request, send("HTTP/1."), Act::Stall],
            timed_out(TRANSFER),
        )
        .stalls(),
        case("stalls in the head", vec![Act::Request, send(half_head), Act::Stall], timed_out(TRANSFER))
            .stalls(),
        case("stalls in the body", vec![Act::Request, send(half), Act::Stall], timed_out(TRANSFER)).stalls(),
        case("stalls in a chunk", vec![Act::Request, send(half_chunk), Act::Stall], timed_out(TRANSFER))
            .stalls(),
        case(
            "stalls after 100",
            vec![Act::Request, send("HTTP/1.1 100 Continue\r\n\r\n"), Act::Stall],
            timed_out(TRANSFER),
        )
        .stalls(),
        case(
            "drips too slowly",
            vec![Act::Request, Act::Drip(page("x"), Duration::from_millis(100))],
            timed_out(TRANSFER),
        )
        .stalls(),
        case("closes in the status line", respond("HTTP/1."), truncated()),
        case("closes in the head", respond(half_head), truncated()),
        case("closes in the body", respond(half), truncated()),
        case("closes in a chunk", respond(half_chunk), truncated()),
        case(
            "closes before the last chunk",
            respond("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"),
            truncated(),
        ),
        case("closes after 100", respond("HTTP/1.1 100 Continue\r\n\r\n"), truncated()),
        case(
            "resets in the head",
            vec![Act::Request, send(half_head), Act::Reset],
            Expect::Fails(3, Kind::ResponseTruncated, None),
        ),
        case(
            "resets in the body",
            vec![Act::Request, send(half), Act::Reset],
            Expect::Fails(3, Kind::ResponseTruncated, None),
        ),
        case(
            "resets a body without length",
            vec![Act::Request, send("HTTP/1.1 200 OK\r\n\r\nhalf"), Act::Reset],
            truncated(),
        ),
    ]
}

fn floods() -> Vec<Case> {
    let many = fields(400);
    let endless =
        |head: &str, more: &str| vec![Act::Request, send(head), Act::Endless(more.repeat(1000).into_bytes())];
    vec![
        case("fields without end", endless("HTTP/1.1 200 OK\r\n", "X-More: and more\r\n"), too_large()),
        case("a field without end", endless("HTTP/1.1 200 OK\r\nX-More: ", "and more"), too_large()),
        case("a status line without end", endless("HTTP/1.1 200 ", "O"), too_large()),
        case("400 fields", respond(with_headers(&many, "x")), too_large()),
        case("a body without end", endless("HTTP/1.1 200 OK\r\n\r\n", "more"), too_large()),
        case(
            "chunks without end",
            endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "4\r\nmore\r\n"),
            too_large(),
        ),
        case(
            "a chunk without end",
            endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n", "more"),
            too_large(),
        ),
        case(
            "a length of a terabyte",
            endless("HTTP/1.1 200 OK\r\nContent-Length: 1099511627776\r\n\r\n", "more"),
            too_large(),
        ),
        case(
            "trailers without end",
            endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "X-More: and more\r\n"),
            Fails(3, Kind::ResponseInvalid, TRANSFER),
        ),
        case("100 without end", endless("", "HTTP/1.1 100 Continue\r\n\r\n"), too_large()),
        case(
            "an error page without end",
            endless("HTTP/1.1 500 Oops\r\n\r\n", "more"),
            Fails(7, Kind::HttpErrorStatus, VALIDATE),
        ),
    ]
}

fn nonsense() -> Vec<Case> {
    let head = |line: &str| respond(format!("HTTP/1.1 200 OK\r\n{line}\r\n\r\nok"));
    let chunks =
        |chunks: &str| respond(format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}"));
    vec![
        case("HTTP/0.9", respond("<html>hello</html>"), invalid()),
        case("an SSH banner", vec![send("SSH-2.0-OpenSSH_9.2\r\n"), Act::Stall], invalid()),
        case("an SMTP banner", vec![send("220 mail.test ESMTP\r\n"), Act::Stall], invalid()),
        case("zeros", respond([0; 64]), invalid()),
        case("a TLS alert", respond(b"\x15\x03\x01\x00\x02\x02\x46"), invalid()),
        case("HTTP/2 frames", respond(b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"), invalid()),
        case("HTTP/9.9", respond("HTTP/9.9 200 OK\r\n\r\n"), invalid()),
        case("ICY", respond("ICY 200 OK\r\n\r\n"), invalid()),
        case("a status of letters", respond("HTTP/1.1 abc OK\r\n\r\n"), invalid()),
        case("a status of two digits", respond("HTTP/1.1 20 OK\r\n\r\n"), invalid()),
        case("a status of 0", respond("HTTP/1.1 000 OK\r\n\r\n"), invalid()),
        case("a field without colon", head("Nonsense"), invalid()),
        case("a zero in a field", head("X: a\0b"), invalid()),
        case("two lengths", head("Content-Length: 2\r\nContent-Length: 3"), invalid()),
        case("a negative length", head("Content-Length: -1"), invalid()),
        case("a length of letters", head("Content-Length: two"), invalid()),
        case("a length beyond 64 bits", head("Content-Length: 99999999999999999999"), invalid()),
        case("a chunk size of letters", chunks("zz\r\nok\r\n0\r\n\r\n"), invalid()),
        case("a chunk size beyond 64 bits", chunks("fffffffffffffffff\r\nok\r\n"), invalid()),
        case("a chunk without its end", chunks("2\r\nokno\r\n0\r\n\r\n"), invalid()),
        case(
            "a chunk extension without end",
            vec![
                Act::Request,
                send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;"),
                Act::Endless(vec![b'x'; 4096]),
            ],
            invalid(),
        ),
        case(
            "101 unasked",
            respond("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
            Fails(3, Kind::ResponseInvalid, None),
        ),
    ]
}

fn statuses() -> Vec<Case> {
    let status = |line: &str| respond(format!("HTTP/1.1 {line}\r\nContent-Length: 2\r\n\r\nno"));
    let basic =
        || respond("HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n");
    let digest = || {
        respond(
            "HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm=\"x\", nonce=\"y\"\r\nContent-Length: 0\r\n\r\n",
        )
    };
    let negotiate = || respond("HTTP/1.1 401 No\r\nWWW-Authenticate: Negotiate\r\nContent-Length: 0\r\n\r\n");
    let login = || json!({"realm_userid": "me", "realm_password": "secret"});
    let error = Fails(7, Kind::HttpErrorStatus, VALIDATE);
    let refused = Fails(5, Kind::LoginRejected, VALIDATE);
    vec![
        case("404", status("404 Not Found"), error),
        case("500", status("500 Oops"), error),
        case(
            "503 and stall",
            vec![Act::Request, send("HTTP/1.1 503 No\r\nContent-Length: 9\r\n\r\n"), Act::Stall],
            error,
        )
        .stalls(),
        case("599", status("599 Odd"), error),
        case("999", status("999 Denied"), error),
        case("299", status("299 Odd"), Passes),
        case("304", respond("HTTP/1.1 304 Not Modified\r\n\r\n"), Warns(WarningKind::RedirectNotFollowed)),
        case("300", status("300 Many"), Warns(WarningKind::RedirectNotFollowed)),
        case("401", status("401 Who"), error),
        case("401 allowed", status("401 Who"), Passes).fields(json!({"http_401_is_error": false})),
        case("403 with 401 allowed", status("403 No"), error).fields(json!({"http_401_is_error": false})),
        case("401, then let in", basic(), Passes).then(respond(page("in"))).fields(login()),
        case("401 without challenge, then let in", status("401 Who"), Passes)
            .then(respond(page("in")))
            .fields(login()),
        case("401 again after the login", basic(), refused).fields(login()),
        case("401 after the login, though 401 is allowed", basic(), refused)
            .fields(json!({"realm_userid": "me", "realm_password": "secret", "http_401_is_error": false})),
        case("401 with Digest, then let in", digest(), Passes).then(respond(page("in"))).fields(login()),
        case("401 again after Digest", digest(), refused).fields(login()),
        case("401 with a login that is not spoken", negotiate(), Fails(95, Kind::ProbeUnsupported, VALIDATE))
            .fields(login()),
        case("407", status("407 Proxy"), error),
    ]
}

fn redirects() -> Vec<Case> {
    let to = |status, to: &str| respond(redirect(status, to));
    let invalid = || Fails(3, Kind::RedirectInvalid, VALIDATE);
    let ten = (0..9).fold(case("ten redirects", to(302, "/1"), Passes), |case, _| case.then(to(302, "/2")));
    vec![
        case("301 to a page", to(301, "/next"), Passes).then(respond(page("x"))),
        case(
            "a redirect with an endless body",
            vec![
                Act::Request,
                send("HTTP/1.1 302 Go\r\nLocation: /next\r\n\r\n"),
                Act::Endless(vec![b'x'; 4096]),
            ],
            Passes,
        )
        .then(respond(page("x"))),
        case(
            "a redirect that stalls in its body",
            vec![
                Act::Request,
                send("HTTP/1.1 302 Go\r\nLocation: /next\r\nContent-Length: 9\r\n\r\n"),
                Act::Stall,
            ],
            Passes,
        )
        .then(respond(page("x"))),
        ten.then(respond(page("x"))),
        case("a loop", to(302, "/"), Fails(3, Kind::RedirectLoop, VALIDATE)),
        case("not followed", to(302, "/next"), Warns(WarningKind::RedirectNotFollowed))
            .fields(json!({"http_follow_redirects": false})),
        case("302 forbidden", to(302, "/next"), Fails(7, Kind::Http302Forbidden, VALIDATE))
            .fields(json!({"http_302_is_error": true})),
        case("302 forbidden and not followed", to(302, "/next"), Fails(7, Kind::Http302Forbidden, VALIDATE))
            .fields(json!({"http_302_is_error": true, "http_follow_redirects": false})),
        case(
            "302 forbidden, later in the chain",
            to(301, "/next"),
            Fails(7, Kind::Http302Forbidden, VALIDATE),
        )
        .then(to(302, "/more"))
        .fields(json!({"http_302_is_error": true})),
        case("301 with 302 forbidden", to(301, "/next"), Passes)
            .then(respond(page("x")))
            .fields(json!({"http_302_is_error": true})),
        case("no Location", respond("HTTP/1.1 302 Go\r\nContent-Length: 0\r\n\r\n"), invalid()),
        case("a Location that is not a URL", to(302, "http://[::1"), invalid()),
        case("a Location to ftp", to(302, "ftp://127.0.0.1/"), invalid()),
        case("a Location to script", to(302, "javascript:alert(1)"), invalid()),
        case(
            "to a denied address",
            to(302, "http://169.254.169.254/latest"),
            Fails(95, Kind::EgressDenied, Some(Phase::Connect)),
        ),
        case(
            "to a denied address in IPv6 clothes",
            to(302, "http://[::ffff:169.254.169.254]/"),
            Fails(95, Kind::EgressDenied, Some(Phase::Connect)),
        ),
        case(
            "to a port that refuses",
            to(302, "http://127.0.0.1:1/"),
            Fails(1, Kind::ConnectRefused, Some(Phase::Connect)),
        ),
        case("to an error page", to(302, "/next"), Fails(7, Kind::HttpErrorStatus, VALIDATE))
            .then(respond("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")),
        case("to a stall", to(302, "/next"), Fails(2, Kind::TimedOut, FIRST_BYTE))
            .then(vec![Act::Request, Act::Stall])
            .stalls(),
        case("to a close", to(302, "/next"), Fails(6, Kind::NoResponse, FIRST_BYTE)).then(vec![Act::Request]),
    ]
}

#[tokio::test]
async fn the_version_that_the_target_names_is_kept() {
    for (version, named) in [("1.0", "HTTP/1.0"), ("1.1", "HTTP/1.1"), ("1.2", "HTTP/1.1")] {
        let early = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
        let text = format!("{early}HTTP/{version} 200 OK\r\nContent-Length: 2\r\n\r\nok");
        let server = Server::start(vec![respond(text)]).await;
        let observation = Check::new(&server.url("/")).run().await;
        assert_eq!(observation.failure, None, "{version}");
        assert_eq!(observation.facts.http.unwrap().http_version, named, "{version}");
    }
}

#[tokio::test]
async fn a_304_is_told_as_a_response_without_a_page() {
    let server = Server::start(vec![respond("HTTP/1.1 304 Not Modified\r\n\r\n")]).await;
    let observation = Check::new(&server.url("/")).run().await;
    let text = &observation.warnings[0].detail;
    assert!(text.contains("`304 Not Modified`") && text.contains("holds no page"), "{text}");
    assert!(!text.contains("not followed"), "{text}");
}

// row: 2.8 website.http_302_is_error; 2.8 website.http_401_is_error
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_behaviour_gives_its_status_and_phase() {
    let cases: Vec<Case> = [valid_responses(), endings(), floods(), nonsense(), statuses(), redirects()]
        .into_iter()
        .flatten()
        .collect();
    let count = cases.len();
    assert!(count >= 90, "{count} behaviours");
    let outcomes: Vec<_> = futures::stream::iter(cases)
        .map(|case| async { tokio::spawn(case.run()).await.unwrap() })
        .buffer_unordered(8)
        .collect()
        .await;
    let differences: Vec<String> = outcomes.into_iter().filter_map(Result::err).collect();
    assert!(differences.is_empty(), "{} of {count} differ:\n{}", differences.len(), differences.join("\n"));
}

#[tokio::test]
async fn a_port_without_listener_refuses() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let observation = Check::new(&url).run().await;
    Fails(1, Kind::ConnectRefused, Some(Phase::Connect)).compare(&observation).unwrap();
}

#[tokio::test]
async fn a_reset_after_the_handshake_is_one_of_connect_or_response() {
    let server = Server::start(vec![vec![Act::Reset]]).await;
    let observation = Check::new(&server.url("/")).run().await;
    // The system reports the reset before or after the end of the handshake.
    let connect = Fails(1, Kind::ConnectReset, Some(Phase::Connect)).compare(&observation);
    let answer = Fails(6, Kind::ResponseReset, None).compare(&observation);
    assert!(connect.is_ok() || answer.is_ok(), "{observation:#?}");
}

#[tokio::test]
async fn a_cancelled_attempt_ends_at_once_as_an_own_fault() {
    let server = Server::start(vec![vec![Act::Stall]]).await;
    let cancel = tokio_util::sync::CancellationToken::new();
    let check = Check::new(&server.url("/"));
    let (observation, ()) = tokio::join!(check.run_until(&cancel), async {
        tokio::task::yield_now().await;
        cancel.cancel();
    });
    Fails(21, Kind::Cancelled, None).compare(&observation).unwrap();
    assert!(observation.duration < Duration::from_secs(5), "{:?}", observation.duration);
}

/// Counts the open sockets of this process.
fn sockets() -> usize {
    let open = std::fs::read_dir("/proc/self/fd").unwrap().filter_map(Result::ok);
    open.filter(|fd| {
        std::fs::read_link(fd.path()).is_ok_and(|to| to.to_string_lossy().starts_with("socket:"))
    })
    .count()
}

#[test]
fn attempts_that_end_early_leave_no_sockets_or_tasks() {
    // In its own process, since other tests open sockets too.
    if !alone("probe_http::table::attempts_that_end_early_leave_no_sockets_or_tasks") {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let server =
            Server::start(vec![vec![Act::Request, send("HTTP/1.1 200 OK\r\n\r\nhalf"), Act::Stall]]).await;
        // The sockets of the runtime and of the listener.
        let before = sockets();
        for version in ["1.1", "2"] {
            let check = Check::new(&server.url("/")).within(Duration::from_millis(50));
            let observation = check.with(json!({"http_version": version})).run().await;
            assert!(observation.failure.is_some());
        }
        // The accepting task stays. The server closes its ends when it sees that those of the client are closed.
        let deadline = tokio::time::Instant::now() + Duration::from_secs(10);
        let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
        while sockets() > before || tasks() > 1 {
            assert!(
                tokio::time::Instant::now() < deadline,
                "{} sockets, {} tasks are left",
                sockets(),
                tasks()
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
}
