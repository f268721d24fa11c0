//! Every setting, declared once: name, type, default and documentation. The file config/vigie.yaml, the names of the
//! environment variables and every message derive from it.

use super::entry_fields::{
    BILLING_PLAN_FIELDS, CERTIFICATE_FIELDS, DAYS, DEFAULT_DEVICES, DEVICE_PROFILE_FIELDS, DNS_NAME_FIELDS,
    EGRESS_ACCOUNT_FIELDS, ID, LOCATION_FIELDS, PROXY_FIELDS, REMOTE_WEBDRIVER_FIELDS, int_range,
};
use super::otlp_table::OTLP_SETTINGS;
use super::setting::Setting;
use super::setting_type::SettingType;
use crate::syntax::text_format::TextFormat;

/// Sections with their descriptions, in the order of the file. `""` is the top level.
pub static SECTIONS: &[(&str, &str)] = &[
    ("", ""),
    ("server", "The HTTP server behind `listen`."),
    ("log", "Logs go to standard error."),
    ("engine", "Concurrency limits. A run that cannot start within its interval is recorded as missed."),
    ("store", "The database: SQLite or PostgreSQL (`vigie help database`)."),
    ("bus", "Agents on other hosts (`vigie help many-hosts`)."),
    (
        "controller",
        "One of several controllers (`vigie help many-hosts`); only `vigie controller` uses these.",
    ),
    ("location", "This monitoring location."),
    ("egress", "What the monitors and recipients of single accounts may connect to."),
    ("tls", "Trusted certificate authorities."),
    ("dns", "Name-server monitors."),
    ("checks", "Defaults of all checks."),
    ("collections", "Collections of requests (`collection-api`)."),
    ("projects", "SoapUI projects of `api` monitors."),
    ("security", "Security scans (`security-scan`, `vigie help monitors/security-scan`)."),
    (
        "browser",
        "Browsers for `browserscript`; each check starts its own, with its own profile and forward proxy.",
    ),
    ("mobile", "Device emulation of browser scripts, and locations in mobile networks."),
    ("alerts", "Delivery of alerts. The egress policy of `location` applies to webhooks, mail and traps."),
    ("page", "Changes of the objects of a page."),
    ("mail", "The mail server for alerts."),
    ("sms", "The gateway for text messages."),
    ("heartbeat", "A dead man's switch for Vigie itself."),
    (
        "otlp",
        "Export of results by OpenTelemetry (`vigie help opentelemetry`). The egress policy of `location` applies.",
    ),
];

/// Every setting, in the order of the file.
pub static SETTINGS: &[Setting] = &concat::<{ FIRST_SETTINGS.len() + OTLP_SETTINGS.len() }>();

/// Returns the settings of all tables.
const fn concat<const COUNT: usize>() -> [Setting; COUNT] {
    let mut all = [OTLP_SETTINGS[0]; COUNT];
    let mut index = 0;
    while index < COUNT {
        all[index] = if index < FIRST_SETTINGS.len() {
            FIRST_SETTINGS[index]
        } else {
            OTLP_SETTINGS[index - FIRST_SETTINGS.len()]
        };
        index += 1;
    }
    all
}

/// The settings of all sections but the last.
const FIRST_SETTINGS: &[Setting] = &[
    Setting::new(
        "listen",
        SettingType::ListenAddresses,
        "127.0.0.1:7979",
        "Addresses for pages, APIs and /metrics, as a list or separated by commas. Port 0 picks a free port; the log\nshows it. Other hosts reach only addresses that are not loopback: configure a certificate for those\n(`server`). APIs and pages require a login; see `server.public_pages`.",
    ),
    Setting::new("data", SettingType::Text, "vigie-data", "Folder for the database (SQLite), the spool and keys, created if missing."),
    Setting::new(
        "monitors",
        SettingType::List(&SettingType::Text),
        "[vigie-monitors]",
        "Folders of monitor files (*.yaml, *.yml, *.json), or single files. Changes are loaded as they happen.",
    )
    .reloadable(),
    Setting::new(
        "certificates",
        SettingType::MapList(CERTIFICATE_FIELDS),
        "[]",
        "Certificates that monitors refer to by id: for `ca_cert_id` a private CA (ca_file); for `ssl_cert_id` a\nclient certificate, whose name the API shows: cert_file with its chain and key_file, or pkcs12_file and\npassword_file (optional). All other files are PEM.\n`accounts` lists the accounts that may use it; account 1 and monitor files always may.\nExample: [{id: 1, name: shop client, cert_file: /etc/vigie/shop.pem, key_file: /etc/vigie/shop.key}]",
    ),
    Setting::new(
        "proxies",
        SettingType::MapList(PROXY_FIELDS),
        "[]",
        "Forward proxies that monitors refer to by `proxy_id`: `http` (CONNECT, with Basic login) or `socks5` (login\noptional). Names are resolved here, and the egress policy of the location applies to the target and to the\nproxy. A proxy of the monitor takes precedence over `location.proxy` and is used for loopback targets too.\n`accounts` lists the accounts that may use it; account 1 and monitor files always may.\nExample:\n[{id: 1, kind: socks5, server: 'proxy.example.net:1080', username: watch, password_file: /etc/vigie/proxy}]",
    )
    .reloadable(),
    Setting::new(
        "plans",
        SettingType::MapList(BILLING_PLAN_FIELDS),
        "[]",
        "Billing plans. If any are defined, the `billing_plancode` of every monitor must be one of them, and its\nlimits apply: types, least interval in minutes, number of monitors, locations per monitor.\nExample: [{code: basic, types: [website, tcp], least_interval: 5, monitors: 100, locations: 1}]",
    )
    .reloadable(),
    Setting::new(
        "locations",
        SettingType::MapList(LOCATION_FIELDS),
        "[]",
        "Further locations that this process hosts beside the one in `location`. Each needs id and name and takes\nthe same settings; those left out have the defaults of `location`, and those of `engine` for its own limits\n(total, light, heavy, per_target, queue).\nExample: [{id: 2, name: second uplink, region: 1, source_ipv4: 192.0.2.7, verifies: true, total: 500}]",
    )
    .reloadable(),
    Setting::new(
        "server.tls_cert_file",
        SettingType::Text,
        "null",
        "PEM file of the certificate with its chain; if set, the server speaks HTTPS only. Both files are reloaded\nwhen they change and on SIGHUP; if the new pair is invalid, the previous one stays in force.",
    ),
    Setting::new("server.tls_key_file", SettingType::Text, "null", "PEM file of the private key of that certificate."),
    Setting::new(
        "server.body_bytes",
        int_range(1_024, 1_073_741_824),
        "75497472",
        "Maximum size of a request body in bytes. The default has room for a JAR of 50 MiB as Base64.",
    ),
    Setting::new(
        "server.request_seconds",
        int_range(1, 3_600),
        "120",
        "Time limit for a request until its response starts, reading the body included. A client that is idle for\nlonger is disconnected.",
    ),
    Setting::new(
        "server.public_pages",
        SettingType::Bool,
        "false",
        "Whether everyone may see the status page and the pages of monitors and results of all accounts, without\ncaptures. If false, the pages require a login, on this host too.",
    ),
    Setting::new(
        "server.hosts",
        SettingType::List(&SettingType::HostPattern),
        "[]",
        "Names under which browsers may open the pages, beside addresses, `localhost` and the name of this host.\nBehind a reverse proxy, its public name. Calls with a bearer token may use any name.\nExample: [vigie.example.net, '*.ops.example.net']",
    ),
    Setting::new(
        "server.trusted_proxies",
        SettingType::List(&SettingType::IpNetwork),
        "[]",
        "Networks of reverse proxies in front. Their X-Forwarded-For or Forwarded names the client, for slowing down\nguesses and for the audit trail, and X-Forwarded-Proto says whether it uses TLS. List only addresses of\nproxies that set these header fields themselves; both fields at once must agree.\nExample: ['127.0.0.0/8', 10.1.2.3/32]",
    ),
    Setting::new(
        "server.metrics_allow",
        SettingType::List(&SettingType::IpNetwork),
        "['127.0.0.0/8', '::1/128']",
        "Networks whose clients may read /metrics and /metrics/monitors without a token, unless a proxy forwards the\nrequest. All others need a token; for /metrics one of a user of account 1.",
    ),
    Setting::new(
        "server.metrics_properties",
        SettingType::List(&SettingType::Text),
        "[]",
        "Custom properties, by name, at most 5, whose values are labels of the metric `vigie_monitors_by_property`\nand of the metrics of each monitor (/metrics/monitors). Example: [team, environment]",
    ),
    Setting::new(
        "server.metrics_series",
        int_range(2, 1_000),
        "10",
        "Maximum number of series of a monitor in /metrics/monitors, without histograms. A monitor with TLS needs\nabout 14, and 13 more for each further location.",
    ),
    Setting::new(
        "server.metrics_histograms",
        SettingType::Bool,
        "false",
        "Whether /metrics/monitors has a histogram of the durations of each monitor at each location: 12 series more.",
    ),
    Setting::new("log.format", SettingType::Choice(&crate::telemetry::LogFormat::NAMES), "text", "`text` for people, `json` for machines."),
    Setting::new("log.level", SettingType::LogFilter, "info", "error, warn, info, debug or trace, or levels by module: `info,vigie::net=debug`."),
    Setting::new("engine.total", int_range(1, 1_000_000), "2000", "Maximum number of checks in progress."),
    Setting::new("engine.light", int_range(1, 1_000_000), "2000", "Maximum number of light checks (sockets only) among them."),
    Setting::new("engine.heavy", int_range(1, 1_000), "2", "Maximum number of heavy checks (browsers) among them."),
    Setting::new("engine.per_target", int_range(1, 1_000_000), "100", "Maximum number of checks of one target host in progress."),
    Setting::new("engine.queue", int_range(1, 10_000_000), "100000", "Maximum number of due checks that wait for a permit."),
    Setting::new(
        "engine.drain_seconds",
        int_range(0, 3_600),
        "30",
        "Time that running checks get to finish after SIGTERM; checks still running then are recorded as unknown.",
    ),
    Setting::new(
        "store.url",
        SettingType::Text,
        "null",
        "Where the database is: `sqlite:PATH`, or\n`postgres://USER@HOST:PORT/DATABASE?sslmode=verify-full&sslrootcert=FILE`; for a socket\n`postgres://USER@/DATABASE?host=/run/postgresql`. null: SQLite, `vigie.db` in the data folder.",
    ),
    Setting::new(
        "store.password_file",
        SettingType::Text,
        "null",
        "File with the password for PostgreSQL, unless `store.url` contains one. The variable VIGIE_STORE_PASSWORD\nbeats it. null: `vigie-store-password` among the credentials of systemd (LoadCredential=), if there is one.",
    ),
    Setting::new("store.max_connections", int_range(2, 1_000), "10", "Most connections to PostgreSQL. SQLite has none."),
    Setting::new("store.connect_seconds", int_range(1, 300), "10", "Time limit for a connection to PostgreSQL, until it can be used."),
    Setting::new("store.query_seconds", int_range(1, 3_600), "30", "Time limit for one query, with SQLite and PostgreSQL."),
    Setting::new(
        "store.synchronous",
        SettingType::Choice(&["normal", "full"]),
        "full",
        "SQLite: `full`: no stored result is lost in a power cut; commits share a flush. `normal`: the last results\nmay be lost. PostgreSQL always has `full`.",
    ),
    Setting::new(
        "store.cache_mib",
        int_range(1, 65_536),
        "64",
        "SQLite: memory for database pages in MiB; it fills as the database grows. Less is slower with very many\nmonitors. For PostgreSQL, `shared_buffers` of its server counts.",
    ),
    Setting::new(
        "store.key_file",
        SettingType::Text,
        "null",
        "File of the keys that encrypt the secrets in the database. null: `vigie.key` among the credentials of\nsystemd (LoadCredential=), or else in the data folder, created if missing. Keep a copy of it apart from the\ndatabase.",
    ),
    Setting::new(
        "store.spool_dir",
        SettingType::Text,
        "null",
        "Folder for results that the database did not take before the process ended, as when its disk was full or it\nwas away. The next start stores them. null: `spool` in the data folder. A folder on another disk helps more.",
    ),
    Setting::new("store.spool_mib", int_range(1, 1_048_576), "1024", "Most MiB in that folder. Beyond it, the oldest captures are dropped, then the oldest results."),
    Setting::new("store.spool_days", int_range(1, 3_650), "7", "Age at which results and captures in that folder are dropped."),
    Setting::new("store.keep_results_days", DAYS, "90", "How long individual results are kept."),
    Setting::new("store.keep_details_ok_days", DAYS, "7", "How long the details (attempts, phases, facts) of ok results are kept."),
    Setting::new("store.keep_details_failed_days", DAYS, "90", "How long the details of all other results are kept."),
    Setting::new("store.keep_hourly_days", DAYS, "730", "How long hourly rollups are kept."),
    Setting::new("store.keep_daily_days", int_range(0, 36_500), "0", "How long daily rollups are kept; 0: for ever."),
    Setting::new("store.keep_audit_days", DAYS, "400", "How long the audit trail (who changed what and when) is kept."),
    Setting::new("store.retention_at", SettingType::TimeOfDay, "\"03:17\"", "Time of day at which old data are removed, UTC."),
    Setting::new(
        "bus.urls",
        SettingType::List(&SettingType::Text),
        "[]",
        "NATS servers, such as `tls://nats.example.com:4222`; empty: those of `vigie nats init`.",
    ),
    Setting::new(
        "bus.missed_after_seconds",
        int_range(5, 86_400),
        "120",
        "How long a result of an agent may take from the end of its check until it is stored. After that, its run is\nrecorded as missed. A result that comes even later takes the place of its missed run.",
    ),
    Setting::new("controller.name", SettingType::Text, "null", "Its name, which logs and the header field `Vigie-Controller` show. null: the name of the host."),
    Setting::new(
        "controller.url",
        SettingType::Text,
        "null",
        "The URL at which the other controllers reach this one. null: the first address of `listen`.\nExample: https://controller-1.example.net:7979",
    ),
    Setting::new("location.id", ID, "1", "Its id, which monitors use in `home_location` and `locations`."),
    Setting::new("location.name", SettingType::Text, "local", "Its display name."),
    Setting::new("location.region", int_range(0, i64::MAX), "0", "Its region code. Verification prefers a location of another region."),
    Setting::new("location.source_ipv4", SettingType::Ipv4, "null", "Source address of IPv4 connections; null: chosen by the routing table."),
    Setting::new("location.source_ipv6", SettingType::Ipv6, "null", "Source address of IPv6 connections; null: chosen by the routing table."),
    Setting::new("location.interface", SettingType::Text, "null", "Network interface for the traffic of checks (needs CAP_NET_RAW on old kernels)."),
    Setting::new(
        "location.name_servers",
        SettingType::List(&SettingType::NameServerAddress),
        "[]",
        "Name servers for checks, tried in this order. Empty: those of /etc/resolv.conf.",
    ),
    Setting::new(
        "location.control_name",
        SettingType::Text,
        "\".\"",
        "Name to query when the resolver does not reply about a target. If it replies to this, the target is at\nfault, else the resolver.",
    ),
    Setting::new(
        "location.egress_allow",
        SettingType::List(&SettingType::IpNetwork),
        "[]",
        "Networks that checks may connect to; the rule with the longest prefix decides.",
    ),
    Setting::new(
        "location.egress_deny",
        SettingType::List(&SettingType::IpNetwork),
        "[]",
        "Networks that checks may not connect to, beside link-local networks and the metadata addresses of clouds.",
    ),
    Setting::new(
        "location.proxy",
        SettingType::Endpoint,
        "null",
        "Host and port of an HTTP proxy for the TCP connections of checks (CONNECT to the address: names are\nresolved here, and the egress policy applies). Pings, UDP and loopback targets bypass it.",
    ),
    Setting::new("location.proxy_username", SettingType::Text, "null", "Login for the proxy (Basic); null: none."),
    Setting::new("location.proxy_password_file", SettingType::Text, "null", "File with the password of that login."),
    Setting::new(
        "location.verifies",
        SettingType::Bool,
        "false",
        "Whether this location verifies failures of monitors that do not run here, when none of their own locations\ncan.",
    ),
    Setting::new(
        "location.weight",
        int_range(1, 100),
        "1",
        "With `vigie agent run`: the share of the monitors of its location that this agent checks, compared with the\nother agents of the location.",
    ),
    Setting::new(
        "location.connectivity_targets",
        SettingType::List(&SettingType::Endpoint),
        "[]",
        "Hosts with a port that never fail together. If a check fails and none of them accepts a connection, the\nfailure counts as unknown, since the location itself is offline. Failures of loopback targets are not\nchecked this way.",
    ),
    Setting::new(
        "egress.accounts",
        SettingType::MapList(EGRESS_ACCOUNT_FIELDS),
        "[]",
        "Networks that single accounts may connect to, beside `location.egress_allow`. Loopback and the other\naddresses of this host are denied to all accounts but 1; monitor files may always use them.\nExample: [{account: 2, allow: [127.0.0.0/8]}]",
    ),
    Setting::new("tls.system_roots", SettingType::Bool, "true", "Whether to trust the CAs of the operating system."),
    Setting::new("tls.ca_files", SettingType::List(&SettingType::Text), "[]", "PEM files of further CAs that every check trusts."),
    Setting::new("dns.default_name", SettingType::Text, "example.com", "The name for `name_to_resolve_id: 0`.").reloadable(),
    Setting::new("dns.names", SettingType::MapList(DNS_NAME_FIELDS), "[]", "Names for further ids. Example: [{id: 1, name: www.example.org}]").reloadable(),
    Setting::new("checks.certificate_days", int_range(1, 3_650), "30", "Days before a certificate expires at which `Expiring` warns.").reloadable(),
    Setting::new("checks.body_bytes", int_range(1_024, 1_073_741_824), "10485760", "Maximum size of a response body that is read, in bytes after decompression.").reloadable(),
    Setting::new("checks.user_agent", SettingType::Text, "null", "`User-Agent` of checks; null: `vigie/` and the version.").reloadable(),
    Setting::new("collections.enabled", SettingType::Bool, "true", "Whether this location runs collections and their scripts. false: their checks end as unknown, status 95.").reloadable(),
    Setting::new("projects.enabled", SettingType::Bool, "true", "Whether this location runs SoapUI projects. false: their checks end as unknown, status 95.").reloadable(),
    Setting::new(
        "security.allowed_targets",
        SettingType::List(&SettingType::ScanTarget),
        "[]",
        "What this location may scan: networks and names. Empty: nothing; scans end as unknown, status 95, and\nsaving a monitor says so. List only what you operate or may scan. A name that matches needs no network\nunless it leads to a private address. `vigie check` on this host may scan everything.\nExample: [192.0.2.0/24, www.example.com, '*.shop.example.com']",
    )
    .reloadable(),
    Setting::new(
        "security.connections_per_second",
        int_range(1, 1_000),
        "5",
        "Connections that a scan opens to its target a second.",
    )
    .reloadable(),
    Setting::new(
        "browser.chromium",
        SettingType::Text,
        "null",
        "Executable of Chromium or Google Chrome. null: the first of `chromium`, `google-chrome-stable`,\n`google-chrome` and `chromium-browser` in PATH. Debian packages: chromium and chromium-driver.",
    ),
    Setting::new("browser.chromedriver", SettingType::Text, "null", "Its driver, of the same major version; null: `chromedriver` in PATH."),
    Setting::new("browser.firefox", SettingType::Text, "null", "Executable of Firefox; null: the first of `firefox-esr` and `firefox` in PATH."),
    Setting::new(
        "browser.geckodriver",
        SettingType::Text,
        "null",
        "Its driver; null: `geckodriver` in PATH. `cargo install geckodriver --locked` builds it.",
    ),
    Setting::new(
        "browser.remote",
        SettingType::MapList(REMOTE_WEBDRIVER_FIELDS),
        "[]",
        "Where browsers run instead of in this process, one entry for each browser. url: `unix:` and the path of the\nsocket of `vigie browser-host` on this host (systemd/vigie-webdriver.service), or the http URL of a WebDriver\nendpoint, such as a grid, without a login. Internet Explorer is available only at a grid. For a grid,\nforward_host: the address of this host at which those browsers reach Vigie's forward\nproxy; without it the egress policy could not be enforced, so such checks end with 95. from: networks that\nthe browsers connect from; without it the address in the url. forward_ports: the ports of the proxy, one for\neach check, such as 9600-9650; any free port without it. While a check runs, every client in those networks\nmay use its proxy.\nExample:\n[{browser: Internet Explorer, url: 'http://grid.example.net:4444', forward_host: 192.0.2.7, from:\n[192.0.2.32/28]}]",
    ),
    Setting::new(
        "browser.user",
        SettingType::Text,
        "null",
        "User that browsers and drivers run as when Vigie runs as root; null: `vigie-browser` if that user exists,\nelse `nobody`. As `root`, Chromium has no sandbox (it is started with --no-sandbox), and every user of this\nhost can become root through its driver: use it in disposable containers only.",
    ),
    Setting::new(
        "browser.sandbox",
        SettingType::Bool,
        "true",
        "Whether Chromium uses its own sandbox. The sandbox needs user namespaces or the package chromium-sandbox;\nwithout both, Chromium does not start. If false, a page that breaks out of its renderer has the rights of\n`browser.user`.",
    ),
    Setting::new(
        "browser.folder",
        SettingType::Text,
        "null",
        "Folder for browser profiles; each is removed after its check. null: `browsers` in the data folder, or a\nfolder for temporary files if that path is too long for a socket or closed to `browser.user`.",
    ),
    Setting::new(
        "browser.memory_mb",
        int_range(128, 1_048_576),
        "1536",
        "Memory limit for one browser and all its processes, in MiB. A browser that exceeds it is killed and the\nresult says so.",
    ),
    Setting::new(
        "browser.total_memory_mb",
        int_range(128, 16_777_216),
        "null",
        "Memory limit for all browsers in MiB; together with `engine.heavy` it limits how many run at once. null:\nhalf of the memory of the host.",
    ),
    Setting::new("browser.nice", int_range(0, 19), "5", "Niceness of browsers (lower CPU priority)."),
    Setting::new("browser.start_seconds", int_range(1, 120), "30", "Time limit for a driver and its browser to start."),
    Setting::new(
        "mobile.region",
        int_range(0, i64::MAX),
        "null",
        "Region code of the locations in mobile networks, which `has_mobile_locations` and `mobile_location_count`\nof browser scripts count. null: there are none.",
    )
    .reloadable(),
    Setting::new(
        "mobile.provider_host",
        SettingType::FormattedText(TextFormat::Host),
        "null",
        "Host of the provider of devices, for `mobilecloud` and `mobilelab` monitors without `hostname`. null: each\nnames its own.",
    )
    .reloadable(),
    Setting::new(
        "mobile.profiles",
        SettingType::MapList(DEVICE_PROFILE_FIELDS),
        DEFAULT_DEVICES,
        "Devices that browser scripts emulate, by `subtype`; `mobile_type` shows the name. A list replaces this\ndefault as a whole. width, height: page size in CSS pixels (1366 and 768 if left out); scale: device pixels\nper CSS pixel (1); mobile: lay out pages as on a phone (false); touch: emulate a touch screen (false);\nuser_agent (that of the browser); headers: added to every request, [{name, value}]; blocked_hosts: hosts to\nblock, such as 'ads.example.com' or '*.tracker.example'.",
    )
    .reloadable(),
    Setting::new(
        "alerts.per_minute",
        int_range(0, 10_000),
        "10",
        "Maximum number of messages a minute to one recipient by mail and SMS; further ones are combined in one\ndigest. Clears and the methods that programs read have no limit. 0: no limit.",
    ).reloadable(),
    Setting::new("alerts.at_once", int_range(1, 1_000), "64", "Maximum number of deliveries in progress, over all recipients.").reloadable(),
    Setting::new("alerts.try_seconds", int_range(1, 300), "20", "Time limit for one delivery attempt to a webhook.").reloadable(),
    Setting::new(
        "alerts.longest_pause_seconds",
        int_range(5, 86_400),
        "300",
        "Longest pause between two delivery attempts. Pauses start at 5 s and double.",
    ).reloadable(),
    Setting::new(
        "alerts.give_up_hours",
        int_range(1, 720),
        "24",
        "Age at which a notification is given up, listed as dead and reported as an event.",
    ).reloadable(),
    Setting::new(
        "alerts.trap_enterprise",
        SettingType::Text,
        "1.3.6.1.4.1.8072.9999.9999",
        "Object identifier (enterprise) of SNMP traps; the default is the one that Net-SNMP reserves for\nexperiments.",
    ).reloadable(),
    Setting::new("alerts.no_data_runs", int_range(0, 1_000), "5", "Number of consecutive runs without data that raises a No Data alert; 0: never.").reloadable(),
    Setting::new("page.size_tolerance_percent", int_range(0, 1_000_000), "10", "How much an object of a page may grow or shrink, in percent of its size, before that counts as a change\n(7121).").reloadable(),
    Setting::new("mail.server", SettingType::Text, "null", "Host of the mail server, with an optional port (25; 465 with `implicit`). null: mail stays queued.").reloadable(),
    Setting::new(
        "mail.tls",
        SettingType::Choice(&["auto", "starttls", "implicit", "none"]),
        "auto",
        "`auto`: TLS from the first byte on port 465, else STARTTLS if the server offers it. `starttls`, `implicit`:\nrequire that. `none`: no TLS.",
    ).reloadable(),
    Setting::new("mail.verify_certificate", SettingType::Bool, "true", "Whether the certificate of the server must be valid; `tls.ca_files` are trusted too.").reloadable(),
    Setting::new("mail.username", SettingType::Text, "null", "Login; null: none. The password is sent unencrypted only with `tls: none`.").reloadable(),
    Setting::new("mail.password_file", SettingType::Text, "null", "File with the password.").reloadable(),
    Setting::new("mail.from", SettingType::Text, "\"Vigie <vigie@localhost>\"", "Sender of alerts by mail.").reloadable(),
    Setting::new("mail.hello", SettingType::Text, "null", "Name of this host in EHLO, for alerts and checks. null: alerts use `localhost`, checks their source\naddress.").reloadable(),
    Setting::new("mail.try_seconds", int_range(1, 600), "60", "Time limit for one delivery attempt.").reloadable(),
    Setting::new("sms.url", SettingType::Text, "null", "URL that text messages are posted to. null: they stay queued.").reloadable(),
    Setting::new("sms.format", SettingType::Choice(&["form", "json"]), "form", "Format of the body; values in it are escaped accordingly.").reloadable(),
    Setting::new(
        "sms.body",
        SettingType::Text,
        "\"to={{ to }}&text={{ text }}\"",
        "The body; `{{ to }}`, `{{ text }}`, `{{ from }}` and `{{ key }}` are replaced by values.\nIn JSON, values include their quotes.",
    ).reloadable(),
    Setting::new("sms.from", SettingType::Text, "null", "The sender, in the form that the gateway expects.").reloadable(),
    Setting::new("sms.username", SettingType::Text, "null", "Login for the gateway; a password without it is sent as a bearer token.").reloadable(),
    Setting::new("sms.password_file", SettingType::Text, "null", "File with the password or token.").reloadable(),
    Setting::new(
        "heartbeat.url",
        SettingType::Text,
        "null",
        "URL that Vigie calls every minute while checks run and results are stored, so that another service can\nalert when the calls stop.",
    ).reloadable(),
];
