//! Loading of the objects of a page over HTTP/1.1, and the results.

use std::collections::HashSet;
use std::fmt::Write;
use std::time::Duration;

use serde_json::json;
use vigie::domain::{Outcome, PageObjectKind, Phase, Status, Timestamp, WarningKind};

use crate::page::check::{Check, object, page};
use crate::page::site::{Response, Site, bytes, css, html, redirect, status};

#[tokio::test]
async fn a_page_is_loaded_with_all_its_objects() {
    let other = Site::start("127.0.0.2", |_| bytes(30)).await;
    let third = other.url("/t.png");
    let site = Site::start("127.0.0.1", move |path| match path {
        "/" => html(format!(
            "<link rel=stylesheet href=/a.css><script src=/s.js></script><img src=/1.png><img src=/1.png>\
             <img src={third}><iframe src=/f.html></iframe><img src=/moved.png>"
        )),
        "/a.css" => css("@import 'b.css'; p { background: url(bg.png) }"),
        "/b.css" => css("@font-face { src: url(font.woff2) }"),
        "/f.html" => html("<img src=in-frame.png><iframe src=/deep.html></iframe>"),
        "/deep.html" => html("<img src=too-deep.png>"),
        "/moved.png" => redirect("/1.png?moved"),
        _ => bytes(10),
    })
    .await;
    let observation = Check::of(&site.url("/")).run().await;
    assert_eq!(observation.failure, None);
    assert!(
        !observation.warnings.iter().any(|warning| warning.kind.affects_outcome()),
        "{:?}",
        observation.warnings
    );
    let expected = [
        "/",
        "/1.png",
        "/1.png?moved",
        "/a.css",
        "/b.css",
        "/bg.png",
        "/deep.html",
        "/f.html",
        "/font.woff2",
        "/in-frame.png",
        "/moved.png",
        "/s.js",
    ];
    assert_eq!(site.paths(), expected);
    assert_eq!(other.paths(), ["/t.png"]);

    let loaded = page(&observation);
    assert_eq!((loaded.objects.len(), loaded.unlisted_objects), (11, 0));
    let own: u64 = loaded.objects.iter().map(|object| object.body_bytes).sum();
    assert_eq!(loaded.decoded_bytes, own + observation.facts.http.as_ref().unwrap().body_bytes);
    assert!(Duration::from_micros(loaded.duration_us) >= observation.duration, "{loaded:?}");
    for object in &loaded.objects {
        assert_eq!((object.http_status, object.http_version.as_str()), (200, "HTTP/1.1"), "{object:?}");
        assert_eq!(object.third_party, object.url.contains("127.0.0.2"), "{object:?}");
        assert!(object.start_offset_us > 0 && object.duration_us > 0, "{object:?}");
        assert!(object.phases.micros(Phase::FirstByte).is_some(), "{object:?}");
        assert!(object.start_offset_us + object.duration_us <= loaded.duration_us, "{object:?}");
    }
    assert_eq!(object(&observation, "/font.woff2").kind, PageObjectKind::Font);
    assert_eq!(object(&observation, "/bg.png").media_type, "image/png");
    assert_eq!(object(&observation, "/moved.png").body_bytes, 10);
    // The first connection to a server is recorded at the object that it was opened for.
    assert!(loaded.objects.iter().any(|object| object.phases.micros(Phase::Connect).is_some()));
    assert!(loaded.objects.iter().any(|object| object.phases.micros(Phase::Connect).is_none()));
}

#[tokio::test]
async fn at_most_six_connections_to_a_server_are_reused() {
    let site = Site::start("127.0.0.1", |path| match path {
        "/" => images(60),
        _ => bytes(2000),
    })
    .await;
    let observation = Check::of(&site.url("/")).run().await;
    assert_eq!(observation.failure, None);
    let requests = site.requests();
    assert_eq!(requests.len(), 61);
    let connections: HashSet<usize> = requests[1..].iter().map(|request| request.connection).collect();
    assert!((2..=6).contains(&connections.len()), "{connections:?}");
    assert!(site.most_open() <= 7, "{}", site.most_open());
}

#[tokio::test]
async fn object_requests_are_like_those_of_a_browser() {
    let other = Site::start("127.0.0.2", |_| bytes(1)).await;
    let foreign = other.url("/x.png");
    let site = Site::start("127.0.0.1", move |path| match path {
        "/" => Response::Full(
            200,
            "Set-Cookie: sid=7\r\nContent-Type: text/html\r\n".to_owned(),
            format!("<link rel=stylesheet href=/a.css><img src={foreign}>").into_bytes(),
        ),
        "/a.css" => {
            Response::Full(200, "Set-Cookie: more=8\r\n".to_owned(), b"p{background:url(b.png)}".to_vec())
        }
        _ => bytes(1),
    })
    .await;
    let own =
        json!({"http_headers": [{"name": "X-Api-Key", "value": "k"}, {"name": "X-Trace", "value": "t"}]});
    let observation = Check::of(&site.url("/")).with(own).run().await;
    assert_eq!(observation.failure, None);
    let (sheet, image, foreign) = (site.head("/a.css"), site.head("/b.png"), other.head("/x.png"));
    assert!(sheet.contains(&format!("Referer: {}\r\n", site.url("/"))), "{sheet}");
    assert!(sheet.contains("Cookie: sid=7\r\n") && sheet.contains("Accept: text/css"), "{sheet}");
    assert!(sheet.starts_with("GET /a.css HTTP/1.1\r\nHost: "), "{sheet}");
    assert!(sheet.contains("X-Api-Key: k\r\n") && sheet.contains("X-Trace: t\r\n"), "{sheet}");
    assert!(!sheet.contains("Connection: close"), "{sheet}");
    assert!(image.contains(&format!("Referer: {}\r\n", site.url("/a.css"))), "{image}");
    assert!(image.contains("sid=7") && image.contains("more=8"), "{image}");
    assert!(foreign.contains(&format!("Referer: {}\r\n", site.url("/"))), "{foreign}");
    assert!(!foreign.contains("Cookie") && !foreign.contains("X-Api-Key"), "{foreign}");
    assert!(foreign.contains("X-Trace: t\r\n"), "{foreign}");
}

#[tokio::test]
async fn credentials_of_the_page_are_sent_to_its_own_server_only() {
    let other = Site::start("127.0.0.2", |_| bytes(1)).await;
    let foreign = other.url("/x.png");
    let tries = std::sync::atomic::AtomicUsize::new(0);
    let site = Site::start("127.0.0.1", move |path| match path {
        "/" if tries.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0 => {
            Response::Full(401, "WWW-Authenticate: Basic realm=\"x\"\r\n".to_owned(), Vec::new())
        }
        "/" => html(format!("<img src=/a.png><img src={foreign}>")),
        _ => bytes(1),
    })
    .await;
    let login = json!({"realm_userid": "me", "realm_password": "secret"});
    let observation = Check::of(&site.url("/")).with(login).run().await;
    assert_eq!(observation.failure, None);
    assert!(site.head("/a.png").contains("Authorization: Basic bWU6c2VjcmV0\r\n"));
    assert!(!other.head("/x.png").contains("Authorization"));
}

/// Returns failures of an object: name, response, expected status and a part of the reason.
fn object_failures() -> Vec<(&'static str, Response, u16, &'static str)> {
    let broken =
        Response::Full(200, "Content-Encoding: gzip\r\n".to_owned(), b"\x1f\x8b\x08 no gzip".to_vec());
    vec![
        ("an error", status(404), 7007, "404"),
        ("an error of the server", status(503), 7007, "503"),
        ("not answered", Response::Stall, 7002, "phase first_byte"),
        ("without end", Response::Endless, 7003, "more than 1048576 bytes"),
        ("reset", Response::Reset, 7006, "reset"),
        ("closed", Response::Cut(String::new()), 7006, "closed"),
        (
            "cut off",
            Response::Cut("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx".to_owned()),
            7003,
            "before it was complete",
        ),
        ("too many fields", Response::Full(200, fields(300), b"x".to_vec()), 7003, "or 256 fields"),
        ("no HTTP", Response::Cut("SSH-2.0-x\r\n".to_owned()), 7003, "violates the protocol"),
        ("wrongly coded", broken, 7003, "gzip"),
        ("redirected for ever", redirect("/bad.png"), 7003, "redirects"),
        ("redirected to nowhere", redirect("ftp://x/"), 7003, "ftp"),
        ("redirected to nobody", redirect("http://127.0.0.9:1/"), 7001, "refused"),
    ]
}

// row: 2.8 website.notify_on_fullpage_errors; 2.8 website.fullpage_object_timeout
#[tokio::test]
async fn a_failed_object_is_an_error_or_a_warning_as_the_monitor_says() {
    for (name, reply, expected, text) in object_failures() {
        let site = Site::start("127.0.0.1", move |path| match path {
            "/" => html("<img src=/good.png><img src=/bad.png>"),
            "/bad.png" => reply.clone(),
            _ => bytes(5),
        })
        .await;
        let fields = json!({"fullpage_object_timeout": 1});
        let strict = Check::of(&site.url("/")).with(fields.clone()).run().await;
        let failure = strict.failure.clone().unwrap_or_else(|| panic!("{name} passes"));
        assert_eq!(failure.status(), Status(expected), "{name}: {failure}");
        assert!(
            failure.to_string().contains(text) && failure.detail.contains("/bad.png"),
            "{name}: {failure}"
        );
        assert_eq!(object(&strict, "/good.png").failure, None, "{name}");
        assert!(object(&strict, "/bad.png").failure.is_some(), "{name}");
        let verdict = vigie::evaluate::evaluate_attempts(&[strict]);
        assert_eq!((verdict.outcome, verdict.status), (Outcome::Error, Status(expected)), "{name}");

        let fields = json!({"fullpage_object_timeout": 1, "notify_on_fullpage_errors": false});
        let lenient = Check::of(&site.url("/")).with(fields).run().await;
        assert_eq!(lenient.failure, None, "{name}");
        assert!(
            lenient.warnings.iter().any(|warning| warning.kind == WarningKind::PageObjectProblem),
            "{name}"
        );
        let verdict = vigie::evaluate::evaluate_attempts(&[lenient]);
        assert_eq!((verdict.outcome, verdict.status), (Outcome::Warning, Status(expected)), "{name}");
    }
}

#[tokio::test]
async fn an_object_on_a_denied_network_is_an_own_fault() {
    for redirection in
        [redirect("http://169.254.169.254/latest"), redirect("http://[::ffff:169.254.169.254]/x")]
    {
        let site = Site::start("127.0.0.1", move |path| match path {
            "/" => html("<img src=/bad.png>"),
            _ => redirection.clone(),
        })
        .await;
        let observation = Check::of(&site.url("/")).run().await;
        let failure = observation.failure.clone().unwrap();
        assert!(failure.detail.contains("egress policy"), "{failure}");
        let verdict = vigie::evaluate::evaluate_attempts(&[observation]);
        assert_eq!((verdict.outcome, verdict.status), (Outcome::Unknown, Status(7095)));
    }
}

#[tokio::test]
async fn third_party_objects_and_failures_are_counted() {
    let other = Site::start("127.0.0.2", |_| status(500)).await;
    let foreign = other.url("/x.png");
    let site = Site::start("127.0.0.1", move |path| match path {
        "/" => html(format!("<img src={foreign}><img src={foreign}?2><img src=/missing.png>")),
        _ => status(404),
    })
    .await;
    let observation = Check::of(&site.url("/")).run().await;
    let failure = observation.failure.as_ref().unwrap();
    assert!(failure.detail.contains("(of another site)"), "{failure}");
    assert!(failure.detail.ends_with("; 3 objects failed, 2 of them third-party"), "{failure}");
}

#[tokio::test]
async fn the_timeout_of_the_check_limits_all_objects() {
    let site = Site::start("127.0.0.1", |path| match path {
        "/" => html((0..40).fold("<img src=/fast.png>".to_owned(), |mut html, number| {
            write!(html, "<img src=/{number}.png>").unwrap();
            html
        })),
        "/fast.png" => bytes(5),
        _ => Response::Stall,
    })
    .await;
    let check = Check::of(&site.url("/")).with(json!({"fullpage_object_timeout": 30}));
    let observation = check.within(Duration::from_secs(2)).run().await;
    let failure = observation.failure.as_ref().unwrap();
    assert_eq!(failure.status(), Status::FULL_PAGE_TIMED_OUT);
    assert!(failure.detail.contains("40 of 41 objects"), "{failure}");
    let failed = page(&observation).objects.iter().filter(|object| object.failure.is_some()).count();
    assert_eq!((page(&observation).objects.len(), failed), (41, 40));
}

#[tokio::test]
async fn objects_beyond_the_limit_are_not_loaded() {
    let site = Site::start("127.0.0.1", |path| match path {
        "/" => html((0..20_000).fold(String::new(), |mut html, number| {
            write!(html, "<div><p><img src='/{number}.png' <b>").unwrap();
            html
        })),
        _ => bytes(1),
    })
    .await;
    let observation = Check::of(&site.url("/")).run().await;
    assert_eq!(observation.failure, None);
    assert_eq!((page(&observation).objects.len(), page(&observation).unlisted_objects), (500, 19_500));
    assert_eq!(site.requests().len(), 501);
}

#[tokio::test]
async fn circular_and_endless_imports_end() {
    let site = Site::start("127.0.0.1", |path| match path {
        "/" => html("<link rel=stylesheet href=/a.css><link rel=stylesheet href=/n/0.css>"),
        "/a.css" => css("@import 'b.css'; @import 'a.css';"),
        "/b.css" => css("@import 'a.css';"),
        path => {
            let number: u32 = path.trim_start_matches("/n/").trim_end_matches(".css").parse().unwrap();
            css(format!("@import '{}.css';", number + 1))
        }
    })
    .await;
    let observation = Check::of(&site.url("/")).run().await;
    assert_eq!(observation.failure, None);
    let expected = ["/", "/a.css", "/b.css", "/n/0.css", "/n/1.css", "/n/2.css", "/n/3.css", "/n/4.css"];
    assert_eq!(site.paths(), expected);
    assert_eq!(page(&observation).unlisted_objects, 1);
}

#[tokio::test]
async fn requests_are_retried_after_an_unannounced_close() {
    let site = Site::start("127.0.0.1", |path| match path {
        "/" => images(30),
        _ => Response::CloseAfter("x".to_owned()),
    })
    .await;
    let observation = Check::of(&site.url("/")).run().await;
    assert_eq!(observation.failure, None);
    assert_eq!(page(&observation).objects.len(), 30);
}

/// Returns a page with `count` images.
fn images(count: usize) -> Response {
    html((0..count).fold(String::new(), |mut html, number| {
        write!(html, "<img src=/{number}.png>").unwrap();
        html
    }))
}

/// Returns `count` header fields.
fn fields(count: usize) -> String {
    (0..count).fold(String::new(), |mut fields, number| {
        write!(fields, "X-Field-{number}: {number}\r\n").unwrap();
        fields
    })
}

#[tokio::test]
async fn objects_with_many_header_fields_are_loaded_with_few_retries() {
    let site = Site::start("127.0.0.1", |path| match path {
        "/" => images(30),
        _ => Response::Full(200, fields(250), b"x".to_vec()),
    })
    .await;
    let observation = Check::of(&site.url("/")).run().await;
    assert_eq!(observation.failure, None);
    assert!(
        page(&observation).objects.iter().all(|object| object.http_status == 200 && object.body_bytes == 1)
    );
    // One retry per connection, for the first six connections.
    let requests = site.requests().len() - 1;
    assert!((31..=36).contains(&requests), "{requests}");
}

// row: 2.8 website.interval_fullpage
#[tokio::test]
async fn a_full_page_is_loaded_only_when_due() {
    let site = Site::start("127.0.0.1", |path| match path {
        "/" => html("<img src=/a.png>"),
        _ => bytes(1),
    })
    .await;
    let now = || vigie::clock::Clock::now(&vigie::clock::SystemClock);
    let ago = |minutes: u64| -> Timestamp { now() - Duration::from_secs(minutes * 60) };
    for (last, interval, loads) in [(5, 60, false), (61, 60, true), (5, -1, false), (5, 5, true)] {
        let fields = json!({"interval_fullpage": interval});
        let observation = Check::of(&site.url("/")).with(fields).last_at(ago(last)).run().await;
        assert_eq!(observation.failure, None);
        assert_eq!(
            observation.details.page_load.is_some(),
            loads,
            "{interval} min, {last} min after the last one"
        );
    }
}

#[tokio::test]
async fn a_page_without_objects_fails_only_if_the_monitor_says_so() {
    let site = Site::start("127.0.0.1", |_| html("<p>nothing</p>")).await;
    let observation = Check::of(&site.url("/")).run().await;
    assert_eq!((observation.failure.as_ref(), page(&observation).objects.len()), (None, 0));
    let fields = json!({"check_fullpage_missing_objects": true});
    let observation = Check::of(&site.url("/")).with(fields).run().await;
    assert_eq!(observation.failure.unwrap().status(), Status::NO_OBJECTS);
}

// row: 2.8 website.notify_on_content_change
#[tokio::test]
async fn the_text_has_a_fingerprint_where_changes_are_reported() {
    let fingerprint = async |body: &'static str, fields| {
        let site = Site::start("127.0.0.1", move |_| html(body)).await;
        let observation = Check::of(&site.url("/")).with(fields).run().await;
        observation.facts.http.unwrap().text_sha256
    };
    let with_changes = json!({"notify_on_content_change": true, "interval_fullpage": -1});
    let one = fingerprint("<p>a  b</p><script>1</script>", with_changes.clone()).await.unwrap();
    assert_eq!(
        fingerprint("<div>a b</div><script>2</script>", with_changes.clone()).await,
        Some(one.clone())
    );
    assert_ne!(fingerprint("<p>a c</p>", with_changes).await, Some(one));
    assert_eq!(fingerprint("<p>a b</p>", json!({"interval_fullpage": -1})).await, None);
}
