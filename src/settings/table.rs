//! Every setting, declared once: name, kind, default and docs. The file config/vigie.yaml, the names of the
//! environment variables and every message derive from it.

use super::kind::{Kind, Part};
use crate::syntax::format::TextFormat;

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its place in the file: `section.name`, or the name alone at the top.
    pub path: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// Its value when nobody sets it, as YAML; `null` for none.
    pub default: &'static str,
    /// What it does, for people; lines of the file.
    pub about: &'static str,
    /// Whether a change is taken while Vigie runs.
    pub live: bool,
}

impl Setting {
    const fn new(path: &'static str, kind: Kind, default: &'static str, about: &'static str) -> Self {
        Self { path, kind, default, about, live: false }
    }

    const fn live(mut self) -> Self {
        self.live = true;
        self
    }

    /// Its environment variable, `VIGIE_` and the path; none for lists of maps.
    #[must_use]
    pub fn variable(&self) -> Option<String> {
        let name = || format!("VIGIE_{}", self.path.replace('.', "_").to_uppercase());
        (!matches!(self.kind, Kind::Entries(_))).then(name)
    }
}

const fn count(min: i64, max: i64) -> Kind {
    Kind::Int { min, max }
}

const fn part(name: &'static str, kind: Kind, required: bool) -> Part {
    Part { name, kind, required }
}

const ID: Kind = count(1, i64::MAX);
const DAYS: Kind = count(1, 36_500);

static CERTIFICATE: &[Part] = &[
    part("id", ID, true),
    part("name", Kind::Text, true),
    part("ca_file", Kind::Text, false),
    part("cert_file", Kind::Text, false),
    part("key_file", Kind::Text, false),
    part("pkcs12_file", Kind::Text, false),
    part("password_file", Kind::Text, false),
];
static LOCATION: &[Part] = &[
    part("id", ID, true),
    part("name", Kind::Text, true),
    part("region", count(0, i64::MAX), false),
    part("source_ipv4", Kind::Ipv4, false),
    part("source_ipv6", Kind::Ipv6, false),
    part("interface", Kind::Text, false),
    part("name_servers", Kind::List(&Kind::Server), false),
    part("control_name", Kind::Text, false),
    part("egress_allow", Kind::List(&Kind::Network), false),
    part("egress_deny", Kind::List(&Kind::Network), false),
    part("proxy", Kind::Target, false),
    part("proxy_username", Kind::Text, false),
    part("proxy_password_file", Kind::Text, false),
    part("verifies", Kind::Flag, false),
    part("connectivity_targets", Kind::List(&Kind::Target), false),
    part("total", count(1, 1_000_000), false),
    part("light", count(1, 1_000_000), false),
    part("heavy", count(1, 1_000), false),
    part("per_target", count(1, 1_000_000), false),
    part("queue", count(1, 10_000_000), false),
];
static PROXY: &[Part] = &[
    part("id", ID, true),
    part("kind", Kind::Choice(&crate::net::ProxyKind::NAMES), true),
    part("server", Kind::Target, true),
    part("username", Kind::Text, false),
    part("password_file", Kind::Text, false),
];
static REMOTE: &[Part] = &[
    part("browser", Kind::Choice(&crate::browser::BrowserKind::NAMES), true),
    part("url", Kind::Text, true),
    part("forward_host", Kind::Text, false),
    part("from", Kind::List(&Kind::Network), false),
];
static PROFILE: &[Part] = &[
    part("subtype", count(1, 3), true),
    part("name", Kind::Text, true),
    part("width", count(100, 7680), false),
    part("height", count(100, 7680), false),
    part("scale", Kind::Number { min: 0.5, max: 5.0 }, false),
    part("mobile", Kind::Flag, false),
    part("touch", Kind::Flag, false),
    part("user_agent", Kind::Formed(TextFormat::HeaderValue), false),
    part("headers", Kind::Entries(HEADER), false),
    part("blocked_hosts", Kind::List(&Kind::HostPattern), false),
];
static HEADER: &[Part] = &[
    part("name", Kind::Formed(TextFormat::HeaderName), true),
    part("value", Kind::Formed(TextFormat::HeaderValue), true),
];
/// Usual devices, as their browsers tell of themselves.
const DEVICES: &str = "\
[
    {subtype: 1, name: small phone, width: 360, height: 740, scale: 3, mobile: true, touch: true,
     user_agent: 'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Mobile Safari/537.36'},
    {subtype: 2, name: large phone, width: 430, height: 840, scale: 3, mobile: true, touch: true,
     user_agent: 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1'},
    {subtype: 3, name: tablet, width: 820, height: 1106, scale: 2, mobile: true, touch: true,
     user_agent: 'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36'},
  ]";
static DNS_NAME: &[Part] = &[part("id", ID, true), part("name", Kind::Text, true)];
static PLAN: &[Part] = &[
    part("code", Kind::Text, true),
    part("types", Kind::List(&Kind::Text), false),
    part("least_interval", count(1, 120), false),
    part("monitors", count(0, i64::MAX), false),
    part("locations", count(1, i64::MAX), false),
];

/// Sections with what they are about, in the order of the file. `""` is the top.
pub static SECTIONS: &[(&str, &str)] = &[
    ("", ""),
    ("server", "The HTTP server behind `listen`."),
    ("log", "Logs go to standard error."),
    ("engine", "How much runs at once. What finds no place within its interval is recorded as missed."),
    ("store", "The database, `vigie.db` in the data folder (SQLite)."),
    ("location", "This monitoring location."),
    ("tls", "Whom checks trust."),
    ("dns", "Name-server monitors."),
    ("checks", "What checks have in common."),
    (
        "browser",
        "Browsers of `browserscript`, each started for one check with a profile and a forward proxy of its own.",
    ),
    ("mobile", "What browser scripts pretend to be, and which locations stand in a mobile network."),
    (
        "alerts",
        "How alerts are delivered. Webhooks, mail and traps are held to the egress policy of `location`.",
    ),
    ("page", "What is told of the objects of a page."),
    ("mail", "The server that mail is handed to."),
    ("sms", "The gateway of short messages."),
    ("heartbeat", "So that somebody notices when Vigie is gone."),
];

/// Every setting, in the order of the file.
pub static SETTINGS: &[Setting] = &[
    Setting::new(
        "listen",
        Kind::Listen,
        "127.0.0.1:7979",
        "Where pages, APIs and /metrics are served; several addresses as a list or separated by commas. Port 0 picks\na free one and the log says which. Other hosts reach it only on another address than loopback: give it a\ncertificate then (`server`). The APIs ask for a login everywhere; for the pages see `server.public_pages`.",
    ),
    Setting::new("data", Kind::Text, "vigie-data", "Folder for the database. It is made when it is missing."),
    Setting::new(
        "monitors",
        Kind::List(&Kind::Text),
        "[vigie-monitors]",
        "Folders of monitor files (*.yaml, *.yml, *.json), or single files. Changes are taken as they happen.",
    )
    .live(),
    Setting::new(
        "certificates",
        Kind::Entries(CERTIFICATE),
        "[]",
        "Certificates that monitors name by id: `ca_cert_id` a private CA (ca_file), `ssl_cert_id` a client\ncertificate, whose name the API shows: cert_file with its chain and key_file, or pkcs12_file and\npassword_file (none: no password). All other files are PEM.\nExample: [{id: 1, name: shop client, cert_file: /etc/vigie/shop.pem, key_file: /etc/vigie/shop.key}]",
    ),
    Setting::new(
        "proxies",
        Kind::Entries(PROXY),
        "[]",
        "Forward proxies that monitors name by `proxy_id`. `http` is asked by CONNECT, with a Basic login; `socks5`\nby SOCKS 5, with or without one. Names are resolved here, and the egress policy of the location holds for\nthe target and for the proxy. What a monitor names beats `location.proxy`, and is used for targets on\nloopback too. Example:\n[{id: 1, kind: socks5, server: 'proxy.example.net:1080', username: watch, password_file: /etc/vigie/proxy}]",
    )
    .live(),
    Setting::new(
        "plans",
        Kind::Entries(PLAN),
        "[]",
        "Billing plans. When there are any, the `billing_plancode` of every monitor has to be one of them, and is\nheld to its limits: types, least interval in minutes, number of monitors, locations of one monitor.\nExample: [{code: basic, types: [website, tcp], least_interval: 5, monitors: 100, locations: 1}]",
    )
    .live(),
    Setting::new(
        "locations",
        Kind::Entries(LOCATION),
        "[]",
        "Further locations that this process hosts beside the one of `location`, each with id and name, all else\nas there; what an entry leaves out has the default of `location`, and of `engine` for its own limits (total,\nlight, heavy, per_target, queue).\nExample: [{id: 2, name: second uplink, region: 1, source_ipv4: 192.0.2.7, verifies: true, total: 500}]",
    ),
    Setting::new(
        "server.tls_cert_file",
        Kind::Text,
        "null",
        "PEM file of the certificate with its chain; with it the server speaks HTTPS only. Both files are taken anew\nwhen they change and on SIGHUP; a bad new pair leaves the one before in force.",
    ),
    Setting::new("server.tls_key_file", Kind::Text, "null", "PEM file of the private key of that certificate."),
    Setting::new(
        "server.body_bytes",
        count(1_024, 1_073_741_824),
        "75497472",
        "Bytes of a request body that are read at most. The default has room for a JAR of 50 MiB as Base64.",
    ),
    Setting::new(
        "server.request_seconds",
        count(1, 3_600),
        "120",
        "Time until the answer to a request has to begin, its body read; a client that stands still for longer is\nlet go.",
    ),
    Setting::new(
        "server.public_pages",
        Kind::Flag,
        "false",
        "Whether everybody may see the status page, the pages of monitors and /metrics. With false they are for\ncallers on this host (not through a proxy) and for those with a bearer token of account 1.",
    ),
    Setting::new("log.format", Kind::Choice(&crate::telemetry::LogFormat::NAMES), "text", "`text` for people, `json` for machines."),
    Setting::new("log.level", Kind::LogFilter, "info", "error, warn, info, debug or trace, or levels by module: `info,vigie::net=debug`."),
    Setting::new("engine.total", count(1, 1_000_000), "2000", "Checks that run at once."),
    Setting::new("engine.light", count(1, 1_000_000), "2000", "Light ones (sockets only) among them."),
    Setting::new("engine.heavy", count(1, 1_000), "2", "Heavy ones (browsers) among them."),
    Setting::new("engine.per_target", count(1, 1_000_000), "100", "Checks that ask one target host at once."),
    Setting::new("engine.queue", count(1, 10_000_000), "100000", "Due checks that wait for a place."),
    Setting::new(
        "engine.drain_seconds",
        count(0, 3_600),
        "30",
        "After SIGTERM, running checks get so long to end; what still runs then is recorded as unknown.",
    ),
    Setting::new(
        "store.synchronous",
        Kind::Choice(&["normal", "full"]),
        "full",
        "`full`: no kept result is lost, commits share a flush. `normal`: a power cut may lose the last ones.",
    ),
    Setting::new(
        "store.cache_mib",
        count(1, 65_536),
        "64",
        "Memory for pages of the database, in MiB; it fills as the database grows. Less is slower with very many\nmonitors.",
    ),
    Setting::new(
        "store.key_file",
        Kind::Text,
        "null",
        "The keys that seal the secrets in the database; null: `vigie.key` among the credentials of systemd\n(LoadCredential=), or else in the data folder, where it is made. Keep a copy of it apart from the database.",
    ),
    Setting::new("store.keep_results_days", DAYS, "90", "How long single results are kept."),
    Setting::new("store.keep_details_ok_days", DAYS, "7", "How long details (attempts, phases, facts) of ok results are kept."),
    Setting::new("store.keep_details_failed_days", DAYS, "90", "How long details of all other results are kept."),
    Setting::new("store.keep_hourly_days", DAYS, "400", "How long hourly figures are kept."),
    Setting::new("store.keep_daily_days", DAYS, "1830", "How long daily figures are kept."),
    Setting::new("store.keep_audit_days", DAYS, "400", "How long the audit trail is kept: who changed what when."),
    Setting::new("store.retention_at", Kind::ClockTime, "\"03:17\"", "When old data are removed each day, UTC."),
    Setting::new("location.id", ID, "1", "Its number; monitors name it in `home_location` and `locations`."),
    Setting::new("location.name", Kind::Text, "local", "Its name, for people."),
    Setting::new("location.region", count(0, i64::MAX), "0", "Its region code; verification prefers another region."),
    Setting::new("location.source_ipv4", Kind::Ipv4, "null", "Source address of IPv4 connections; null leaves it to the routing table."),
    Setting::new("location.source_ipv6", Kind::Ipv6, "null", "Source address of IPv6 connections."),
    Setting::new("location.interface", Kind::Text, "null", "Network interface that checks leave through (needs CAP_NET_RAW on old kernels)."),
    Setting::new(
        "location.name_servers",
        Kind::List(&Kind::Server),
        "[]",
        "Name servers that checks ask, in this order; none means those of /etc/resolv.conf.",
    ),
    Setting::new(
        "location.control_name",
        Kind::Text,
        "\".\"",
        "A name that is asked for when the resolver is silent about a target: answered, the target is at fault,\nelse the resolver.",
    ),
    Setting::new(
        "location.egress_allow",
        Kind::List(&Kind::Network),
        "[]",
        "Networks that checks may talk to; the rule with the longest prefix decides.",
    ),
    Setting::new(
        "location.egress_deny",
        Kind::List(&Kind::Network),
        "[]",
        "Networks that checks may not talk to, beside link-local ones and the metadata addresses of clouds.",
    ),
    Setting::new(
        "location.proxy",
        Kind::Target,
        "null",
        "Host and port of an HTTP proxy through which TCP connections of checks leave (CONNECT to the address: names\nare resolved here, and the egress policy holds). Pings, UDP and targets on loopback go without it.",
    ),
    Setting::new("location.proxy_username", Kind::Text, "null", "Who logs in to the proxy (Basic); null for nobody."),
    Setting::new("location.proxy_password_file", Kind::Text, "null", "The file with the password of that login."),
    Setting::new(
        "location.verifies",
        Kind::Flag,
        "false",
        "Whether it looks at failures of monitors that do not run here, when no location of theirs can.",
    ),
    Setting::new(
        "location.connectivity_targets",
        Kind::List(&Kind::Target),
        "[]",
        "Hosts with a port that never fail together. When a check fails and none of them lets us connect, the failure\ncounts as unknown: the location itself is cut off. Targets on loopback are left alone.",
    ),
    Setting::new("tls.system_roots", Kind::Flag, "true", "Whether the CAs of the operating system are trusted."),
    Setting::new("tls.ca_files", Kind::List(&Kind::Text), "[]", "PEM files of further CAs that every check trusts."),
    Setting::new("dns.default_name", Kind::Text, "example.com", "The name behind `name_to_resolve_id: 0`.").live(),
    Setting::new("dns.names", Kind::Entries(DNS_NAME), "[]", "Names behind further ids. Example: [{id: 1, name: www.example.org}]").live(),
    Setting::new("checks.certificate_days", count(1, 3_650), "30", "Days before a certificate's end at which `Expiring` warns.").live(),
    Setting::new("checks.body_bytes", count(1_024, 1_073_741_824), "10485760", "Bytes of a body that are read at most, after decompression.").live(),
    Setting::new("checks.user_agent", Kind::Text, "null", "What checks call themselves in `User-Agent`; null means `vigie/` and the version.").live(),
    Setting::new(
        "browser.chromium",
        Kind::Text,
        "null",
        "Program of Chromium or Google Chrome; null looks for `chromium`, `google-chrome-stable`, `google-chrome`\nand `chromium-browser` in PATH. On Debian: packages chromium and chromium-driver.",
    ),
    Setting::new("browser.chromedriver", Kind::Text, "null", "Its driver, of the same major version; null looks for `chromedriver`."),
    Setting::new("browser.firefox", Kind::Text, "null", "Program of Firefox; null looks for `firefox-esr` and `firefox` in PATH."),
    Setting::new(
        "browser.geckodriver",
        Kind::Text,
        "null",
        "Its driver; null looks for `geckodriver`. `cargo install geckodriver --locked` builds it.",
    ),
    Setting::new(
        "browser.remote",
        Kind::Entries(REMOTE),
        "[]",
        "End points of WebDriver that are used instead of a browser of this host, one a browser: a grid, or drivers\nin a unit of their own (systemd/vigie-webdriver.service). Internet Explorer is had in this way only. url:\nhttp alone, without a login. forward_host: the address of this host on which browsers there reach our\nforward proxy; without it the egress policy could not be held, and such checks say so (95). from: networks\nthat they come from; without it the address in the url. Whoever comes from there may use the proxy while a\ncheck runs.\nExample:\n[{browser: Internet Explorer, url: 'http://grid.example.net:4444', forward_host: 192.0.2.7, from:\n[192.0.2.32/28]}]",
    ),
    Setting::new(
        "browser.user",
        Kind::Text,
        "null",
        "User that browsers and drivers run as when Vigie runs as root; null: the own one. Chromium has no sandbox\nas root (it is started with --no-sandbox then), so root without this is for containers that are thrown\naway.",
    ),
    Setting::new(
        "browser.sandbox",
        Kind::Flag,
        "true",
        "Whether Chromium keeps its own sandbox. It needs user namespaces or the package chromium-sandbox; where\nneither is allowed it does not start. With false a page that breaks out of its renderer is the user above.",
    ),
    Setting::new(
        "browser.folder",
        Kind::Text,
        "null",
        "Folder of the profiles, removed with each check. null: `browsers` in the data folder; where that path is\ntoo long for a socket, or another user could not enter it, one below the folder for temporary files.",
    ),
    Setting::new(
        "browser.memory_mb",
        count(128, 1_048_576),
        "1536",
        "MiB that one browser may take, all its processes together; one that takes more is ended, and the check\nsays so.",
    ),
    Setting::new(
        "browser.total_memory_mb",
        count(128, 16_777_216),
        "null",
        "MiB for all browsers: so many run at once as have room, beside `engine.heavy`. null: half of what the host\nhas.",
    ),
    Setting::new("browser.nice", count(0, 19), "5", "How much browsers step back for other processes (nice)."),
    Setting::new("browser.start_seconds", count(1, 120), "30", "Time for a driver and its browser to be ready."),
    Setting::new(
        "mobile.region",
        count(0, i64::MAX),
        "null",
        "The region code of locations in mobile networks; `has_mobile_locations` and `mobile_location_count` of\nbrowser scripts count those. null: there are none.",
    )
    .live(),
    Setting::new(
        "mobile.profiles",
        Kind::Entries(PROFILE),
        DEVICES,
        "Devices that browser scripts pretend to be, by their `subtype`; `mobile_type` shows the name. A list of your\nown takes the place of this one as a whole. width, height: the page in CSS pixels (1366 and 768 if left out);\nscale: device pixels a CSS pixel (1); mobile: pages are laid out as on a phone (false); touch: it has a touch\nscreen (false); user_agent (the browser's own); headers: fields that go with every request, [{name, value}];\nblocked_hosts: hosts that nothing is fetched from, such as 'ads.example.com' or '*.tracker.example'.",
    )
    .live(),
    Setting::new(
        "alerts.per_minute",
        count(0, 10_000),
        "10",
        "Messages to one recipient within a minute; the rest is told in one digest. 0 is no limit.",
    ),
    Setting::new("alerts.at_once", count(1, 1_000), "64", "Messages that are handed over at once, over all recipients."),
    Setting::new("alerts.try_seconds", count(1, 300), "20", "How long one try of a webhook may take."),
    Setting::new(
        "alerts.longest_pause_seconds",
        count(5, 86_400),
        "300",
        "The longest pause between two tries; pauses begin with 5 s and double.",
    ),
    Setting::new(
        "alerts.give_up_hours",
        count(1, 720),
        "24",
        "How old a message may become before it is given up, listed as dead and reported as an event.",
    ),
    Setting::new(
        "alerts.trap_enterprise",
        Kind::Text,
        "1.3.6.1.4.1.8072.9999.9999",
        "The object identifier under which SNMP traps stand; the default is the one that Net-SNMP leaves to\nexperiments.",
    ),
    Setting::new("alerts.no_data_runs", count(0, 1_000), "5", "Runs of a monitor in a row without data after which that is told; 0 never."),
    Setting::new("page.size_tolerance_percent", count(0, 1_000_000), "10", "Percent of its size by which an object of a page may grow or shrink before that is a change (7121)."),
    Setting::new("mail.server", Kind::Text, "null", "Host of the mail server, with or without a port (25; 465 with `implicit`). null: mail waits."),
    Setting::new(
        "mail.tls",
        Kind::Choice(&["auto", "starttls", "implicit", "none"]),
        "auto",
        "`auto`: from the first byte on port 465, else by STARTTLS when the server offers it. `starttls`, `implicit`:\nthat or nothing. `none`: never.",
    ),
    Setting::new("mail.verify_certificate", Kind::Flag, "true", "Whether the certificate of the server must be valid; `tls.ca_files` count."),
    Setting::new("mail.username", Kind::Text, "null", "Who logs in; null for nobody. The password never goes out unencrypted, but with `tls: none`."),
    Setting::new("mail.password_file", Kind::Text, "null", "The file with the password."),
    Setting::new("mail.from", Kind::Text, "\"Vigie <vigie@localhost>\"", "In whose name mail is sent."),
    Setting::new("mail.hello", Kind::Text, "null", "The name of this host in EHLO, of alerts and of checks.\nnull: alerts say `localhost`, checks the address that they come from."),
    Setting::new("mail.try_seconds", count(1, 600), "60", "How long one try may take."),
    Setting::new("sms.url", Kind::Text, "null", "URL that short messages are posted to. null: they wait."),
    Setting::new("sms.format", Kind::Choice(&["form", "json"]), "form", "What the body is; values in it are escaped for that."),
    Setting::new(
        "sms.body",
        Kind::Text,
        "\"to={{ to }}&text={{ text }}\"",
        "The body; `{{ to }}`, `{{ text }}`, `{{ from }}` and `{{ key }}` stand for values.\nAs JSON they bring their quotes.",
    ),
    Setting::new("sms.from", Kind::Text, "null", "The sender, as the gateway wants it."),
    Setting::new("sms.username", Kind::Text, "null", "Login of the gateway; with a password alone, that is a token."),
    Setting::new("sms.password_file", Kind::Text, "null", "The file with the password or token."),
    Setting::new(
        "heartbeat.url",
        Kind::Text,
        "null",
        "URL that is called each minute while checks are run and results are kept. Whoever waits for the call notices\nwhen it stays away.",
    ),
];
