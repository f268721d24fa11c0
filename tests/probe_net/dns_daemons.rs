//! `name-server` against BIND and Knot: every transport, every record type, DNSSEC.

use std::fs;
use std::net::UdpSocket;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hickory_proto::op::{Edns, Message, Query};
use hickory_proto::rr::{Name, RecordType};
use serde_json::{Value, json};
use tempfile::TempDir;
use vigie::domain::{FailureKind as Kind, MonitorType, Observation, Phase};
use vigie::net::{Net, Pem};

use crate::probe_net::{TIMEOUT, attempt, net_with};
use crate::support::daemon::{Daemon, free_port, has, open_folder, wait_for};
use crate::support::lacking::lacks;
use crate::support::tls_server::Authority;

const ZONE: &str = r#"$TTL 60
@ SOA ns.example.test. admin.example.test. 1 3600 600 86400 60
@ NS ns
ns A 127.0.0.1
www 300 A 192.0.2.10
www 300 A 192.0.2.11
www AAAA 2001:db8::10
six AAAA 2001:db8::6
@ MX 10 mail
mail A 192.0.2.20
@ TXT "v=spf1 -all"
_sip._tcp SRV 1 2 5060 www
@ CAA 0 issue "ca.example.test"
10.ptr PTR www
alias CNAME www
round CNAME about
about CNAME round
away CNAME www.elsewhere.test.
sub NS ns.sub
ns.sub A 192.0.2.30
sub DS 60485 13 2 D4B7D520E7BB5F0F67674A0CCEB1E3E0614B93C4F9E99B8383F6A1E4469DA50A
"#;

/// Returns the zone, with many strings so that one reply does not fit into a datagram.
fn zone() -> String {
    let long: Vec<String> = (0..40).map(|n| format!("long TXT \"{n} {}\"\n", "x".repeat(100))).collect();
    let long = long.concat();
    format!("{ZONE}{long}")
}

/// BIND as the authoritative server of the signed zone `example.test`, over every transport.
struct Bind {
    plain: u16,
    tls: u16,
    https: u16,
    ca: Authority,
    folder: TempDir,
    _daemon: Daemon,
}

impl Bind {
    fn start() -> Self {
        let folder = open_folder();
        let folder_path = folder.path().display().to_string();
        let ca = Authority::new("test CA");
        let own = ca.issue(&["127.0.0.1", "::1", "localhost"], (2020, 2090));
        let (plain, tls, https) = (free_port(), free_port(), free_port());
        write(folder.path(), "server.pem", &own.certificate);
        write(folder.path(), "server.key", &own.key);
        write(folder.path(), "example.test.zone", &zone());
        let config = format!(
            "options {{ directory \"{folder_path}\"; pid-file \"{folder_path}/named.pid\"; session-keyfile \"{folder_path}/session.key\";
               managed-keys-directory \"{folder_path}\"; recursion no; dnssec-validation no; allow-transfer {{ none; }};
               listen-on port {plain} {{ 127.0.0.1; }}; listen-on-v6 port {plain} {{ ::1; }};
               listen-on port {tls} tls own {{ 127.0.0.1; }};
               listen-on port {https} tls own http local {{ 127.0.0.1; }}; }};
             http local {{ endpoints {{ \"/dns-query\"; }}; }};
             tls own {{ cert-file \"{folder_path}/server.pem\"; key-file \"{folder_path}/server.key\"; }};
             controls {{ }};
             dnssec-policy fast {{ keys {{ csk key-directory lifetime unlimited algorithm ecdsap256sha256; }}; }};
             zone \"example.test\" {{ type master; file \"{folder_path}/example.test.zone\"; dnssec-policy fast; inline-signing yes; }};"
        );
        let daemon = named(folder.path(), &config, plain);
        wait_for(tls);
        wait_for(https);
        wait_until_signed(plain);
        Self { plain, tls, https, ca, folder, _daemon: daemon }
    }

    /// Returns the key that signs the zone, as a trust anchor.
    fn anchor(&self) -> String {
        let is_key = |path: &Path| {
            let name = path.file_name().unwrap().to_string_lossy();
            name.starts_with("Kexample.test.") && path.extension().is_some_and(|end| end == "key")
        };
        let key =
            fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().path()).find(|p| is_key(p));
        let text = fs::read_to_string(key.unwrap()).unwrap();
        let line = text.lines().find(|line| line.contains(" DNSKEY ")).unwrap();
        let fields: Vec<&str> = line.split_whitespace().collect();
        let index = fields.iter().position(|word| *word == "DNSKEY").unwrap();
        let [flags, protocol, algorithm] = fields[index + 1..index + 4] else { panic!("{line}") };
        format!(
            "example.test. static-key {flags} {protocol} {algorithm} \"{}\";",
            fields[index + 4..].concat()
        )
    }

    fn net(&self) -> Net {
        net_with(|config| {
            config.trust_config.additional_authorities =
                vec![Pem { label: "ca".to_owned(), text: self.ca.pem().into_bytes() }];
        })
    }
}

fn write(folder: &Path, name: &str, text: &str) {
    fs::write(folder.join(name), text).unwrap();
}

fn named(folder: &Path, config: &str, port: u16) -> Daemon {
    write(folder, "named.conf", config);
    let daemon =
        Daemon::start(Command::new("named").args(["-g", "-n", "1", "-c"]).arg(folder.join("named.conf")));
    wait_for(port);
    daemon
}

/// Starts a resolver that forwards questions about `example.test` to port `authority` and validates by `anchor`.
fn resolver(folder: &Path, authority: u16, anchor: &str) -> (u16, Daemon) {
    let (folder_path, port) = (folder.display().to_string(), free_port());
    let anchors = if anchor.is_empty() { String::new() } else { format!("trust-anchors {{ {anchor} }};") };
    let config = format!(
        "options {{ directory \"{folder_path}\"; pid-file \"{folder_path}/named.pid\"; session-keyfile \"{folder_path}/session.key\";
           managed-keys-directory \"{folder_path}\"; recursion yes; dnssec-validation yes; allow-query {{ any; }};
           listen-on port {port} {{ 127.0.0.1; }}; listen-on-v6 {{ none; }}; empty-zones-enable no; }};
         controls {{ }}; {anchors}
         zone \"example.test\" {{ type forward; forward only; forwarders {{ 127.0.0.1 port {authority}; }}; }};"
    );
    (port, named(folder, &config, port))
}

/// Waits until the zone of the server at `port` is signed.
fn wait_until_signed(port: u16) {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(("127.0.0.1", port)).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    let mut query = Message::query();
    query.add_query(Query::query(Name::from_ascii("www.example.test.").unwrap(), RecordType::A));
    let mut edns = Edns::new();
    edns.set_dnssec_ok(true);
    query.set_edns(edns);
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        assert!(Instant::now() < end, "the zone is never signed");
        socket.send(&query.to_vec().unwrap()).unwrap();
        let mut buffer = [0; 4096];
        let reply =
            socket.recv(&mut buffer).ok().and_then(|length| Message::from_vec(&buffer[..length]).ok());
        let is_signed =
            |reply: Message| reply.answers.iter().any(|one| one.record_type() == RecordType::RRSIG);
        if reply.is_some_and(is_signed) {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

async fn observe(net: &Net, port: u16, fields: Value) -> Observation {
    let mut all = json!({"hostname": "127.0.0.1", "port": port});
    all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    attempt(net, MonitorType::NameServer, all, TIMEOUT).await
}

#[tokio::test]
async fn a_real_bind_replies_over_every_transport() {
    if !has("named") {
        return lacks("probe_net::dns_daemons::a_real_bind", "named", "apt-get install bind9");
    }
    let bind = tokio::task::spawn_blocking(Bind::start).await.unwrap();
    let net = bind.net();
    let www =
        json!({"name_to_resolve": "www.example.test", "expected_answers": ["192.0.2.11", "192.0.2.10"]});
    let transports = [
        ("udp", bind.plain, &[Phase::Resolve, Phase::Send, Phase::FirstByte][..]),
        (
            "tcp",
            bind.plain,
            &[Phase::Resolve, Phase::Connect, Phase::Send, Phase::FirstByte, Phase::Transfer],
        ),
        (
            "tls",
            bind.tls,
            &[Phase::Resolve, Phase::Connect, Phase::Tls, Phase::Send, Phase::FirstByte, Phase::Transfer],
        ),
        (
            "https",
            bind.https,
            &[Phase::Resolve, Phase::Connect, Phase::Tls, Phase::Send, Phase::FirstByte, Phase::Transfer],
        ),
    ];
    for (transport, port, phases) in transports {
        let mut fields = www.clone();
        fields["transport"] = json!(transport);
        let observation = observe(&net, port, fields).await;
        assert_eq!(observation.failure, None, "{transport}");
        assert_eq!(
            observation.phases.iter().map(|(phase, _)| phase).collect::<Vec<_>>(),
            phases,
            "{transport}"
        );
        let facts = observation.facts.dns.unwrap();
        assert_eq!(
            (facts.transport.as_str(), facts.rcode.as_str(), facts.min_ttl_seconds),
            (transport, "NOERROR", Some(300))
        );
        assert!(
            facts.authoritative && !facts.recursion_available && !facts.authenticated_data && !facts.signed
        );
        assert!(facts.response_bytes.is_some_and(|bytes| bytes > 40));
        assert_eq!(observation.facts.tls.is_some(), port != bind.plain);
        let http = observation.facts.http.map(|http| (http.http_status, http.http_version));
        assert_eq!(http, (transport == "https").then(|| (200, "HTTP/2".to_owned())));
        // With a certificate of an untrusted issuer.
        if port != bind.plain {
            let fields = json!({"name_to_resolve": "www.example.test", "transport": transport});
            let observation = observe(&net_with(|_| {}), port, fields).await;
            assert_eq!(observation.failure.unwrap().kind, Kind::CertificateIssuerUnknown);
            assert!(observation.facts.tls.is_some());
        }
        // With a name outside its zone.
        let fields = json!({"name_to_resolve": "www.elsewhere.test", "transport": transport});
        let failure = observe(&net, port, fields).await.failure.unwrap();
        assert!(failure.detail.starts_with("REFUSED"), "{transport}: {failure}");
    }
    let six = attempt(
        &net,
        MonitorType::NameServer,
        json!({"hostname": "::1", "port": bind.plain, "name_to_resolve": "six.example.test"}),
        TIMEOUT,
    )
    .await;
    assert_eq!(
        (six.failure, six.facts.dns.unwrap().answer_records),
        (None, vec!["AAAA 2001:db8::6".to_owned()])
    );
}

#[tokio::test]
async fn a_real_bind_gives_records_of_every_type() {
    if !has("named") {
        return lacks("probe_net::dns_daemons::a_real_bind", "named", "apt-get install bind9");
    }
    let bind = tokio::task::spawn_blocking(Bind::start).await.unwrap();
    let net = bind.net();
    let key = bind.anchor().split('"').nth(1).unwrap().to_owned();
    let key = format!("257 3 13 {} {}", &key[..20], &key[20..]);
    let cases = [
        ("A", "www", "192.0.2.10"),
        ("AAAA", "www", "2001:DB8::10"),
        ("CAA", "", "0 issue \"ca.example.test\""),
        ("CNAME", "alias", "www.example.test"),
        ("DNSKEY", "", key.as_str()),
        ("DS", "sub", "60485 13 2 D4B7D520E7BB5F0F67674A0CCEB1E3E0614B93C4F9E99B8383F6A1E4 469DA50A"),
        ("MX", "", "10 mail.example.test."),
        ("NS", "", "ns.example.test."),
        ("PTR", "10.ptr", "www.example.test."),
        ("SOA", "", ""),
        ("SRV", "_sip._tcp", "1 2 5060 www.example.test."),
        ("TXT", "", "\"v=spf1 -all\""),
        // Through an alias.
        ("A", "alias", "192.0.2.11"),
    ];
    for (kind, name, value) in cases {
        let name = format!("{name}.example.test");
        let mut fields = json!({"name_to_resolve": name.trim_start_matches('.'), "record_type": kind});
        if !value.is_empty() {
            fields["expected_answers"] = json!([value]);
        }
        let observation = observe(&net, bind.plain, fields).await;
        assert_eq!(observation.failure, None, "{kind} {name}: {:?}", observation.facts.dns);
        fields = json!({"name_to_resolve": name.trim_start_matches('.'), "record_type": kind, "expected_answers": ["other"]});
        let failure = observe(&net, bind.plain, fields).await.failure.unwrap();
        assert_eq!(failure.kind, Kind::DnsRecordsDiffer, "{kind}");
    }
    let fails = [
        ("none", "A", Kind::DnsErrorRcode, "NXDOMAIN"),
        ("mail", "TXT", Kind::DnsNoRecords, "no record of type `TXT`"),
        ("sub", "TXT", Kind::DnsLameServer, "it refers to the name servers of `sub.example.test.` instead"),
    ];
    for (name, kind, expected, text) in fails {
        let fields = json!({"name_to_resolve": format!("{name}.example.test"), "record_type": kind});
        let failure = observe(&net, bind.plain, fields).await.failure.unwrap();
        assert_eq!(failure.kind, expected, "{name}: {failure}");
        assert!(failure.detail.contains(text), "{failure}");
    }
    // BIND follows the aliases itself and reports the loop. Knot leaves that to the client.
    let failure =
        observe(&net, bind.plain, json!({"name_to_resolve": "round.example.test"})).await.failure.unwrap();
    assert!(matches!(failure.kind, Kind::DnsAliasLoop | Kind::DnsErrorRcode), "{failure}");
    // Too long for a datagram.
    let observation =
        observe(&net, bind.plain, json!({"name_to_resolve": "long.example.test", "record_type": "TXT"}))
            .await;
    let facts = observation.facts.dns.unwrap();
    assert_eq!(
        (observation.failure, facts.transport.as_str(), facts.answer_records.len()),
        (None, "tcp", 40)
    );
    assert!(facts.truncated && facts.response_bytes.unwrap() > 4000);
    let phases: Vec<Phase> = observation.phases.iter().map(|(phase, _)| phase).collect();
    assert_eq!(phases, [Phase::Resolve, Phase::Connect, Phase::Send, Phase::FirstByte, Phase::Transfer]);
}

#[tokio::test]
async fn only_a_validating_resolver_proves_an_answer() {
    if !has("named") {
        return lacks("probe_net::dns_daemons::only_a_validating_resolver", "named", "apt-get install bind9");
    }
    let bind = tokio::task::spawn_blocking(Bind::start).await.unwrap();
    let net = bind.net();
    let fields = || json!({"name_to_resolve": "www.example.test", "require_dnssec": true});
    let observation = observe(&net, bind.plain, fields()).await;
    let failure = observation.failure.unwrap();
    assert_eq!((failure.kind, failure.phase), (Kind::DnsNotAuthenticated, Phase::Validate));
    assert!(failure.detail.contains("the answer is signed, but a server with authority"), "{failure}");
    let mut facts = observation.facts.dns.unwrap();
    assert!(facts.signed && facts.authoritative && !facts.authenticated_data);
    // Name servers rotate their records.
    facts.answer_records.sort_unstable();
    assert_eq!(
        facts.answer_records,
        ["A 192.0.2.10", "A 192.0.2.11"].map(str::to_owned),
        "without signatures"
    );

    let anchor = bind.anchor();
    let (head, _) = anchor.split_once('"').unwrap();
    assert!(head.ends_with(" 13 "), "a key of ECDSA over P-256: {head}");
    // A valid key of another owner, since BIND accepts only valid keys as anchors.
    let stranger = rcgen::KeyPair::generate().unwrap();
    let wrong = format!("{head}\"{}\";", STANDARD.encode(&stranger.public_key_raw()[1..]));
    let (trusted_folder, other_folder) = (open_folder(), open_folder());
    let authority = bind.plain;
    let started = tokio::task::spawn_blocking(move || {
        let trusted = resolver(trusted_folder.path(), authority, &anchor);
        let other = resolver(other_folder.path(), authority, &wrong);
        (trusted, other, trusted_folder, other_folder)
    });
    let ((validating, _one), (distrusting, _other), _trusting, _strange) = started.await.unwrap();
    let observation = observe(&net, validating, fields()).await;
    assert_eq!(observation.failure, None);
    let facts = observation.facts.dns.unwrap();
    assert!(facts.authenticated_data && facts.signed && facts.recursion_available && !facts.authoritative);
    let failure = observe(&net, distrusting, fields()).await.failure.unwrap();
    assert_eq!(failure.kind, Kind::DnsErrorRcode);
    assert!(failure.detail.starts_with("SERVFAIL"), "{failure}");
}

#[tokio::test]
async fn a_real_knot_gives_the_expected_results() {
    if !has("knotd") {
        return lacks("probe_net::dns_daemons::a_real_knot", "knotd", "apt-get install knot");
    }
    let folder = open_folder();
    let (folder_path, port) = (folder.path().display().to_string(), free_port());
    fs::create_dir(folder.path().join("zones")).unwrap();
    fs::create_dir(folder.path().join("db")).unwrap();
    write(&folder.path().join("zones"), "example.test.zone", &zone());
    write(
        folder.path(),
        "knot.conf",
        &format!(
            "server:\n    rundir: \"{folder_path}\"\n    listen: [ 127.0.0.1@{port}, ::1@{port} ]\n    udp-workers: 1\n    \
             tcp-workers: 1\n    background-workers: 1\ndatabase:\n    storage: \"{folder_path}/db\"\ntemplate:\n  - id: default\n    \
             storage: \"{folder_path}/zones\"\n    dnssec-signing: on\nzone:\n  - domain: example.test\n    file: example.test.zone\n"
        ),
    );
    let path = folder.path().join("knot.conf");
    let _knot = tokio::task::spawn_blocking(move || {
        let daemon = Daemon::start(Command::new("knotd").arg("-c").arg(path));
        wait_for(port);
        wait_until_signed(port);
        daemon
    })
    .await
    .unwrap();
    let net = net_with(|_| {});
    for transport in ["udp", "tcp"] {
        for host in ["127.0.0.1", "::1"] {
            let fields = json!({
                "hostname": host, "port": port, "name_to_resolve": "alias.example.test", "transport": transport,
                "expected_answers": ["192.0.2.10", "192.0.2.11"],
            });
            let observation = attempt(&net, MonitorType::NameServer, fields, TIMEOUT).await;
            assert_eq!(observation.failure, None, "{transport} {host}");
            let facts = observation.facts.dns.unwrap();
            assert_eq!(facts.answer_records[0], "CNAME www.example.test.");
            assert!(facts.authoritative && facts.answer_records.len() == 3);
        }
    }
    let fields = json!({"name_to_resolve": "www.example.test", "require_dnssec": true});
    let failure = observe(&net, port, fields).await.failure.unwrap();
    assert!(failure.detail.contains("the answer is signed, but a server with authority"), "{failure}");
    let failure =
        observe(&net, port, json!({"name_to_resolve": "round.example.test"})).await.failure.unwrap();
    assert_eq!(failure.kind, Kind::DnsAliasLoop, "{failure}");
    assert!(
        failure.detail.contains("`round.example.test.` → `about.example.test.` → `round.example.test.`"),
        "{failure}"
    );
    let long = json!({"name_to_resolve": "long.example.test", "record_type": "TXT"});
    assert_eq!(observe(&net, port, long).await.facts.dns.unwrap().answer_records.len(), 40);
    let fields = json!({"name_to_resolve": "x.elsewhere.test"});
    assert!(observe(&net, port, fields).await.failure.unwrap().detail.starts_with("REFUSED"));
}
