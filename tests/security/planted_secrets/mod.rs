//! Secrets that stand in monitors, recipients, users, certificates and settings, and that targets and receivers repeat,
//! are kept, logged, sent and shown nowhere.

mod crawl;
mod echoes;
mod files;
mod monitors;
mod plants;
mod settings;
mod store_password;
mod world;

use std::collections::BTreeSet;

use nix::sys::signal::Signal;
use serde_json::Value;
use vigie::domain::MonitorType;

use self::echoes::{Received, Repeated};
use self::monitors::PLAIN_VALUE;
use self::plants::{Finder, Plants, secret_places};
use self::settings::{KEYS, STORE_PASSWORDS, secret_settings};
use self::world::{EVERYBODY, World};
use crate::daemon::process::{self as daemon, Daemon};
use crate::support::binary::vigie;
use crate::support::tls_server::Authority;

/// The fields of a website that hold secrets, for the terminal.
const TERMINAL_FIELDS: &[&str] = &["realm_userid", "realm_password"];

/// The most talkative log that can be set.
const LOG_FILTER: &str = "trace,rustls=trace,hyper_util=trace,h2=trace,quinn=trace,hickory_resolver=trace";

/// What was found, as lines of a message.
#[derive(Default)]
struct Leaks(Vec<String>);

impl Leaks {
    fn search(&mut self, finder: &Finder, name: &str, bytes: &[u8]) {
        for (place, context) in finder.find(bytes) {
            self.0.push(format!("the secret of {place} is in {name}: …{context}…"));
        }
    }
}

/// Returns the secret fields of all request bodies, from the description of the API, as `Name.field`.
fn secret_request_fields(document: &Value) -> BTreeSet<String> {
    let is_sealed =
        |field: &Value| field["description"].as_str().is_some_and(|text| text.ends_with("Kept sealed"));
    let schemas = document["components"]["schemas"].as_object().unwrap().iter();
    let fields = schemas.filter_map(|(name, schema)| Some((name.strip_suffix(".create")?, schema))).flat_map(
        |(name, schema)| {
            let fields = schema["properties"].as_object().unwrap().iter();
            fields.filter(|(_, field)| is_sealed(field)).map(move |(field, _)| format!("{name}.{field}"))
        },
    );
    fields.collect()
}

fn assert_every_place_is_planted(plants: &Plants, document: &Value) {
    let mut places: BTreeSet<String> =
        MonitorType::ALL.iter().flat_map(|kind| secret_places(*kind)).collect();
    let names: BTreeSet<_> = MonitorType::ALL.iter().map(|kind| kind.name()).collect();
    let of_requests = secret_request_fields(document);
    assert!(of_requests.len() > 20, "{of_requests:?}");
    // Those of monitors are among the places already; `Head` is a part of them.
    let of_monitors = |place: &String| {
        let name = place.split('.').next().unwrap();
        names.contains(name) || name == "Head"
    };
    places.extend(of_requests.into_iter().filter(|place| !of_monitors(place)));
    places.extend(secret_settings());
    places.retain(|place| !KEYS.contains(&place.as_str()) && !STORE_PASSWORDS.contains(&place.as_str()));
    let missing: Vec<_> = places.iter().filter(|place| !plants.has(place)).collect();
    assert!(
        missing.is_empty(),
        "no secret is planted in {missing:?}: add it to tests/security/planted_secrets"
    );
}

#[test]
fn secrets_are_kept_logged_sent_and_shown_nowhere() {
    let mut world = World::start(LOG_FILTER);
    world.add_users();
    world.try_to_enrol();
    world.add_recipients();
    world.add_certificates();
    world.add_monitors();
    world.order_tests();
    world.edit_monitors();
    let document: Value =
        serde_json::from_str(&world.server.get_with_headers("/api/v3/openapi.json", "").1).unwrap();
    assert_every_place_is_planted(&world.plants, &document);
    world.wait_for_results();
    let (finder, mut leaks) = (world.plants.finder(), Leaks::default());
    let shown = world.shown();
    assert!(shown.len() > 500, "{}", shown.len());
    for (name, text) in &shown {
        leaks.search(&finder, name, text.as_bytes());
    }
    // A body that repeats the first line of the request has no URL in it.
    let with_plain_values = |caller: &str| {
        let of_caller =
            |name: &str| name.starts_with(&format!("{caller} ")) && !name.contains("response%2Dbody");
        let shown = shown.iter().filter(|(name, _)| of_caller(name));
        shown.filter(|(_, text)| text.contains(PLAIN_VALUE)).map(|(name, _)| name.clone()).collect::<Vec<_>>()
    };
    for reader in [EVERYBODY, "user-REPORTONLY", "user-READONLY"] {
        assert_eq!(with_plain_values(reader), Vec::<String>::new());
    }
    assert!(!with_plain_values("user-POWER-USER").is_empty());
    let data = world.server.folder.path().join("data");
    for (name, bytes) in files::files(&data) {
        leaks.search(&finder, &name, &bytes);
    }
    world.stop();
    for (name, bytes) in files::files(&data).into_iter().chain(files::values(&data.join("vigie.db"))) {
        leaks.search(&finder, &name, &bytes);
    }
    let log = world.server.log_text();
    for line in log.lines() {
        leaks.search(&finder, "the log", line.as_bytes());
    }
    let messages = world.messages.bytes();
    assert!(String::from_utf8_lossy(&messages).contains("\nSubject: "));
    leaks.search(&world.plants.of_monitors().finder(), "the messages", &messages);
    leaks.0.sort();
    leaks.0.dedup();
    assert!(leaks.0.is_empty(), "{} leaks:\n{}", leaks.0.len(), leaks.0.join("\n"));
}

#[test]
fn secrets_are_not_in_what_a_check_from_the_terminal_prints_and_writes() {
    let (mut plants, repeated) = (Plants::default(), Repeated::default());
    let port = echoes::serve(echoes::http, &repeated, &Received::default(), None);
    let token = plants.plant("website.url");
    let mut secrets = vec![token.clone()];
    let folder = tempfile::tempdir().unwrap();
    let har = folder.path().join("check.har");
    let url = format!("http://127.0.0.1:{port}/?token={token}");
    let mut arguments = vec!["check".to_owned(), "website".to_owned(), url];
    arguments.extend(["--har".to_owned(), har.display().to_string()]);
    for field in TERMINAL_FIELDS {
        secrets.push(plants.plant(&format!("website.{field}")));
        arguments.extend(["--set".to_owned(), format!("{field}={}", secrets.last().unwrap())]);
    }
    repeated.add(secrets);
    let (finder, mut leaks) = (plants.finder(), Leaks::default());
    for output in ["", "--json"] {
        let arguments: Vec<&str> = arguments
            .iter()
            .map(String::as_str)
            .chain([output])
            .filter(|argument| !argument.is_empty())
            .collect();
        let output = vigie(&arguments);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        leaks.search(&finder, "the output", &output.stdout);
        leaks.search(&finder, "the errors", &output.stderr);
        leaks.search(&finder, "the HAR file", &std::fs::read(&har).unwrap());
    }
    assert!(leaks.0.is_empty(), "{}", leaks.0.join("\n"));
}

#[test]
fn the_keys_of_the_server_are_not_in_its_log_and_its_store() {
    let (mut plants, folder) = (Plants::default(), daemon::folder(""));
    let identity = Authority::new("server authority").issue(&["127.0.0.1"], (2020, 2090));
    let at = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(at("server.pem"), &identity.certificate).unwrap();
    std::fs::write(at("server.key"), &identity.key).unwrap();
    let settings = format!(
        "server: {{tls_cert_file: '{}', tls_key_file: '{}'}}\nstore: {{key_file: '{}'}}\n",
        at("server.pem"),
        at("server.key"),
        at("store.key")
    );
    std::fs::write(at("vigie.yaml"), settings).unwrap();
    let (settings_file, key_file) = (at("vigie.yaml"), at("store.key"));
    let mut command = daemon::command(folder.path());
    command.args(["--config", &settings_file]).env("VIGIE_LOG_LEVEL", LOG_FILTER);
    let mut server = Daemon::from_child(command.spawn().unwrap(), folder);
    server.signal(Signal::SIGTERM);
    server.wait_for_exit();
    plants.add("server.tls_key_file", identity.key.lines().nth(2).unwrap());
    let keys = std::fs::read_to_string(key_file).unwrap();
    let key = keys.split_whitespace().max_by_key(|word| word.len()).unwrap();
    assert!(key.len() > 30, "{key}");
    plants.add("store.key_file", key);
    assert!(KEYS.iter().all(|place| plants.has(place)));
    let (finder, mut leaks) = (plants.finder(), Leaks::default());
    for (name, bytes) in files::files(&server.folder.path().join("data")) {
        leaks.search(&finder, &name, &bytes);
    }
    leaks.search(&finder, "the log", server.log_text().as_bytes());
    assert!(leaks.0.is_empty(), "{}", leaks.0.join("\n"));
}
