//! From checked values to what the parts of the process take.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::Value;

use super::alerts::AlertSettings;
use super::hosted::{Hosted, targets, way_out};
use super::kind::clock_time;
use super::read::Values;
use super::table::SETTINGS;
use crate::browser::{House, HouseConfig};
use crate::catalog::Mobile;
use crate::domain::{Location, LocationId, MonitorType};
use crate::net::{Endpoint, NetConfig, NetError, Pem, Proxy, Roots, Trust};
use crate::probe::ProbeSettings;
use crate::schema::accept::Plan;
use crate::store::Retention;
use crate::syntax::source::{Node, Place};
use crate::syntax::{FieldFault, Rule, nearest};
use crate::telemetry::{LogFormat, LogOptions};

/// Settings of the process, checked.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where pages, API and metrics are served.
    pub listen: Vec<SocketAddr>,
    /// How they are served.
    pub server: ServerSettings,
    /// Folder of the database.
    pub data: PathBuf,
    /// Whether somebody named another than the default.
    pub data_named: bool,
    /// Folders and files of monitors.
    pub monitors: Vec<PathBuf>,
    /// Whether somebody named others than the default, so that a missing one is a fault.
    pub monitors_named: bool,
    /// Billing plans; none means that any code goes.
    pub plans: Vec<Plan>,
    /// Logs.
    pub log: LogOptions,
    /// Checks at once: total, light, heavy, per target, waiting.
    pub engine: EngineSettings,
    /// The database.
    pub store: StoreSettings,
    /// The location of `location.*`.
    pub location: Location,
    /// Its network; whom checks trust, at every location.
    pub net: NetConfig,
    /// Whether it looks at failures of monitors of other locations.
    pub(super) verifies: bool,
    /// The proxy of its checks.
    pub(super) proxy: Option<Proxy>,
    /// What it should always reach.
    pub(super) connectivity: Vec<Endpoint>,
    /// The locations of `locations`, without whom they trust.
    pub(super) others: Vec<Hosted>,
    /// The proxies that monitors name, by id.
    pub proxies: BTreeMap<i64, Proxy>,
    /// Names and formats of the client certificates, by id.
    pub certificate_names: BTreeMap<i64, (String, &'static str)>,
    /// What checks have in common.
    pub probe: ProbeSettings,
    /// The browsers of this process.
    pub browser: HouseConfig,
    /// What browsers pretend to be.
    pub mobile: Mobile,
    /// How alerts leave the process.
    pub alerts: AlertSettings,
    /// Every value, for comparison.
    pub(super) raw: BTreeMap<&'static str, Value>,
}

/// How much runs at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineSettings {
    /// Checks at once.
    pub total: usize,
    /// Light ones among them.
    pub light: usize,
    /// Heavy ones among them.
    pub heavy: usize,
    /// Checks that ask one target at once.
    pub per_target: usize,
    /// Checks that wait.
    pub queue: usize,
    /// How long running checks get to end at shutdown.
    pub drain: Duration,
}

/// The HTTP server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSettings {
    /// Files of certificate and key; plain HTTP without.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Bytes of a request body.
    pub body_bytes: usize,
    /// Time until an answer has to begin.
    pub request_time: Duration,
    /// Whether everybody may see the pages and the metrics.
    pub public_pages: bool,
}

/// How the database is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreSettings {
    /// Whether every commit waits for the disk itself.
    pub full_sync: bool,
    /// Bytes of its pages in memory.
    pub cache_bytes: u64,
    /// The keys that seal secrets, when somebody says where they are.
    pub key_file: Option<PathBuf>,
    /// How long data are kept.
    pub retention: Retention,
    /// When old data are removed: hour and minute of the day, UTC.
    pub retention_at: (u8, u8),
}

/// Whether a PEM file can be used as what it stands for.
pub(super) type PemCheck = fn(&Pem) -> Result<(), NetError>;

/// Every setting has a value here: the one that was set, or its default.
pub(super) struct Reader<'a> {
    values: Values,
    file: Option<&'a Arc<str>>,
    faults: &'a mut Vec<FieldFault>,
}

pub(super) fn build(values: Values, file: Option<&Arc<str>>, faults: &mut Vec<FieldFault>) -> Settings {
    let named = |path: &str| {
        values.get(path).is_some_and(|value| defaults().get(path).map(Node::to_json) != Some(value.to_json()))
    };
    let (data_named, monitors_named) = (named("data"), named("monitors"));
    let mut read = Reader { values, file, faults };
    let browser = read.browser();
    let probe = ProbeSettings { browser: Arc::new(House::new(browser.clone())), ..read.probe() };
    let mobile = read.mobile(&probe.devices);
    let days = |read: &Reader<'_>, path| Duration::from_secs(86_400 * read.number(path).unsigned_abs());
    Settings {
        // Values that were not set are those of the table, which a test holds to their kinds.
        listen: read.listen(),
        server: read.server(),
        data: read.text("data").into(),
        monitors: read.texts("monitors").into_iter().map(PathBuf::from).collect(),
        data_named,
        monitors_named,
        plans: read.plans(),
        log: LogOptions {
            format: read.text("log.format").parse().unwrap_or(LogFormat::Text),
            filter: read.text("log.level"),
        },
        engine: read.engine(),
        store: StoreSettings {
            full_sync: read.text("store.synchronous") == "full",
            cache_bytes: read.number("store.cache_mib").unsigned_abs() * 1024 * 1024,
            key_file: read.optional("store.key_file").map(PathBuf::from),
            retention: Retention {
                results: days(&read, "store.keep_results_days"),
                details_ok: days(&read, "store.keep_details_ok_days"),
                details_failed: days(&read, "store.keep_details_failed_days"),
                hourly: days(&read, "store.keep_hourly_days"),
                daily: days(&read, "store.keep_daily_days"),
                audit: days(&read, "store.keep_audit_days"),
            },
            retention_at: clock_time(&read.text("store.retention_at")).unwrap_or((3, 17)),
        },
        location: Location {
            id: LocationId(read.number("location.id")),
            name: read.text("location.name"),
            region: read.number("location.region"),
        },
        net: read.net(),
        proxy: read.first_proxy(),
        verifies: read.node("location.verifies").to_json() == Value::Bool(true),
        connectivity: targets(read.node("location.connectivity_targets")),
        others: read.others(),
        proxies: read.proxies(),
        certificate_names: read.certificate_names(),
        probe,
        browser,
        mobile,
        alerts: read.alerts(),
        raw: SETTINGS.iter().map(|setting| (setting.path, read.node(setting.path).to_json())).collect(),
    }
}

impl Reader<'_> {
    pub(super) fn node(&self, path: &str) -> &Node {
        self.values.get(path).or_else(|| defaults().get(path)).unwrap_or_else(|| null())
    }

    pub(super) fn text(&self, path: &str) -> String {
        self.node(path).as_text().unwrap_or_default().to_owned()
    }

    pub(super) fn optional(&self, path: &str) -> Option<String> {
        self.node(path).as_text().map(str::to_owned)
    }

    fn texts(&self, path: &str) -> Vec<String> {
        self.node(path).items().iter().filter_map(Node::as_text).map(str::to_owned).collect()
    }

    pub(super) fn number(&self, path: &str) -> i64 {
        self.node(path).to_json().as_i64().unwrap_or_default()
    }

    pub(super) fn count(&self, path: &str) -> usize {
        usize::try_from(self.number(path)).unwrap_or(usize::MAX)
    }

    pub(super) fn fault(&mut self, rule: Rule, path: &str, place: Place, message: String) {
        let fault = FieldFault::new(rule, path, place, message);
        self.faults.push(match self.file {
            Some(file) if place.is_known() => fault.in_file(file),
            _ => fault,
        });
    }

    fn listen(&self) -> Vec<SocketAddr> {
        let mut texts = self.texts("listen");
        texts.extend(self.optional("listen"));
        texts.iter().flat_map(|text| text.split(',')).filter_map(|part| part.trim().parse().ok()).collect()
    }

    fn server(&mut self) -> ServerSettings {
        let (certificate, key) = ("server.tls_cert_file", "server.tls_key_file");
        let tls = match (self.optional(certificate), self.optional(key)) {
            (Some(certificate), Some(key)) => {
                self.server_pair();
                Some((certificate.into(), key.into()))
            }
            (None, None) => None,
            (one, _) => {
                let (there, missing) = if one.is_some() { (certificate, key) } else { (key, certificate) };
                let place = self.node(there).place;
                self.fault(Rule::Missing, there, place, format!("`{there}` needs `{missing}` as well"));
                None
            }
        };
        ServerSettings {
            tls,
            body_bytes: self.count("server.body_bytes"),
            request_time: Duration::from_secs(self.number("server.request_seconds").unsigned_abs()),
            public_pages: self.node("server.public_pages").to_json() == Value::Bool(true),
        }
    }

    /// Finds what is wrong with certificate and key of the server.
    fn server_pair(&mut self) {
        let (certificate, key) =
            (self.node("server.tls_cert_file").clone(), self.node("server.tls_key_file").clone());
        let pem = self.pem("server.tls_cert_file", &certificate, Pem::check_certificates);
        let key_pem = self.pem("server.tls_key_file", &key, |_| Ok(()));
        if let (Some(pem), Some(key_pem)) = (pem, key_pem) {
            self.usable("server.tls_key_file", key.place, pem.with_key(&key_pem).check_client());
        }
    }

    pub(super) fn engine(&self) -> EngineSettings {
        EngineSettings {
            total: self.count("engine.total"),
            light: self.count("engine.light"),
            heavy: self.count("engine.heavy"),
            per_target: self.count("engine.per_target"),
            queue: self.count("engine.queue"),
            drain: Duration::from_secs(self.number("engine.drain_seconds").unsigned_abs()),
        }
    }

    fn first_proxy(&mut self) -> Option<Proxy> {
        let of = |name: &&str| ((*name).to_owned(), self.node(&format!("location.{name}")).clone());
        let known: BTreeMap<_, _> =
            ["proxy", "proxy_username", "proxy_password_file"].iter().map(of).collect();
        self.proxy("location", |name| known.get(name).cloned())
    }

    fn net(&mut self) -> NetConfig {
        let way = way_out(|name| self.node(&format!("location.{name}")));
        NetConfig { trust: self.trust(), ..way }
    }

    fn trust(&mut self) -> Trust {
        let system = self.node("tls.system_roots").to_json() == Value::Bool(true);
        let mut trust = Trust { roots: if system { Roots::System } else { Roots::None }, ..Trust::default() };
        for (at, item) in self.node("tls.ca_files").clone().items().iter().enumerate() {
            let path = format!("tls.ca_files[{at}]");
            trust.authorities.extend(self.pem(&path, item, Pem::check_certificates));
        }
        self.named_certificates(&mut trust);
        trust
    }

    /// The file that `node` names; `None` when it says nothing of use, which is a fault then. Values of a
    /// wrong type are faults already.
    pub(super) fn pem(&mut self, path: &str, node: &Node, check: PemCheck) -> Option<Pem> {
        let file = node.as_text()?;
        match Pem::read(Path::new(file)) {
            Ok(pem) => self.usable(path, node.place, check(&pem)).then_some(pem),
            Err(error) => {
                let message = format!("`{path}`: the file `{file}` cannot be read: {error}");
                self.fault(Rule::Conflict, path, node.place, message);
                None
            }
        }
    }

    pub(super) fn usable(&mut self, path: &str, place: Place, checked: Result<(), NetError>) -> bool {
        if let Err(error) = &checked {
            self.fault(Rule::Conflict, path, place, format!("`{path}`: {error}"));
        }
        checked.is_ok()
    }

    /// The entries of a list of maps; what tells them apart and stands there twice is a fault.
    pub(super) fn entries(&mut self, path: &str) -> Vec<(usize, Node)> {
        let node = self.node(path).clone();
        let mut seen = BTreeSet::new();
        for (at, item) in node.items().iter().enumerate() {
            let name = match path {
                "plans" => "code",
                "mobile.profiles" => "subtype",
                "browser.remote" => "browser",
                _ => "id",
            };
            let Some(key) = item.get(name) else { continue };
            if !seen.insert(key.to_json().to_string()) {
                let inner = format!("{path}[{at}].{name}");
                self.fault(Rule::Duplicate, &inner, key.place, format!("`{inner}` stands there twice"));
            }
        }
        node.items().iter().cloned().enumerate().collect()
    }

    fn probe(&mut self) -> ProbeSettings {
        let mut names = vec![self.text("dns.default_name")];
        for (at, entry) in self.entries("dns.names") {
            let Some(id) = entry.get("id").and_then(|id| id.to_json().as_i64()) else { continue };
            let name = entry.get("name").and_then(Node::as_text).unwrap_or_default().to_owned();
            if let Ok(id @ 1..=1000) = usize::try_from(id) {
                names.resize(names.len().max(id + 1), String::new());
                names[id] = name;
                continue;
            }
            let path = format!("dns.names[{at}].id");
            let message = format!("`{path}` must be a whole number from 1 to 1000, not `{id}`");
            self.fault(Rule::Range, &path, entry.place, message);
        }
        let standard = ProbeSettings::default();
        ProbeSettings {
            dns_names: names,
            certificate_days: u32::try_from(self.number("checks.certificate_days"))
                .unwrap_or(standard.certificate_days),
            body_bytes: self.number("checks.body_bytes").unsigned_abs(),
            user_agent: self.optional("checks.user_agent").map_or(standard.user_agent, Into::into),
            monitor: standard.monitor,
            variables: standard.variables,
            browser: standard.browser,
            authoring: standard.authoring,
            devices: Arc::new(self.devices()),
            keyring: None,
            hello: self.optional("mail.hello").map(Into::into),
        }
    }

    fn plans(&mut self) -> Vec<Plan> {
        let mut plans = Vec::new();
        for (at, entry) in self.entries("plans") {
            let number = |name: &str| entry.get(name).and_then(|node| node.to_json().as_i64());
            let mut types = Vec::new();
            for item in entry.get("types").map(Node::items).unwrap_or_default() {
                let Some(word) = item.as_text() else { continue };
                if let Some(kind) = MonitorType::from_name(word) {
                    types.push(kind);
                    continue;
                }
                let near = nearest(word, MonitorType::ALL.iter().map(|kind| kind.name()));
                let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                let path = format!("plans[{at}].types");
                self.fault(Rule::Choice, &path, item.place, format!("`{word}` is no monitor type{near}"));
            }
            let most = |name: &str| number(name).and_then(|most| usize::try_from(most).ok());
            plans.push(Plan {
                code: entry.get("code").and_then(Node::as_text).unwrap_or_default().to_owned(),
                types,
                least_interval: number("least_interval").unwrap_or(1),
                most_monitors: most("monitors"),
                monitors: 0,
                most_locations: most("locations"),
            });
        }
        plans
    }
}

/// The defaults of the table.
fn defaults() -> &'static Values {
    static DEFAULTS: OnceLock<Values> = OnceLock::new();
    DEFAULTS.get_or_init(|| {
        let parse = |default: &str| Node::parse(default).unwrap_or_else(|_| null().clone());
        SETTINGS.iter().map(|setting| (setting.path, parse(setting.default))).collect()
    })
}

pub(super) fn null() -> &'static Node {
    static NULL: OnceLock<Node> = OnceLock::new();
    NULL.get_or_init(|| Node::from(Value::Null))
}
