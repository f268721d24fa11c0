//! Every setting, declared once: name, type, default and documentation. The file config/vigie.yaml, the names of the
//! environment variables and every message derive from it.

use super::setting_type::{EntryField, SettingType};
use crate::syntax::text_format::TextFormat;

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Path in the file: `section.name`, or the name alone at the top level.
    pub path: &'static str,
    /// Its type.
    pub setting_type: SettingType,
    /// Default value, as YAML; `null` for none.
    pub default: &'static str,
    /// Description for people; comment lines of the file.
    pub description: &'static str,
    /// Whether a change takes effect without a restart.
    pub reloadable: bool,
}

impl Setting {
    const fn new(
        path: &'static str,
        kind: SettingType,
        default: &'static str,
        description: &'static str,
    ) -> Self {
        Self { path, setting_type: kind, default, description, reloadable: false }
    }

    const fn reloadable(mut self) -> Self {
        self.reloadable = true;
        self
    }

    /// Returns its environment variable, `VIGIE_` and the path; `None` for lists of maps.
    #[must_use]
    pub fn env_var(&self) -> Option<String> {
        let name = || format!("VIGIE_{}", self.path.replace('.', "_").to_uppercase());
        (!matches!(self.setting_type, SettingType::MapList(_))).then(name)
    }
}

const fn int_range(min: i64, max: i64) -> SettingType {
    SettingType::Int { min, max }
}

const fn entry_field(name: &'static str, kind: SettingType, required: bool) -> EntryField {
    EntryField { name, setting_type: kind, required }
}

const ID: SettingType = int_range(1, i64::MAX);
const DAYS: SettingType = int_range(1, 36_500);

static CERTIFICATE: &[EntryField] = &[
    entry_field("id", ID, true),
    entry_field("name", SettingType::Text, true),
    entry_field("ca_file", SettingType::Text, false),
    entry_field("cert_file", SettingType::Text, false),
    entry_field("key_file", SettingType::Text, false),
    entry_field("pkcs12_file", SettingType::Text, false),
    entry_field("password_file", SettingType::Text, false),
];
static LOCATION: &[EntryField] = &[
    entry_field("id", ID, true),
    entry_field("name", SettingType::Text, true),
    entry_field("region", int_range(0, i64::MAX), false),
    entry_field("source_ipv4", SettingType::Ipv4, false),
    entry_field("source_ipv6", SettingType::Ipv6, false),
    entry_field("interface", SettingType::Text, false),
    entry_field("name_servers", SettingType::List(&SettingType::NameServer), false),
    entry_field("control_name", SettingType::Text, false),
    entry_field("egress_allow", SettingType::List(&SettingType::Network), false),
    entry_field("egress_deny", SettingType::List(&SettingType::Network), false),
    entry_field("proxy", SettingType::Endpoint, false),
    entry_field("proxy_username", SettingType::Text, false),
    entry_field("proxy_password_file", SettingType::Text, false),
    entry_field("verifies", SettingType::Bool, false),
    entry_field("connectivity_targets", SettingType::List(&SettingType::Endpoint), false),
    entry_field("total", int_range(1, 1_000_000), false),
    entry_field("light", int_range(1, 1_000_000), false),
    entry_field("heavy", int_range(1, 1_000), false),
    entry_field("per_target", int_range(1, 1_000_000), false),
    entry_field("queue", int_range(1, 10_000_000), false),
];
static PROXY: &[EntryField] = &[
    entry_field("id", ID, true),
    entry_field("kind", SettingType::Choice(&crate::net::ProxyKind::NAMES), true),
    entry_field("server", SettingType::Endpoint, true),
    entry_field("username", SettingType::Text, false),
    entry_field("password_file", SettingType::Text, false),
];
static REMOTE: &[EntryField] = &[
    entry_field("browser", SettingType::Choice(&crate::browser::BrowserKind::NAMES), true),
    entry_field("url", SettingType::Text, true),
    entry_field("forward_host", SettingType::Text, false),
    entry_field("from", SettingType::List(&SettingType::Network), false),
];
static PROFILE: &[EntryField] = &[
    entry_field("subtype", int_range(1, 3), true),
    entry_field("name", SettingType::Text, true),
    entry_field("width", int_range(100, 7680), false),
    entry_field("height", int_range(100, 7680), false),
    entry_field("scale", SettingType::Float { min: 0.5, max: 5.0 }, false),
    entry_field("mobile", SettingType::Bool, false),
    entry_field("touch", SettingType::Bool, false),
    entry_field("user_agent", SettingType::FormattedText(TextFormat::HeaderValue), false),
    entry_field("headers", SettingType::MapList(HEADER), false),
    entry_field("blocked_hosts", SettingType::List(&SettingType::HostPattern), false),
];
static HEADER: &[EntryField] = &[
    entry_field("name", SettingType::FormattedText(TextFormat::HeaderName), true),
    entry_field("value", SettingType::FormattedText(TextFormat::HeaderValue), true),
];
/// Common devices, with the user agents of their browsers.
const DEFAULT_DEVICES: &str = "\
[
    {subtype: 1, name: small phone, width: 360, height: 740, scale: 3, mobile: true, touch: true,
     user_agent: 'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Mobile Safari/537.36'},
    {subtype: 2, name: large phone, width: 430, height: 840, scale: 3, mobile: true, touch: true,
     user_agent: 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1'},
    {subtype: 3, name: tablet, width: 820, height: 1106, scale: 2, mobile: true, touch: true,
     user_agent: 'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36'},
  ]";
static DNS_NAME: &[EntryField] = &[entry_field("id", ID, true), entry_field("name", SettingType::Text, true)];
static PLAN: &[EntryField] = &[
    entry_field("code", SettingType::Text, true),
    entry_field("types", SettingType::List(&SettingType::Text), false),
    entry_field("least_interval", int_range(1, 120), false),
    entry_field("monitors", int_range(0, i64::MAX), false),
    entry_field("locations", int_range(1, i64::MAX), false),
];

/// Sections with their descriptions, in the order of the file. `""` is the top level.
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
        SettingType::Listen,
        "127.0.0.1:7979",
        "Where pages, APIs and /metrics are served; several addresses as a list or separated by commas. Port 0 picks\na free one and the log says which. Other hosts reach it only on another address than loopback: give it a\ncertificate then (`server`). The APIs ask for a login everywhere; for the pages see `server.public_pages`.",
    ),
    Setting::new("data", SettingType::Text, "vigie-data", "Folder for the database. It is made when it is missing."),
    Setting::new(
        "monitors",
        SettingType::List(&SettingType::Text),
        "[vigie-monitors]",
        "Folders of monitor files (*.yaml, *.yml, *.json), or single files. Changes are taken as they happen.",
    )
    .reloadable(),
    Setting::new(
        "certificates",
        SettingType::MapList(CERTIFICATE),
        "[]",
        "Certificates that monitors name by id: `ca_cert_id` a private CA (ca_file), `ssl_cert_id` a client\ncertificate, whose name the API shows: cert_file with its chain and key_file, or pkcs12_file and\npassword_file (none: no password). All other files are PEM.\nExample: [{id: 1, name: shop client, cert_file: /etc/vigie/shop.pem, key_file: /etc/vigie/shop.key}]",
    ),
    Setting::new(
        "proxies",
        SettingType::MapList(PROXY),
        "[]",
        "Forward proxies that monitors name by `proxy_id`. `http` is asked by CONNECT, with a Basic login; `socks5`\nby SOCKS 5, with or without one. Names are resolved here, and the egress policy of the location holds for\nthe target and for the proxy. What a monitor names beats `location.proxy`, and is used for targets on\nloopback too. Example:\n[{id: 1, kind: socks5, server: 'proxy.example.net:1080', username: watch, password_file: /etc/vigie/proxy}]",
    )
    .reloadable(),
    Setting::new(
        "plans",
        SettingType::MapList(PLAN),
        "[]",
        "Billing plans. When there are any, the `billing_plancode` of every monitor has to be one of them, and is\nheld to its limits: types, least interval in minutes, number of monitors, locations of one monitor.\nExample: [{code: basic, types: [website, tcp], least_interval: 5, monitors: 100, locations: 1}]",
    )
    .reloadable(),
    Setting::new(
        "locations",
        SettingType::MapList(LOCATION),
        "[]",
        "Further locations that this process hosts beside the one of `location`, each with id and name, all else\nas there; what an entry leaves out has the default of `location`, and of `engine` for its own limits (total,\nlight, heavy, per_target, queue).\nExample: [{id: 2, name: second uplink, region: 1, source_ipv4: 192.0.2.7, verifies: true, total: 500}]",
    ),
    Setting::new(
        "server.tls_cert_file",
        SettingType::Text,
        "null",
        "PEM file of the certificate with its chain; with it the server speaks HTTPS only. Both files are taken anew\nwhen they change and on SIGHUP; a bad new pair leaves the one before in force.",
    ),
    Setting::new("server.tls_key_file", SettingType::Text, "null", "PEM file of the private key of that certificate."),
    Setting::new(
        "server.body_bytes",
        int_range(1_024, 1_073_741_824),
        "75497472",
        "Bytes of a request body that are read at most. The default has room for a JAR of 50 MiB as Base64.",
    ),
    Setting::new(
        "server.request_seconds",
        int_range(1, 3_600),
        "120",
        "Time until the answer to a request has to begin, its body read; a client that stands still for longer is\nlet go.",
    ),
    Setting::new(
        "server.public_pages",
        SettingType::Bool,
        "false",
        "Whether everybody may see the status page, the pages of monitors and /metrics. With false they are for\ncallers on this host (not through a proxy) and for those with a bearer token of account 1.",
    ),
    Setting::new("log.format", SettingType::Choice(&crate::telemetry::LogFormat::NAMES), "text", "`text` for people, `json` for machines."),
    Setting::new("log.level", SettingType::LogFilter, "info", "error, warn, info, debug or trace, or levels by module: `info,vigie::net=debug`."),
    Setting::new("engine.total", int_range(1, 1_000_000), "2000", "Checks that run at once."),
    Setting::new("engine.light", int_range(1, 1_000_000), "2000", "Light ones (sockets only) among them."),
    Setting::new("engine.heavy", int_range(1, 1_000), "2", "Heavy ones (browsers) among them."),
    Setting::new("engine.per_target", int_range(1, 1_000_000), "100", "Checks that ask one target host at once."),
    Setting::new("engine.queue", int_range(1, 10_000_000), "100000", "Due checks that wait for a place."),
    Setting::new(
        "engine.drain_seconds",
        int_range(0, 3_600),
        "30",
        "After SIGTERM, running checks get so long to end; what still runs then is recorded as unknown.",
    ),
    Setting::new(
        "store.synchronous",
        SettingType::Choice(&["normal", "full"]),
        "full",
        "`full`: no kept result is lost, commits share a flush. `normal`: a power cut may lose the last ones.",
    ),
    Setting::new(
        "store.cache_mib",
        int_range(1, 65_536),
        "64",
        "Memory for pages of the database, in MiB; it fills as the database grows. Less is slower with very many\nmonitors.",
    ),
    Setting::new(
        "store.key_file",
        SettingType::Text,
        "null",
        "The keys that seal the secrets in the database; null: `vigie.key` among the credentials of systemd\n(LoadCredential=), or else in the data folder, where it is made. Keep a copy of it apart from the database.",
    ),
    Setting::new("store.keep_results_days", DAYS, "90", "How long single results are kept."),
    Setting::new("store.keep_details_ok_days", DAYS, "7", "How long details (attempts, phases, facts) of ok results are kept."),
    Setting::new("store.keep_details_failed_days", DAYS, "90", "How long details of all other results are kept."),
    Setting::new("store.keep_hourly_days", DAYS, "400", "How long hourly figures are kept."),
    Setting::new("store.keep_daily_days", DAYS, "1830", "How long daily figures are kept."),
    Setting::new("store.keep_audit_days", DAYS, "400", "How long the audit trail is kept: who changed what when."),
    Setting::new("store.retention_at", SettingType::TimeOfDay, "\"03:17\"", "When old data are removed each day, UTC."),
    Setting::new("location.id", ID, "1", "Its number; monitors name it in `home_location` and `locations`."),
    Setting::new("location.name", SettingType::Text, "local", "Its name, for people."),
    Setting::new("location.region", int_range(0, i64::MAX), "0", "Its region code; verification prefers another region."),
    Setting::new("location.source_ipv4", SettingType::Ipv4, "null", "Source address of IPv4 connections; null leaves it to the routing table."),
    Setting::new("location.source_ipv6", SettingType::Ipv6, "null", "Source address of IPv6 connections."),
    Setting::new("location.interface", SettingType::Text, "null", "Network interface that checks leave through (needs CAP_NET_RAW on old kernels)."),
    Setting::new(
        "location.name_servers",
        SettingType::List(&SettingType::NameServer),
        "[]",
        "Name servers that checks ask, in this order; none means those of /etc/resolv.conf.",
    ),
    Setting::new(
        "location.control_name",
        SettingType::Text,
        "\".\"",
        "A name that is asked for when the resolver is silent about a target: answered, the target is at fault,\nelse the resolver.",
    ),
    Setting::new(
        "location.egress_allow",
        SettingType::List(&SettingType::Network),
        "[]",
        "Networks that checks may talk to; the rule with the longest prefix decides.",
    ),
    Setting::new(
        "location.egress_deny",
        SettingType::List(&SettingType::Network),
        "[]",
        "Networks that checks may not talk to, beside link-local ones and the metadata addresses of clouds.",
    ),
    Setting::new(
        "location.proxy",
        SettingType::Endpoint,
        "null",
        "Host and port of an HTTP proxy through which TCP connections of checks leave (CONNECT to the address: names\nare resolved here, and the egress policy holds). Pings, UDP and targets on loopback go without it.",
    ),
    Setting::new("location.proxy_username", SettingType::Text, "null", "Who logs in to the proxy (Basic); null for nobody."),
    Setting::new("location.proxy_password_file", SettingType::Text, "null", "The file with the password of that login."),
    Setting::new(
        "location.verifies",
        SettingType::Bool,
        "false",
        "Whether it looks at failures of monitors that do not run here, when no location of theirs can.",
    ),
    Setting::new(
        "location.connectivity_targets",
        SettingType::List(&SettingType::Endpoint),
        "[]",
        "Hosts with a port that never fail together. When a check fails and none of them lets us connect, the failure\ncounts as unknown: the location itself is cut off. Targets on loopback are left alone.",
    ),
    Setting::new("tls.system_roots", SettingType::Bool, "true", "Whether the CAs of the operating system are trusted."),
    Setting::new("tls.ca_files", SettingType::List(&SettingType::Text), "[]", "PEM files of further CAs that every check trusts."),
    Setting::new("dns.default_name", SettingType::Text, "example.com", "The name behind `name_to_resolve_id: 0`.").reloadable(),
    Setting::new("dns.names", SettingType::MapList(DNS_NAME), "[]", "Names behind further ids. Example: [{id: 1, name: www.example.org}]").reloadable(),
    Setting::new("checks.certificate_days", int_range(1, 3_650), "30", "Days before a certificate's end at which `Expiring` warns.").reloadable(),
    Setting::new("checks.body_bytes", int_range(1_024, 1_073_741_824), "10485760", "Bytes of a body that are read at most, after decompression.").reloadable(),
    Setting::new("checks.user_agent", SettingType::Text, "null", "What checks call themselves in `User-Agent`; null means `vigie/` and the version.").reloadable(),
    Setting::new(
        "browser.chromium",
        SettingType::Text,
        "null",
        "Program of Chromium or Google Chrome; null looks for `chromium`, `google-chrome-stable`, `google-chrome`\nand `chromium-browser` in PATH. On Debian: packages chromium and chromium-driver.",
    ),
    Setting::new("browser.chromedriver", SettingType::Text, "null", "Its driver, of the same major version; null looks for `chromedriver`."),
    Setting::new("browser.firefox", SettingType::Text, "null", "Program of Firefox; null looks for `firefox-esr` and `firefox` in PATH."),
    Setting::new(
        "browser.geckodriver",
        SettingType::Text,
        "null",
        "Its driver; null looks for `geckodriver`. `cargo install geckodriver --locked` builds it.",
    ),
    Setting::new(
        "browser.remote",
        SettingType::MapList(REMOTE),
        "[]",
        "End points of WebDriver that are used instead of a browser of this host, one a browser: a grid, or drivers\nin a unit of their own (systemd/vigie-webdriver.service). Internet Explorer is had in this way only. url:\nhttp alone, without a login. forward_host: the address of this host on which browsers there reach our\nforward proxy; without it the egress policy could not be held, and such checks say so (95). from: networks\nthat they come from; without it the address in the url. Whoever comes from there may use the proxy while a\ncheck runs.\nExample:\n[{browser: Internet Explorer, url: 'http://grid.example.net:4444', forward_host: 192.0.2.7, from:\n[192.0.2.32/28]}]",
    ),
    Setting::new(
        "browser.user",
        SettingType::Text,
        "null",
        "User that browsers and drivers run as when Vigie runs as root; null: the own one. Chromium has no sandbox\nas root (it is started with --no-sandbox then), so root without this is for containers that are thrown\naway.",
    ),
    Setting::new(
        "browser.sandbox",
        SettingType::Bool,
        "true",
        "Whether Chromium keeps its own sandbox. It needs user namespaces or the package chromium-sandbox; where\nneither is allowed it does not start. With false a page that breaks out of its renderer is the user above.",
    ),
    Setting::new(
        "browser.folder",
        SettingType::Text,
        "null",
        "Folder of the profiles, removed with each check. null: `browsers` in the data folder; where that path is\ntoo long for a socket, or another user could not enter it, one below the folder for temporary files.",
    ),
    Setting::new(
        "browser.memory_mb",
        int_range(128, 1_048_576),
        "1536",
        "MiB that one browser may take, all its processes together; one that takes more is ended, and the check\nsays so.",
    ),
    Setting::new(
        "browser.total_memory_mb",
        int_range(128, 16_777_216),
        "null",
        "MiB for all browsers: so many run at once as have room, beside `engine.heavy`. null: half of what the host\nhas.",
    ),
    Setting::new("browser.nice", int_range(0, 19), "5", "How much browsers step back for other processes (nice)."),
    Setting::new("browser.start_seconds", int_range(1, 120), "30", "Time for a driver and its browser to be ready."),
    Setting::new(
        "mobile.region",
        int_range(0, i64::MAX),
        "null",
        "The region code of locations in mobile networks; `has_mobile_locations` and `mobile_location_count` of\nbrowser scripts count those. null: there are none.",
    )
    .reloadable(),
    Setting::new(
        "mobile.profiles",
        SettingType::MapList(PROFILE),
        DEFAULT_DEVICES,
        "Devices that browser scripts pretend to be, by their `subtype`; `mobile_type` shows the name. A list of your\nown takes the place of this one as a whole. width, height: the page in CSS pixels (1366 and 768 if left out);\nscale: device pixels a CSS pixel (1); mobile: pages are laid out as on a phone (false); touch: it has a touch\nscreen (false); user_agent (the browser's own); headers: fields that go with every request, [{name, value}];\nblocked_hosts: hosts that nothing is fetched from, such as 'ads.example.com' or '*.tracker.example'.",
    )
    .reloadable(),
    Setting::new(
        "alerts.per_minute",
        int_range(0, 10_000),
        "10",
        "Messages to one recipient within a minute; the rest is told in one digest. 0 is no limit.",
    ),
    Setting::new("alerts.at_once", int_range(1, 1_000), "64", "Messages that are handed over at once, over all recipients."),
    Setting::new("alerts.try_seconds", int_range(1, 300), "20", "How long one try of a webhook may take."),
    Setting::new(
        "alerts.longest_pause_seconds",
        int_range(5, 86_400),
        "300",
        "The longest pause between two tries; pauses begin with 5 s and double.",
    ),
    Setting::new(
        "alerts.give_up_hours",
        int_range(1, 720),
        "24",
        "How old a message may become before it is given up, listed as dead and reported as an event.",
    ),
    Setting::new(
        "alerts.trap_enterprise",
        SettingType::Text,
        "1.3.6.1.4.1.8072.9999.9999",
        "The object identifier under which SNMP traps stand; the default is the one that Net-SNMP leaves to\nexperiments.",
    ),
    Setting::new("alerts.no_data_runs", int_range(0, 1_000), "5", "Runs of a monitor in a row without data after which that is told; 0 never."),
    Setting::new("page.size_tolerance_percent", int_range(0, 1_000_000), "10", "Percent of its size by which an object of a page may grow or shrink before that is a change (7121)."),
    Setting::new("mail.server", SettingType::Text, "null", "Host of the mail server, with or without a port (25; 465 with `implicit`). null: mail waits."),
    Setting::new(
        "mail.tls",
        SettingType::Choice(&["auto", "starttls", "implicit", "none"]),
        "auto",
        "`auto`: from the first byte on port 465, else by STARTTLS when the server offers it. `starttls`, `implicit`:\nthat or nothing. `none`: never.",
    ),
    Setting::new("mail.verify_certificate", SettingType::Bool, "true", "Whether the certificate of the server must be valid; `tls.ca_files` count."),
    Setting::new("mail.username", SettingType::Text, "null", "Who logs in; null for nobody. The password never goes out unencrypted, but with `tls: none`."),
    Setting::new("mail.password_file", SettingType::Text, "null", "The file with the password."),
    Setting::new("mail.from", SettingType::Text, "\"Vigie <vigie@localhost>\"", "In whose name mail is sent."),
    Setting::new("mail.hello", SettingType::Text, "null", "The name of this host in EHLO, of alerts and of checks.\nnull: alerts say `localhost`, checks the address that they come from."),
    Setting::new("mail.try_seconds", int_range(1, 600), "60", "How long one try may take."),
    Setting::new("sms.url", SettingType::Text, "null", "URL that short messages are posted to. null: they wait."),
    Setting::new("sms.format", SettingType::Choice(&["form", "json"]), "form", "What the body is; values in it are escaped for that."),
    Setting::new(
        "sms.body",
        SettingType::Text,
        "\"to={{ to }}&text={{ text }}\"",
        "The body; `{{ to }}`, `{{ text }}`, `{{ from }}` and `{{ key }}` stand for values.\nAs JSON they bring their quotes.",
    ),
    Setting::new("sms.from", SettingType::Text, "null", "The sender, as the gateway wants it."),
    Setting::new("sms.username", SettingType::Text, "null", "Login of the gateway; with a password alone, that is a token."),
    Setting::new("sms.password_file", SettingType::Text, "null", "The file with the password or token."),
    Setting::new(
        "heartbeat.url",
        SettingType::Text,
        "null",
        "URL that is called each minute while checks are run and results are kept. Whoever waits for the call notices\nwhen it stays away.",
    ),
];
