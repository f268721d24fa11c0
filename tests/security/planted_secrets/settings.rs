//! Settings with a secret in each place that the settings have for one.

use std::collections::BTreeSet;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use p12_keystore::{Certificate, KeyStore, KeyStoreEntry, PrivateKey, PrivateKeyChain};
use vigie::settings::{SETTINGS, SettingType};

use super::echoes::{self, Received, Repeated};
use super::plants::Plants;
use crate::support::tls_server::{Authority, Identity};

/// Settings that name a file without a secret, or a place without one.
const WITHOUT_SECRET: &[&str] = &[
    "server.tls_cert_file",
    "certificates.ca_file",
    "certificates.cert_file",
    "browser.remote.url",
    // More than a host and a port is refused.
    "controller.url",
];

/// Settings whose secrets are keys, which are planted in a server of their own.
pub const KEYS: &[&str] = &["server.tls_key_file", "store.key_file"];

/// Settings whose secrets are passwords of PostgreSQL, which are planted in servers that use it.
pub const STORE_PASSWORDS: &[&str] = &["store.url", "store.password_file"];

/// Returns the settings that hold a secret: names of files, and URLs.
pub fn secret_settings() -> BTreeSet<String> {
    let is_secret = |name: &str| name.ends_with("_file") || name == "url";
    let mut places = BTreeSet::new();
    for setting in SETTINGS {
        if let SettingType::MapList(fields) = setting.setting_type {
            let fields = fields.iter().filter(|field| is_secret(field.name));
            places.extend(fields.map(|field| format!("{}.{}", setting.path, field.name)));
        } else if is_secret(setting.path.rsplit('.').next().unwrap()) {
            places.insert(setting.path.to_owned());
        }
    }
    places.retain(|place| !WITHOUT_SECRET.contains(&place.as_str()));
    places
}

/// Writes the files of the secrets into `folder`, and returns the text of the settings. What the settings name repeats
/// what it is sent.
pub fn settings(
    plants: &mut Plants,
    folder: &Path,
    authority: &Authority,
    messages: &Received,
    repeated: &Repeated,
) -> String {
    let write = |name: &str, content: &[u8]| {
        std::fs::write(folder.join(name), content).unwrap();
        folder.join(name).display().to_string()
    };
    // Lines of a mail server are short: it repeats its own password alone. A collector learns of its own field alone.
    let repeated_by_mail_server = Repeated::default();
    let repeated_by_collector = Repeated::default();
    let mut secret_file = |place: &str| {
        let secret = plants.plant(place);
        let repeated = match place.split('.').next() {
            Some("mail") => &repeated_by_mail_server,
            Some("otlp") => &repeated_by_collector,
            _ => repeated,
        };
        repeated.add(vec![secret.clone()]);
        write(place, secret.as_bytes())
    };
    let (mail_password, sms_password) = (secret_file("mail.password_file"), secret_file("sms.password_file"));
    let proxy_password = secret_file("proxies.password_file");
    let location_password = secret_file("location.proxy_password_file");
    let other_location_password = secret_file("locations.proxy_password_file");
    let certificate_password = secret_file("certificates.password_file");
    let collector_header = secret_file("otlp.headers.value_file");
    let client = Authority::new("client").issue(&["client.test"], (2020, 2090));
    let archive = pkcs12(&client, &std::fs::read_to_string(&certificate_password).unwrap());
    // What stands before the first slash of a plant is looked for.
    let encoded = STANDARD.encode(&archive);
    let part = encoded[400..].split('/').find(|part| part.len() >= 24).unwrap();
    plants.add("certificates.pkcs12_file", part);
    plants.add("certificates.key_file", client.key.lines().nth(2).unwrap());
    let url = |place: &str, port: u16, plants: &mut Plants| {
        let password = plants.plant(place).replace('/', "%2F");
        format!("http://monitor:{password}@127.0.0.1:{port}/?token={}", plants.plant(place))
    };
    let gateway = echoes::serve(echoes::webhook, repeated, messages, None);
    let heartbeat = echoes::serve(echoes::webhook, &Repeated::default(), messages, None);
    let collector = echoes::serve(echoes::webhook, &repeated_by_collector, messages, None);
    let (sms_url, heartbeat_url) = (url("sms.url", gateway, plants), url("heartbeat.url", heartbeat, plants));
    let mail = echoes::serve(echoes::mail, &repeated_by_mail_server, messages, None);
    let [proxy, socks] = [echoes::proxy, echoes::socks].map(
        |talk: fn(&mut dyn echoes::Stream, &Repeated, &Received) -> std::io::Result<()>| {
            echoes::serve(talk, repeated, &Received::default(), None)
        },
    );
    let (ca, certificate, key, archive) = (
        write("ca.pem", authority.pem().as_bytes()),
        write("client.pem", client.certificate.as_bytes()),
        write("client.key", client.key.as_bytes()),
        write("client.p12", &archive),
    );
    format!(
        "
server: {{public_pages: true}}
store: {{synchronous: normal}}
tls: {{system_roots: false, ca_files: ['{ca}']}}
alerts: {{per_minute: 0}}
mail: {{server: '127.0.0.1:{mail}', tls: none, username: monitor, password_file: '{mail_password}'}}
sms: {{url: '{sms_url}', username: monitor, password_file: '{sms_password}'}}
heartbeat: {{url: '{heartbeat_url}'}}
otlp:
  endpoint: 'http://127.0.0.1:{collector}'
  headers: [{{name: X-Api-Key, value_file: '{collector_header}'}}]
  batch_seconds: 1
  compression: none
location: {{proxy: '127.0.0.1:{proxy}', proxy_username: monitor, proxy_password_file: '{location_password}'}}
locations:
- {{id: 2, name: other, proxy: '127.0.0.1:{proxy}', proxy_username: monitor, proxy_password_file: '{other_location_password}'}}
proxies:
- {{id: 1, kind: http, server: '127.0.0.1:{proxy}', username: monitor, password_file: '{proxy_password}'}}
- {{id: 2, kind: socks5, server: '127.0.0.1:{socks}', username: monitor, password_file: '{proxy_password}'}}
certificates:
- {{id: 1, name: client, cert_file: '{certificate}', key_file: '{key}'}}
- {{id: 2, name: archive, pkcs12_file: '{archive}', password_file: '{certificate_password}'}}
"
    )
}

fn pkcs12(identity: &Identity, password: &str) -> Vec<u8> {
    let rustls_pki_types::PrivateKeyDer::Pkcs8(key) = identity.private_key() else { panic!("not PKCS#8") };
    let key = PrivateKey::from_der(key.secret_pkcs8_der()).unwrap();
    let chain = identity.chain().into_iter().map(|certificate| Certificate::from_der(&certificate).unwrap());
    let mut store = KeyStore::new();
    let chain = PrivateKeyChain::new("1", key, chain);
    store.add_entry("client", KeyStoreEntry::PrivateKeyChain(chain));
    store.writer(password).mac_iterations(100).write().unwrap()
}
