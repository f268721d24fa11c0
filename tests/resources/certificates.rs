//! Certificates: facts are shown, the key never; used at once, against a server that demands a client certificate.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use p12_keystore::{Certificate, KeyStore, KeyStoreEntry, PrivateKey, PrivateKeyChain};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use vigie::domain::{ConfigRecordKind, CustomerId, FailureKind, Role};
use vigie::net::{ConnectionTrace, Deadline, Net, NetConfig, Pem, PublicRoots, TlsOptions, TrustConfig};
use vigie::service::DecryptedCertificate;

use crate::resources::kit::{
    Kit, admin, assert_isolated, assert_refused, assert_roles, conflict, long, messages,
};
use crate::support::tls_server::{Authority, Identity, config, serve};

const KIND: ConfigRecordKind = ConfigRecordKind::Certificate;
const VALID: (i32, i32) = (2020, 2090);

fn client(pem: String) -> Value {
    json!({"name": "shop", "kind": "client", "pem": pem})
}

/// Returns `identity` as PKCS#12 in Base64.
fn pkcs12(identity: &Identity, password: &str) -> String {
    pkcs12_with_iterations(identity, password, 10_000)
}

/// Like [`pkcs12`], with `iterations` rounds of key derivation.
fn pkcs12_with_iterations(identity: &Identity, password: &str, iterations: u32) -> String {
    let certificate = CertificateDer::from_pem_slice(identity.certificate.as_bytes()).unwrap();
    let key = PrivatePkcs8KeyDer::from_pem_slice(identity.key.as_bytes()).unwrap();
    let key = PrivateKey::from_der(key.secret_pkcs8_der()).unwrap();
    let chain = PrivateKeyChain::new("1", key, [Certificate::from_der(&certificate).unwrap()]);
    let mut store = KeyStore::new();
    store.add_entry("shop", KeyStoreEntry::PrivateKeyChain(chain));
    STANDARD.encode(store.writer(password).mac_iterations(iterations).write().unwrap())
}

#[tokio::test]
async fn facts_are_shown_and_the_key_never_is() {
    let kit = Kit::new().await;
    let identity = Authority::new("shop authority").issue(&["shop.test", "127.0.0.1"], VALID);
    let id = kit.create_valid(KIND, client(identity.pem())).await;
    let shown = kit.get(KIND, id).await;
    let expected = [
        ("format", json!("PEM")),
        ("subject", json!("CN=leaf")),
        ("issuer", json!("CN=shop authority")),
        ("not_before", json!("2020-01-01T00:00:00Z")),
        ("not_after", json!("2090-01-01T00:00:00Z")),
        ("names", json!(["shop.test", "127.0.0.1"])),
        ("key_type", json!("EC 256")),
        ("certificates", json!(1)),
    ];
    for (name, value) in expected {
        assert_eq!(shown[name], value, "{name}");
    }
    assert_eq!(shown["fingerprint"].as_str().unwrap().len(), 64);
    let body =
        json!({"name": "p12", "kind": "client", "pkcs12": pkcs12(&identity, "open"), "password": "open"});
    let second = kit.get(KIND, kit.create_valid(KIND, body).await).await;
    assert_eq!((&second["format"], &second["fingerprint"]), (&json!("PKCS#12"), &shown["fingerprint"]));
    let secret: String = identity.key.lines().nth(1).unwrap().to_owned();
    let record = kit.record(KIND, id).await.unwrap();
    let sealed = record.private_data.unwrap();
    assert!(!sealed.windows(secret.len()).any(|part| part == secret.as_bytes()));
    let text = format!("{shown} {:?} {:?}", record.fields, kit.audit_trail().await);
    assert!(!text.contains(&secret) && !text.contains("BEGIN"), "{text}");
}

#[tokio::test]
async fn invalid_certificates_are_refused_with_the_reason() {
    let kit = Kit::new().await;
    let authority = Authority::new("a");
    let (one, two) = (authority.issue(&["one.test"], VALID), authority.issue(&["two.test"], VALID));
    let body = |more: Value| {
        let mut body = json!({"name": "x", "kind": "client"});
        body.as_object_mut().unwrap().extend(crate::resources::kit::object(more));
        body
    };
    let wrong = body(json!({"pkcs12": pkcs12(&one, "open"), "password": "shut"}));
    let encrypted = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAA==\n-----END ENCRYPTED PRIVATE KEY-----\n";
    assert_refused(
        &kit,
        KIND,
        &[
            (json!({}), &["`name` is required", "`kind` is required"]),
            (body(json!({})), &["`pem` or `pkcs12` is required"]),
            (body(json!({"pem": one.pem(), "pkcs12": "AA=="})), &["`pkcs12` does not go with `pem`"]),
            (
                body(json!({"pem": one.pem(), "password": "x"})),
                &["`password` goes with `pkcs12` only; a key in `pem` must not be encrypted"],
            ),
            (body(json!({"pem": "garbled"})), &["`pem`: it contains no certificate"]),
            (body(json!({"pem": one.certificate.clone()})), &["`pem`: it contains no private key"]),
            (
                body(json!({"pem": format!("{}{}", one.certificate, two.key)})),
                &["`pem`: its private key does not match its certificate"],
            ),
            (
                body(json!({"pem": format!("{}{}", one.pem(), two.key)})),
                &["`pem`: it contains several private keys"],
            ),
            (
                body(json!({"pem": format!("{}{encrypted}", one.certificate)})),
                &["`pem`: its private key is encrypted; send it without encryption, or as PKCS#12"],
            ),
            (wrong, &["`pkcs12`: it is not PKCS#12, or `password` is wrong"]),
            (body(json!({"pkcs12": "!"})), &["`pkcs12` must be Base64, not `********`"]),
            (
                body(json!({"kind": "authority", "pem": one.pem()})),
                &["`pem`: it contains a private key, which an authority does not need; leave it out"],
            ),
            (body(json!({"name": long(256)})), &["`name` must have at most 255 characters, not 256"]),
        ],
    )
    .await;
    // The certificates of a chain may be in any order.
    let chain = format!("{}{}{}", authority.pem(), one.certificate, one.key);
    let shown = kit.get(KIND, kit.create_valid(KIND, client(chain)).await).await;
    assert_eq!((&shown["names"], &shown["certificates"]), (&json!(["one.test"]), &json!(2)));
    let expired = authority.issue(&["old.test"], (2020, 2021));
    let saved = kit.create(&admin(), KIND, client(expired.pem())).await.unwrap();
    assert_eq!(saved.warnings, ["The certificate `CN=leaf` expired at 2021-01-01T00:00:00Z"]);
}

#[tokio::test]
async fn a_certificate_is_used_from_its_creation_to_its_deletion() {
    let kit = Kit::new().await;
    let (private, clients) = (Authority::new("private"), Authority::new("clients"));
    let server = private.issue(&["good.test"], VALID);
    let at = serve("127.0.0.1", config(&server, &[&rustls::version::TLS12], Some(&clients))).await;
    let trust = TrustConfig { public_roots: PublicRoots::None, ..TrustConfig::default() };
    let net = Arc::new(Net::new(&NetConfig { trust_config: trust, ..NetConfig::default() }).unwrap());
    let client_net = Arc::clone(&net);
    let on_change = move |all: Vec<DecryptedCertificate>| {
        let pem = |one: &DecryptedCertificate| Pem { label: one.name.clone(), text: one.pem.to_vec() };
        let certificates = |client: bool| {
            all.iter()
                .filter(|one| one.is_client == client)
                .map(|one| (one.id, pem(one)))
                .collect::<BTreeMap<_, _>>()
        };
        assert!(client_net.set_certificates(certificates(false), certificates(true)).is_empty());
        Box::pin(std::future::ready(())) as _
    };
    kit.resources.watch_certificates(Arc::new(on_change)).await.unwrap();
    let ca = kit.create_valid(KIND, json!({"name": "ca", "kind": "authority", "pem": private.pem()})).await;
    let identity = clients.issue(&["client.test"], VALID);
    let body =
        json!({"name": "c", "kind": "client", "pkcs12": pkcs12(&identity, "open"), "password": "open"});
    let certificate = kit.create_valid(KIND, body).await;
    let handshake = async || {
        let options =
            TlsOptions { ca_id: Some(ca), client_certificate_id: Some(certificate), ..TlsOptions::default() };
        let stream = TcpStream::connect(at).await.unwrap();
        let deadline = Deadline::within(Duration::from_secs(10));
        let result =
            net.tls_handshake(stream, "good.test", &options, deadline, &mut ConnectionTrace::default()).await;
        result.err().map(|failure| failure.kind)
    };
    assert_eq!(handshake().await, None);
    kit.delete(&admin(), KIND, certificate).await.unwrap();
    assert_eq!(handshake().await, Some(FailureKind::NotConfigured));
}

/// Returns an archive of `tests/resources/pkcs12` in Base64.
fn archive(file: &str) -> String {
    let path = format!("{}/tests/resources/pkcs12/{file}.p12", env!("CARGO_MANIFEST_DIR"));
    STANDARD.encode(std::fs::read(path).unwrap())
}

#[tokio::test]
async fn archives_of_openssl_and_java_are_accepted() {
    let kit = Kit::new().await;
    let leaf = CertificateDer::from_pem_slice(include_bytes!("pkcs12/leaf.pem")).unwrap();
    let fingerprint = format!("{:?}", digest(&SHA256, &leaf)).to_lowercase();
    for (file, password) in [
        ("openssl", "open"),
        ("openssl-legacy", "open"),
        ("triple-des", "open"),
        ("rc2-128", "open"),
        ("aes-128", "open"),
        ("triple-des-pbes2", "open"),
        ("plain", "open"),
        ("no-mac", "open"),
        ("no-password", ""),
        ("no-password-legacy", ""),
        ("unicode", "schlüssel €"),
        ("java", "opened"),
        ("java-legacy", "opened"),
    ] {
        let body = |password: &str| json!({"name": file, "kind": "client", "pkcs12": archive(file), "password": password});
        let shown = kit.get(KIND, kit.create_valid(KIND, body(password)).await).await;
        assert_eq!(shown["subject"], "CN=archive", "{file}");
        assert_eq!(shown["names"], json!(["archive.test"]), "{file}");
        assert_eq!(shown["certificates"], 2, "{file}");
        assert!(fingerprint.ends_with(shown["fingerprint"].as_str().unwrap()), "{file}: {fingerprint}");
        let errors = messages(kit.create(&admin(), KIND, body("shut")).await);
        let expected = "`pkcs12`: it is not PKCS#12, or `password` is wrong";
        assert_eq!(errors, [expected], "{file}");
    }
    let keyless = json!({"name": "x", "kind": "client", "pkcs12": archive("no-key"), "password": "open"});
    let errors = messages(kit.create(&admin(), KIND, keyless).await);
    assert_eq!(errors, ["`pkcs12`: it contains no private key"]);
}

#[tokio::test]
async fn a_damaged_archive_is_refused() {
    let kit = Kit::new().await;
    let whole = STANDARD.decode(archive("openssl-legacy")).unwrap();
    let author = admin();
    let expected = "`pkcs12`: it is not PKCS#12, or `password` is wrong";
    for at in (0..whole.len()).step_by(41) {
        let mut changed = whole.clone();
        changed[at] ^= 0x10;
        for bytes in [&changed[..], &whole[..at]] {
            let body =
                json!({"name": "x", "kind": "client", "pkcs12": STANDARD.encode(bytes), "password": "open"});
            let errors = messages(kit.create(&author, KIND, body).await);
            assert_eq!(errors.len(), 1, "byte {at}: {errors:?}");
            // An empty archive is refused before it is opened.
            assert!(bytes.is_empty() || errors == [expected], "byte {at}: {errors:?}");
        }
    }
}

#[tokio::test]
async fn an_archive_that_takes_too_long_to_open_is_refused() {
    let kit = Kit::new().await;
    let body =
        json!({"name": "x", "kind": "client", "pkcs12": archive("too-many-rounds"), "password": "open"});
    let errors = messages(kit.create(&admin(), KIND, body).await);
    assert_eq!(errors, ["`pkcs12`: it is not PKCS#12, or `password` is wrong"]);
}

#[tokio::test]
async fn opening_a_pkcs12_does_not_block_other_tasks() {
    let kit = Kit::new().await;
    let identity = Authority::new("a").issue(&["a.test"], VALID);
    let slow = pkcs12_with_iterations(&identity, "open", 300_000);
    let body = json!({"name": "slow", "kind": "client", "pkcs12": slow, "password": "open"});
    let author = admin();
    let mut creation = std::pin::pin!(kit.create(&author, KIND, body));
    // The longest time that no other task of this thread ran. It is compared with the total time, since a busy machine
    // stretches both.
    let (started, mut longest) = (Instant::now(), Duration::ZERO);
    let mut last = started;
    let result = loop {
        tokio::select! {
            biased;
            result = &mut creation => break result,
            () = tokio::task::yield_now() => {}
        }
        longest = longest.max(last.elapsed());
        last = Instant::now();
    };
    let (total, longest) = (started.elapsed(), longest.max(last.elapsed()));
    assert!(longest < total / 2, "others had no turn for {longest:?} of {total:?}");
    assert_eq!(result.unwrap().warnings, [""; 0]);
}

#[tokio::test]
async fn a_certificate_in_use_is_not_deleted() {
    let kit = Kit::new().await;
    let identity = Authority::new("a").issue(&["a.test"], VALID);
    let id = kit.create_valid(KIND, client(identity.pem())).await;
    let facts = kit.accounts.account(CustomerId(1)).await.unwrap();
    assert!(facts.certificates[&id].is_client);
    kit.monitor(200_001, CustomerId(1), json!({"ssl_cert_id": id, "use_client_ssl_cert": true}));
    let text = "1 monitor uses this certificate; remove it from them first";
    assert_eq!(conflict(kit.delete(&admin(), KIND, id).await), text);
    kit.monitors.replace_all(Vec::new());
    kit.delete(&admin(), KIND, id).await.unwrap();
    assert!(messages(kit.create(&admin(), KIND, client(identity.pem())).await).is_empty());
}

#[tokio::test]
async fn only_admins_create_certificates_and_each_account_sees_its_own() {
    let kit = Kit::new().await;
    let identity = Authority::new("a").issue(&["a.test"], VALID);
    assert_roles(&kit, KIND, |_| client(identity.pem()), &[Role::Admin, Role::CoAdmin]).await;
    let id = kit.create_valid(KIND, client(identity.pem())).await;
    assert_isolated(&kit, KIND, id, json!({"name": "x"})).await;
}
