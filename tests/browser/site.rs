//! The site for scripts: a login, a table, frames, windows, dialogs, late content, errors.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// The received requests: path with query, and header fields.
type RequestLog = Arc<Mutex<Vec<(String, BTreeMap<String, String>)>>>;

pub struct Site {
    pub at: SocketAddr,
    scheme: &'static str,
    requests: RequestLog,
}

impl Site {
    pub async fn start() -> Self {
        let (router, requests) = Self::routes();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { at, scheme: "http", requests }
    }

    /// Starts the site over TLS, with HTTP/2 for clients that support it.
    pub async fn start_tls() -> Self {
        let (router, requests) = Self::routes();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let acceptor = TlsAcceptor::from(tls_config());
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (acceptor, router) = (acceptor.clone(), router.clone());
                tokio::spawn(async move {
                    // A browser that closes early is not an error of the site.
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    let service = hyper_util::service::TowerToHyperService::new(router);
                    let builder = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
                    let _ = builder.serve_connection_with_upgrades(TokioIo::new(stream), service).await;
                });
            }
        });
        Self { at, scheme: "https", requests }
    }

    fn routes() -> (Router, RequestLog) {
        let requests = RequestLog::default();
        let router = Router::new()
            .route("/login", get(|| page("Login", LOGIN)).post(login))
            .route("/account", get(account))
            .route("/pages/{name}", get(named_page))
            .route(
                "/status/{code}",
                get(|Path(code): Path<u16>| async move {
                    (StatusCode::from_u16(code).unwrap(), Html("<h1>So it is</h1>"))
                }),
            )
            .route("/slow/{millis}", get(slow))
            .route("/never", get(std::future::pending::<()>))
            .route("/picture/{millis}", get(picture))
            .route("/hanging", get(hanging))
            .route("/data", get(|| async { "{\"answer\": 42}" }))
            .route("/echo", post(|body: String| async move { body }))
            .route(
                "/download",
                get(|| async {
                    (
                        [
                            (header::CONTENT_TYPE, "application/octet-stream"),
                            (header::CONTENT_DISPOSITION, "attachment; filename=big.bin"),
                        ],
                        vec![7_u8; 4096],
                    )
                }),
            )
            .route("/to-account", get(|| async { Redirect::temporary("/login") }))
            .fallback(|| async { (StatusCode::NOT_FOUND, Html("<h1>Not here</h1>")) })
            .layer(middleware::from_fn_with_state(Arc::clone(&requests), record_request));
        (router, requests)
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.at)
    }

    /// Returns the requests in order: path with query, and header fields.
    pub fn requests(&self) -> Vec<(String, BTreeMap<String, String>)> {
        self.requests.lock().unwrap().clone()
    }

    /// Returns the paths of the requests, in order.
    pub fn paths(&self) -> Vec<String> {
        self.requests.lock().unwrap().iter().map(|(path, _)| path.clone()).collect()
    }

    /// Returns the header fields of the last request for `path`.
    pub fn headers(&self, path: &str) -> Option<BTreeMap<String, String>> {
        let requests = self.requests.lock().unwrap();
        requests.iter().rev().find(|(requested, _)| requested == path).map(|(_, headers)| headers.clone())
    }
}

fn tls_config() -> Arc<rustls::ServerConfig> {
    let certified =
        rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned(), "localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der()));
    let mut config =
        rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certified.cert.der().clone()], key)
            .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Arc::new(config)
}

async fn record_request(State(log): State<RequestLog>, request: Request, next: Next) -> Response {
    let headers = request.headers().iter();
    let headers = headers
        .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()));
    let mut headers: BTreeMap<String, String> = headers.collect();
    // HTTP/2 has no `Host` field.
    if let Some(host) = request.uri().authority() {
        headers.insert("host".to_owned(), host.to_string());
    }
    headers.insert(":version".to_owned(), format!("{:?}", request.version()));
    let path = request.uri().path_and_query().map_or_else(String::new, ToString::to_string);
    log.lock().unwrap().push((path, headers));
    next.run(request).await
}

async fn page(title: &str, body: &str) -> Html<String> {
    Html(format!(
        "<!DOCTYPE html><html><head><meta charset=\"utf-8\"><title>{title}</title></head><body>{body}</body></html>"
    ))
}

async fn slow(Path(millis): Path<u64>) -> Html<String> {
    tokio::time::sleep(Duration::from_millis(millis)).await;
    page("Slow", "<p id=done>It took a while</p>").await
}

async fn picture(Path(millis): Path<u64>) -> Response {
    tokio::time::sleep(Duration::from_millis(millis)).await;
    named_page(Path("image".to_owned()), Query(BTreeMap::new())).await
}

/// A page whose picture never loads.
async fn hanging() -> Html<String> {
    page("Hanging", "<h1>Hanging</h1><img src='/never'>").await
}

async fn login(body: String) -> Response {
    if body == "user=anna&password=s3cret%21" {
        let cookie = [(header::SET_COOKIE, "session=anna; Path=/; HttpOnly")];
        (cookie, Redirect::to("/account")).into_response()
    } else {
        page("Login", &format!("<p class=error>Wrong: {}</p>{LOGIN}", body.replace('<', "")))
            .await
            .into_response()
    }
}

async fn account(headers: HeaderMap) -> Response {
    let cookie =
        headers.get(header::COOKIE).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    if cookie.is_some_and(|cookie| cookie.contains("session=anna")) {
        page("Account of anna", ACCOUNT).await.into_response()
    } else {
        Redirect::to("/login").into_response()
    }
}

const LOGIN: &str = r#"<h1>Log in</h1>
<form id="login" method="post" action="/login">
<label>User <input id="user" name="user"></label>
<label>Password <input id="password" name="password" type="password"></label>
<button id="go">Log in</button></form>"#;

const ACCOUNT: &str = r#"<h1>Hello, <b>anna</b></h1>
<table id="orders"><tr><th>Order</th><th>Sum</th></tr>
<tr class="order"><td>A-17</td><td>12.50</td></tr><tr class="order"><td>A-18</td><td>7.00</td></tr></table>
<a href="/pages/forms">Preferences</a>"#;

const FORMS: &str = r#"<h1>Preferences</h1>
<select id="color"><option value="r">Red</option><option value="g">Green</option><option value="b">Blue</option></select>
<select id="late"></select>
<input type="checkbox" id="news"> <input type="radio" name="size" id="small"> <input type="radio" name="size" id="large" checked>
<input id="field" value="old"> <textarea id="area"></textarea>
<button id="twice">Twice</button> <div id="menu">Menu<div id="entry" style="display:none">Entry</div></div>
<p id="log"></p> <div style="height:3000px"></div> <p id="bottom" data-mark="deep">Bottom</p>
<script>
const log = (text) => { document.getElementById('log').textContent += text + ';'; };
document.getElementById('twice').addEventListener('dblclick', () => log('double'));
document.getElementById('menu').addEventListener('mouseenter', () => { document.getElementById('entry').style.display = 'block'; });
document.getElementById('color').addEventListener('change', (e) => log('color=' + e.target.value));
document.getElementById('news').addEventListener('change', (e) => log('news=' + e.target.checked));
document.getElementById('field').addEventListener('keydown', (e) => log('key=' + (e.ctrlKey ? 'C-' : '') + e.key));
addEventListener('scroll', () => { if (scrollY > 500) document.title = 'Scrolled'; });
setTimeout(() => { document.getElementById('late').innerHTML = '<option value=x>Late</option>'; }, 400);
</script>"#;

const FRAMES: &str = r#"<h1>Frames</h1><iframe id="inner" src="/pages/inner"></iframe>
<iframe id="second" srcdoc="<p id=in2>Second</p>"></iframe>"#;

const INNER: &str = r#"<p id="where">inside</p><button id="in" onclick="document.getElementById('where').textContent='clicked'">In</button>
<iframe id="deeper" srcdoc="<p id=deep>deepest</p>"></iframe>"#;

const WINDOWS: &str = r#"<h1>Windows</h1><a id="open" href="/pages/popup" target="_blank">Open</a>"#;

const DIALOGS: &str = r#"<h1>Dialogs</h1><p id="said"></p>
<button id="alert" onclick="alert('Take care'); said('alerted')">A</button>
<button id="confirm" onclick="said('confirmed ' + confirm('Sure?'))">C</button>
<button id="prompt" onclick="said('prompted ' + prompt('Name?'))">P</button>
<script>const said = (text) => { document.getElementById('said').textContent = text; };</script>"#;

const LATE: &str = r#"<h1>Late</h1><div id="room"></div><p id="state">waiting</p>
<script>
setTimeout(() => { document.getElementById('room').innerHTML = '<p id="guest">' + ['Here', 'I', 'am'].join(' ') + '</p>'; }, 500);
setTimeout(() => { document.getElementById('state').textContent = 'ready'; }, 700);
setTimeout(() => { history.pushState({}, '', '/pages/late?moved'); }, 800);
setInterval(() => { document.dispatchEvent(new Event('shop-ready')); }, 1500);
</script>"#;

const PATIENT: &str = r#"<h1>Patient</h1><p id="room"></p><script>
setTimeout(() => { document.getElementById('room').textContent = ['Worth', 'the', 'wait'].join(' '); }, 4000);
</script>"#;

const STAY: &str = r#"<h1>Stay</h1><button id="nothing">Nothing</button><button id="move" onclick="location.hash='moved'">Move</button>
<button id="fire" onclick="document.dispatchEvent(new Event('fired'))">Fire</button>
<button id="grow" onclick="document.body.append('more')">Grow</button>
<span class="twin">Twin</span><span class="twin" name="chosen">Twin</span>
<div style="position:relative"><button id="covered">Covered</button><div style="position:absolute;inset:0;background:#fff">over it</div></div>
<button id="off" disabled>Off</button>"#;

const BUSY: &str = r"<h1>Busy</h1><script>setInterval(() => fetch('/data?' + Math.random()), 50);</script>";
const QUIETS: &str = r#"<h1>Quiets</h1><p id="n">0</p><script>
let n = 0; const ask = () => fetch('/slow/300').then(() => { document.getElementById('n').textContent = ++n; if (n < 3) ask(); }); ask();
</script>"#;
const ALERTS: &str = "<h1>Alerts</h1><script>const begin = () => { for (;;) alert('again'); };
// After the first paint: of a page that was never painted there is no picture.
requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(begin, 100)));</script>";
/// Opens one alert per task.
const ALERTING: &str = "<h1>Alerting</h1><script>
requestAnimationFrame(() => requestAnimationFrame(() => setInterval(() => alert('again'), 5)));</script>";
const SPIN: &str = "<h1>Spin</h1><button id=spin onclick='for(;;);'>Spin</button>";
/// Computes for six seconds after a click on `go`, and then reports it. After a click on `title`, it computes when its
/// title is read the next time.
const COMPUTING: &str = r#"<h1>Computing</h1><p id="said">not yet</p><button id="go">Go</button><button id="title">Title</button><script>
const said = document.getElementById('said');
const compute = () => { for (const ends = Date.now() + 6000; Date.now() < ends;); };
document.getElementById('go').onclick = () => setTimeout(() => {
  compute();
  said.textContent = said.textContent === 'worked' ? 'worked again' : 'worked';
}, 0);
document.getElementById('title').onclick = () => Object.defineProperty(document, 'title', {
  configurable: true,
  get() { delete document.title; compute(); return 'Computed'; },
});
</script>"#;
/// Images of other hosts.
const OUTSIDE: &str = r"<h1>Outside</h1><script>
for (const from of ['http://localhost', 'https://localhost', 'http://127.0.0.2']) {
  const image = document.createElement('img'); image.src = `${from}:${location.port}/pages/image`; document.body.append(image);
}
</script>";
const CRASH: &str = "<h1>Crash</h1>";
const POPUPS: &str = r#"<h1>Popups</h1><button id="storm" onclick="for (let i = 0; i < 50; i++) window.open('/pages/popup?' + i)">Storm</button>"#;
const DOWNLOAD: &str = r#"<h1>Download</h1><a id="get" href="/download">Get</a>"#;
const PRINT: &str =
    r#"<h1>Print</h1><button id="print" onclick="window.print(); document.title='Printed'">Print</button>"#;
const NODES: &str = r#"<h1>Nodes</h1><div id="all" style="display:none"></div><script>
document.getElementById('all').innerHTML = '<i></i>'.repeat(1000000); document.getElementById('all').insertAdjacentHTML('afterend', '<p id=end>end</p>');
</script>"#;
const GREEDY: &str = r"<h1>Greedy</h1><script>const all = []; setInterval(() => all.push(new Uint8Array(3e7).fill(1)), 20);</script>";
const KEYWORDS: &str = "<h1>Keywords</h1><p>Hello world</p><p>two\nlines</p><p>some  room</p>";
const STRANGERS: &str = r"<h1>Strangers</h1><script>
const frame = document.createElement('iframe'); frame.src = `http://localhost:${location.port}/status/503`; document.body.append(frame);
</script>";
/// The layout shift is in a frame.
const SHIFTING: &str = r#"<h1>Shifting</h1><iframe width="600" height="500" srcdoc="<p id=late></p><p style='font-size:60px'>Text that moves</p>
<script>setTimeout(() => { document.getElementById('late').style.height = '150px'; }, 300);</script>"></iframe>"#;
const TARDY: &str = r#"<h1>Tardy</h1><img src="/picture/1600">"#;
const ERRORS: &str = r#"<h1>Errors</h1><img src="/missing.png"><script>console.error('worrying'); console.warn('careful'); setTimeout(() => { throw new Error('thrown'); }, 0);</script>"#;
const OBJECTS: &str = r#"<h1>Objects</h1><link rel="stylesheet" href="/pages/style"><img src="/pages/image"><script src="/pages/script"></script>"#;
const DEVICE: &str = r#"<meta name="viewport" content="width=device-width, initial-scale=1"><h1>Device</h1><input id="field"><img src="/pages/image">
<a id="open" href="/pages/narrow" target="_blank">Open</a>"#;
const NARROW: &str = r#"<meta name="viewport" content="width=device-width, initial-scale=1"><p id="width"></p><script>
const tell = () => { document.getElementById('width').textContent = innerWidth; }; tell(); addEventListener('resize', tell);
</script>"#;
const SECRET: &str = r#"<h1>Secret</h1><input id="field"><p id="out"></p><script>
document.getElementById('field').addEventListener('input', (e) => { document.getElementById('out').textContent = e.target.value; });
</script>"#;

async fn named_page(Path(name): Path<String>, Query(_): Query<BTreeMap<String, String>>) -> Response {
    let (title, body) = match name.as_str() {
        "forms" => ("Preferences", FORMS),
        "frames" => ("Frames", FRAMES),
        "inner" => ("Inner", INNER),
        "windows" => ("Windows", WINDOWS),
        "popup" => ("Popup", "<p id=popup>Another window</p>"),
        "dialogs" => ("Dialogs", DIALOGS),
        "late" => ("Late", LATE),
        "patient" => ("Patient", PATIENT),
        "stay" => ("Stay", STAY),
        "busy" => ("Busy", BUSY),
        "quiets" => ("Quiets", QUIETS),
        "alerts" => ("Alerts", ALERTS),
        "alerting" => ("Alerting", ALERTING),
        "spin" => ("Spin", SPIN),
        "computing" => ("Computing", COMPUTING),
        "outside" => ("Outside", OUTSIDE),
        "crash" => ("Crash", CRASH),
        "popups" => ("Popups", POPUPS),
        "download" => ("Download", DOWNLOAD),
        "print" => ("Print", PRINT),
        "nodes" => ("Nodes", NODES),
        "greedy" => ("Greedy", GREEDY),
        "keywords" => ("Keywords", KEYWORDS),
        "strangers" => ("Strangers", STRANGERS),
        "shifting" => ("Shifting", SHIFTING),
        "tardy" => ("Tardy", TARDY),
        "errors" => ("Errors", ERRORS),
        "objects" => ("Objects", OBJECTS),
        "secret" => ("Secret", SECRET),
        "device" => ("Device", DEVICE),
        "narrow" => ("Narrow", NARROW),
        "style" => return ([(header::CONTENT_TYPE, "text/css")], "h1 { color: green }").into_response(),
        "script" => {
            return ([(header::CONTENT_TYPE, "text/javascript")], "window.loaded = true;").into_response();
        }
        "image" => {
            return (
                [(header::CONTENT_TYPE, "image/svg+xml")],
                "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>",
            )
                .into_response();
        }
        _ => return (StatusCode::NOT_FOUND, Html("<h1>No such page</h1>")).into_response(),
    };
    page(title, body).await.into_response()
}
