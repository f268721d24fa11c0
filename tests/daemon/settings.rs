use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;
use vigie::domain::{CustomerId, EgressPrincipal, LocationId, MonitorType};
use vigie::net::NameServers;
use vigie::settings::{SETTINGS, Setting, SettingSources, SettingType, Settings, render_default_file};
use vigie::syntax::node::Node;

const SHIPPED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/config/vigie.yaml");

fn load(text: &str) -> Result<Settings, Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("vigie.yaml");
    std::fs::write(&file, text).unwrap();
    let sources = SettingSources { file: Some(file.clone()), ..SettingSources::default() };
    let strip =
        |error: &vigie::syntax::ValidationError| error.to_string().replace(&file.display().to_string(), "F");
    Settings::load(&sources).map_err(|errors| errors.iter().map(strip).collect())
}

#[test]
fn the_shipped_file_is_the_table_with_every_default() {
    if std::env::var_os("VIGIE_RENDER_SETTINGS").is_some() {
        std::fs::write(SHIPPED, render_default_file()).unwrap();
    }
    let shipped = std::fs::read_to_string(SHIPPED).unwrap();
    assert!(
        shipped == render_default_file(),
        "config/vigie.yaml differs; write it with VIGIE_RENDER_SETTINGS=1 cargo test shipped"
    );
    let sources = SettingSources { file: Some(SHIPPED.into()), ..SettingSources::default() };
    let (shipped, bare) =
        (Settings::load(&sources).unwrap(), Settings::load(&SettingSources::default()).unwrap());
    assert!(shipped.changed_settings(&bare).is_empty());
}

#[test]
fn every_setting_is_documented_and_has_its_own_variable() {
    let mut variables: Vec<_> = SETTINGS.iter().filter_map(Setting::env_var).collect();
    let count = variables.len();
    variables.sort();
    variables.dedup();
    assert_eq!(variables.len(), count);
    for setting in SETTINGS {
        assert!(setting.description.len() > 15, "{}", setting.path);
        assert!(setting.description.lines().all(|line| line.len() < 110), "{}", setting.path);
        let name = setting.path.rsplit('.').next().unwrap();
        assert!(
            render_default_file().contains(&format!("{name}: {}\n", setting.default)),
            "{} is in no section",
            setting.path
        );
    }
}

#[test]
fn settings_are_converted_for_the_components() {
    let settings = load(
        "listen: '[::1]:0'\nengine: {drain_seconds: 5, per_target: 7}\nstore: {synchronous: full, keep_results_days: 2}\n\
         location: {id: 4, region: 9, name_servers: [192.0.2.1, '[::1]:5353'], egress_deny: [10.0.0.0/8], source_ipv4: 127.0.0.2}\n\
         dns: {default_name: a.test, names: [{id: 2, name: b.test}]}\nchecks: {user_agent: me/1}\n\
         plans: [{code: basic, types: [tcp], least_interval: 5}]\nmobile: {region: 7, profiles: [{subtype: 3, name: watch}]}\ntls: {system_roots: false}\n",
    )
    .unwrap();
    assert_eq!(settings.listen_addresses, ["[::1]:0".parse().unwrap()]);
    assert_eq!(
        (settings.concurrency.drain_timeout, settings.concurrency.per_target),
        (Duration::from_secs(5), 7)
    );
    assert_eq!(settings.store.retention.results, Duration::from_hours(48));
    assert!(settings.store.full_sync);
    assert_eq!((settings.location.id, settings.location.region_code), (LocationId(4), 9));
    let servers = ["192.0.2.1:53".parse().unwrap(), "[::1]:5353".parse().unwrap()];
    assert_eq!(settings.net.name_servers, NameServers::Explicit(servers.to_vec()));
    assert!(
        settings.net.egress_policy.check(EgressPrincipal::Operator, "10.1.1.1".parse().unwrap()).is_err()
    );
    assert_eq!(settings.net.source_binding.ipv4, Some("127.0.0.2".parse().unwrap()));
    assert_eq!(settings.net.trust_config.public_roots, vigie::net::PublicRoots::None);
    assert_eq!(settings.probe.dns_query_names, ["a.test", "", "b.test"]);
    assert_eq!(&*settings.probe.user_agent, "me/1");
    assert_eq!(settings.billing_plans[0].monitor_types, [MonitorType::Tcp]);
    let mobile = settings.mobile_emulation;
    assert_eq!((mobile.region_id, mobile.profile_names), (Some(7), [(3, "watch".to_owned())].into()));
}

#[test]
fn browser_settings_are_applied_and_remote_browsers_validated() {
    let settings = load(
        "browser:\n  user: nobody\n  sandbox: false\n  folder: /x\n  chromium: /c\n  memory_mb: 200\n  nice: 0\n  start_seconds: 7\n  \
         remote: [{browser: Internet Explorer, url: 'http://192.0.2.9:4444/wd/hub', forward_host: 192.0.2.7}]\n",
    )
    .unwrap();
    let browser = settings.browser_pool_config;
    assert_eq!(
        (browser.os_user.as_deref(), browser.use_sandbox, browser.niceness),
        (Some("nobody"), false, 0)
    );
    assert_eq!((browser.profiles_folder, browser.chromium), (Some("/x".into()), Some("/c".into())));
    assert_eq!((browser.max_memory_bytes_per_browser, browser.max_memory_bytes_total), (200 << 20, None));
    assert_eq!(browser.start_timeout, Duration::from_secs(7));
    let remote = &browser.remotes[0];
    assert_eq!(
        (remote.browser_kind.name(), remote.forward_proxy_address),
        ("Internet Explorer", Some("192.0.2.7".parse().unwrap()))
    );
    assert_eq!(remote.client_networks, ["192.0.2.9/32".parse().unwrap()]);
    let errors = load(
        "browser:\n  nice: 20\n  remote:\n  - {browser: Netscape, url: 'http://a/'}\n  - {browser: Firefox, url: 'https://a/'}\n  \
         - {browser: Firefox, url: 'http://u:p@192.0.2.1/'}\n  - {browser: Google Chrome, url: 'http://grid/'}\n  \
         - {browser: Internet Explorer, url: 'http://192.0.2.1/', forward_host: here}\n",
    )
    .unwrap_err();
    let expected = [
        "F:2:9: `browser.nice` must be a whole number from 0 to 19, not `20`",
        "F:4:15: `browser.remote[0].browser` must be one of `Google Chrome`, `Firefox`, `Internet Explorer`, not `Netscape`",
        "F:5:29: `browser.remote[1].url` must be an address that begins with `http://`, without a login, or `unix:` and the absolute path of the socket of a browser host",
        "F:6:15: `browser.remote[2].browser` is set twice",
        "F:6:29: `browser.remote[2].url` must be an address that begins with `http://`, without a login, or `unix:` and the absolute path of the socket of a browser host",
        "F:7:5: `browser.remote[3].from` is needed where the host of `browser.remote[3].url` is a name",
        "F:8:74: `browser.remote[4].forward_host` must be an address of this host, such as `192.0.2.7`",
    ];
    assert_eq!(errors, expected);
}

#[test]
fn a_browser_host_is_named_by_its_socket() {
    let settings = load(
        "browser: {remote: [{browser: Firefox, url: 'unix:/run/vigie/webdriver.sock'},\n\
         {browser: Google Chrome, url: 'http://192.0.2.9/', forward_host: 192.0.2.7, forward_ports: 9600-9650}]}\n",
    );
    let remotes = settings.unwrap().browser_pool_config.remotes;
    assert_eq!(remotes[0].browser_host_socket(), Some(std::path::Path::new("/run/vigie/webdriver.sock")));
    assert_eq!(remotes[1].browser_host_socket(), None);
    assert_eq!(remotes[1].forward_proxy_ports, Some(9600..=9650));
    let errors = load(
        "browser:\n  remote:\n  - {browser: Firefox, url: 'unix:/a', from: [192.0.2.0/24]}\n  \
         - {browser: Internet Explorer, url: 'unix:/a'}\n  \
         - {browser: Google Chrome, url: 'http://192.0.2.9/', forward_ports: 9650-9600}\n",
    )
    .unwrap_err();
    let expected = [
        "F:3:46: `browser.remote[0].from` has no effect with a browser host: its connections use the socket",
        "F:4:5: `browser.remote[1].browser` cannot be `Internet Explorer` with a browser host",
        "F:5:71: `browser.remote[2].forward_ports` must be a range of ports, such as `9600-9650`",
    ];
    assert_eq!(errors, expected);
}

#[test]
fn every_error_is_reported_at_once_with_position_and_hint() {
    let errors = load(
        "lissten: 127.0.0.1:1\nlisten: localhost\nengine:\n  total: 0\n  light: many\n  light: 3\n  listen: x\n\
         store: [1]\nlog: {format: xml, level: loud}\nlocation:\n  egress_deny: [10.0.0.1/8]\n\
         certificates:\n  - {id: 1, name: a}\n  - {id: 1, nam: b, ca_file: /nonexistent.pem}\nplans: [{code: a, types: [tcpp]}]\n",
    )
    .unwrap_err();
    let expected = [
        "F:1:1: `lissten` is not a setting\n  hint: did you mean `listen`?",
        "F:2:9: `listen` must be an address with a port, such as `127.0.0.1:7979` or `[::1]:7979`, not `localhost`",
        "F:4:10: `engine.total` must be a whole number from 1 to 1000000, not `0`",
        "F:5:10: `engine.light` must be a whole number from 1 to 1000000, not `many`",
        "F:6:3: `engine.light` is set twice",
        "F:7:3: `engine.listen` is not a setting\n  hint: did you mean `listen`?",
        "F:8:8: `store` must be a map of settings, not `a list`",
        "F:9:15: `log.format` must be one of `text`, `json`, not `xml`",
        "F:9:27: `log.level` must be `error`, `warn`, `info`, `debug` or `trace`, or levels by module such as `info,vigie::net=debug`, not `loud`",
        "F:11:17: `location.egress_deny[0]` must be a network, such as `10.0.0.0/8` or `fd00::/8`, not `10.0.0.1/8`",
        "F:14:13: `certificates[1].nam` is not a setting\n  hint: did you mean `name`?",
        "F:14:5: `certificates[1].name` is missing",
        "F:13:5: `certificates[0]` needs either `ca_file`, or `cert_file` and `key_file`, or `pkcs12_file`",
        "F:14:10: `certificates[1].id` is set twice",
        "F:14:30: `certificates[1].ca_file`: the file `/nonexistent.pem` cannot be read: No such file or directory (os error 2)",
        "F:15:27: `tcpp` is not a monitor type; did you mean `tcp`?",
    ];
    for expected_error in &expected {
        assert!(
            errors.iter().any(|found| found == expected_error),
            "{expected_error}\nis not among\n{}",
            errors.join("\n")
        );
    }
    assert_eq!(errors.len(), expected.len(), "{}", errors.join("\n"));
}

#[test]
fn a_mobile_profile_defines_a_device() {
    let text = "mobile:\n  profiles:\n  - {subtype: 2, name: watch, width: 200, height: 240, scale: 1.5, mobile: true, touch: true, user_agent: Tick/1,\n     \
                headers: [{name: X-Size, value: tiny}], blocked_hosts: ['*.ads.example']}\n";
    let settings = load(text).unwrap();
    let device = &settings.probe.device_profiles[&2];
    assert_eq!(
        (device.name.as_str(), device.emulation.viewport, device.emulation.device_pixel_ratio),
        ("watch", (200, 240), 1.5)
    );
    assert!(device.emulation.mobile_layout && device.emulation.touch_screen);
    assert_eq!(device.emulation.user_agent.as_deref(), Some("Tick/1"));
    assert_eq!(device.emulation.extra_headers, [("X-Size".to_owned(), "tiny".to_owned())]);
    assert_eq!(device.blocked_hosts.matching_pattern("a.ads.example"), Some("*.ads.example"));
    assert_eq!(load("").unwrap().mobile_emulation.profile_names.into_keys().collect::<Vec<_>>(), [1, 2, 3]);
    let errors = load(
        "mobile: {profiles: [{subtype: 1, name: a, width: 5, scale: 9, user_agent: ' ', headers: [{name: Host, value: x}], blocked_hosts: ['*']}]}\n",
    )
    .unwrap_err();
    for part in [
        "`mobile.profiles[0].width` must be a whole number from 100 to 7680, not `5`",
        "`mobile.profiles[0].scale` must be a number from 0.5 to 5, not `9`",
        "`mobile.profiles[0].user_agent` must be a header value",
        "`mobile.profiles[0].headers[0].name` must be the name of a header",
        "`mobile.profiles[0].blocked_hosts[0]` must be a host",
    ] {
        assert!(errors.iter().any(|error| error.contains(part)), "{part}: {errors:?}");
    }
}

#[test]
fn mobile_profiles_are_unique_and_of_known_subtypes() {
    let text = "mobile: {region: -1, profiles: [{subtype: 1, name: a}, {subtype: 1, name: b}, {subtype: 4, name: c}]}\n";
    let errors = load(text).unwrap_err();
    for part in [
        "`mobile.region` must be a whole number of at least 0",
        "`mobile.profiles[1].subtype` is set twice",
        "`mobile.profiles[2].subtype` must be a whole number from 1 to 3, not `4`",
    ] {
        assert!(errors.iter().any(|error| error.contains(part)), "{part}: {errors:?}");
    }
}

#[test]
fn invalid_certificates_are_reported() {
    let errors = load(
        "certificates:\n  - {id: 1, name: a}\n  - {id: 1, name: b, ca_file: /nonexistent/ca.pem}\ndns: {names: [{id: 5000, name: x}]}\ntls: {ca_files: [/nonexistent/x.pem]}\n",
    )
    .unwrap_err();
    for part in [
        "F:2:5: `certificates[0]` needs either `ca_file`, or `cert_file` and `key_file`, or `pkcs12_file`",
        "F:3:10: `certificates[1].id` is set twice",
        "`certificates[1].ca_file`: the file `/nonexistent/ca.pem` cannot be read: No such file",
        "`tls.ca_files[0]`: the file `/nonexistent/x.pem` cannot be read",
        "`dns.names[0].id` must be a whole number from 1 to 1000, not `5000`",
    ] {
        assert!(
            errors.iter().any(|found| found.contains(part)),
            "{part}\nis not among\n{}",
            errors.join("\n")
        );
    }
}

#[test]
fn a_flag_beats_the_environment_which_beats_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.yaml");
    std::fs::write(&file, "listen: 127.0.0.1:1\ndata: from-file\nmonitors: [f]\n").unwrap();
    let mut sources = SettingSources { file: Some(file), ..SettingSources::default() };
    let listen = |sources: &SettingSources| Settings::load(sources).unwrap().listen_addresses[0].port();
    assert_eq!(listen(&sources), 1);
    sources.environment = vec![
        ("VIGIE_LISTEN".to_owned(), "127.0.0.1:2".to_owned()),
        ("VIGIE_MONITORS".to_owned(), "a, b".to_owned()),
        ("VIGIE_ENGINE_TOTAL".to_owned(), "9".to_owned()),
        ("VIGIE_LISTENN".to_owned(), "x".to_owned()),
        ("VIGIE_TOKEN".to_owned(), "x".to_owned()),
    ];
    assert_eq!(listen(&sources), 2);
    sources.flags = vec![("listen", "127.0.0.1:3".to_owned())];
    let settings = Settings::load(&sources).unwrap();
    assert_eq!((settings.listen_addresses[0].port(), settings.concurrency.total), (3, 9));
    assert_eq!(settings.data_dir, PathBuf::from("from-file"));
    assert_eq!(settings.monitor_paths, [PathBuf::from("a"), PathBuf::from("b")]);
    assert_eq!(sources.unknown_variables(), [("VIGIE_LISTENN".to_owned(), Some("VIGIE_LISTEN".to_owned()))]);
    sources.flags = vec![("listen", "nowhere".to_owned())];
    let error = Settings::load(&sources).unwrap_err()[0].to_string();
    assert!(error.starts_with("`--listen` must be an address"), "{error}");
    sources.environment = vec![("VIGIE_ENGINE_TOTAL".to_owned(), "lots".to_owned())];
    sources.flags.clear();
    let error = Settings::load(&sources).unwrap_err()[0].to_string();
    assert!(error.starts_with("`VIGIE_ENGINE_TOTAL` must be a whole number"), "{error}");
}

/// The demo deletes its data unless a data folder is set, and a monitor folder that is set must exist.
#[test]
fn a_flag_or_variable_with_the_default_value_counts_as_set() {
    let is_set = |sources: SettingSources| {
        let settings = Settings::load(&sources).unwrap();
        (settings.data_dir_is_set, settings.monitor_paths_are_set)
    };
    assert_eq!(is_set(SettingSources::default()), (false, false));
    let flags = vec![("data", "vigie-data".to_owned())];
    assert_eq!(is_set(SettingSources { flags, ..SettingSources::default() }), (true, false));
    let environment = vec![("VIGIE_MONITORS".to_owned(), "vigie-monitors".to_owned())];
    assert_eq!(is_set(SettingSources { environment, ..SettingSources::default() }), (false, true));
    // The shipped file sets every default.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.yaml");
    std::fs::write(&file, "data: vigie-data\nmonitors: [vigie-monitors]\n").unwrap();
    assert_eq!(is_set(SettingSources { file: Some(file), ..SettingSources::default() }), (false, false));
}

#[test]
fn a_missing_or_invalid_file_is_reported_with_its_name() {
    let sources =
        SettingSources { file: Some("/nonexistent/vigie.yaml".into()), ..SettingSources::default() };
    let errors = Settings::load(&sources).unwrap_err();
    assert!(errors[0].to_string().starts_with("/nonexistent/vigie.yaml: cannot be read: No such file"));
    let yaml_errors = load("listen: [1\n").unwrap_err();
    assert!(yaml_errors[0].starts_with("F:"), "{yaml_errors:?}");
    assert!(load("").is_ok());
}

#[test]
fn changed_settings_say_whether_they_are_reloadable() {
    let (old, new) = (load("").unwrap(), load("listen: 127.0.0.1:1\ndns: {default_name: x.test}\n").unwrap());
    let found: Vec<_> = old.changed_settings(&new).iter().map(|s| (s.path, s.reloadable)).collect();
    assert_eq!(found, [("listen", false), ("dns.default_name", true)]);
}

#[test]
fn files_of_certificates_are_checked_with_the_settings() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let generated = rcgen::generate_simple_self_signed(["a.test".to_owned()]).unwrap();
    let (valid, key) =
        (write("good.pem", &generated.cert.pem()), write("good.key", &generated.signing_key.serialize_pem()));
    let junk = write("junk.pem", "junk");
    let other = rcgen::generate_simple_self_signed(["b.test".to_owned()]).unwrap();
    let other = write("other.key", &other.signing_key.serialize_pem());
    let entry = |files: &str| format!("certificates:\n  - {{id: 1, name: a, {files}}}\n");
    for files in [format!("ca_file: {valid}"), format!("cert_file: {valid}, key_file: {key}")] {
        load(&entry(&files)).unwrap_or_else(|errors| panic!("{files}: {errors:?}"));
    }
    for (text, error) in [
        (entry(&format!("ca_file: {junk}")), "F:2:31: `certificates[0].ca_file`: "),
        (entry(&format!("cert_file: {junk}, key_file: {key}")), "F:2:33: `certificates[0].cert_file`: "),
        (entry(&format!("cert_file: {valid}, key_file: {junk}")), "F:2:5: `certificates[0]`: "),
        (entry(&format!("cert_file: {valid}, key_file: {other}")), "F:2:5: `certificates[0]`: "),
        (entry(&format!("pkcs12_file: {junk}")), "F:2:35: `certificates[0].pkcs12_file`: "),
        (entry("pkcs12_file: /nonexistent.p12"), "F:2:35: `certificates[0].pkcs12_file`: "),
        (
            entry(&format!("pkcs12_file: {junk}, password_file: /nonexistent")),
            "F:2:LATER: `certificates[0].password_file`: ",
        ),
        (
            entry(&format!("ca_file: {valid}, password_file: {junk}")),
            "F:2:5: `certificates[0]` needs either ",
        ),
        (format!("tls: {{ca_files: ['{junk}']}}\n"), "F:1:18: `tls.ca_files[0]`: "),
    ] {
        let errors = load(&text).unwrap_err();
        // The column of the second file depends on the length of the first path.
        let (position, text_part) = error.split_once("LATER").unwrap_or((error, ""));
        let is_expected = errors[0].starts_with(position) && errors[0].contains(text_part);
        assert!(errors.len() == 1 && is_expected, "{text}{errors:?}");
    }
}

#[test]
fn errors_do_not_hide_each_other_and_are_in_file_order() {
    let errors = load(
        "plans: [{code: a, types: [webste], least_interval: 0}, {code: a}]\ncertificates: [{id: 1}]\nlisen: x\n",
    )
    .unwrap_err();
    let positions: Vec<&str> = errors.iter().map(|error| error.split(' ').next().unwrap()).collect();
    assert_eq!(positions, ["F:1:27:", "F:1:52:", "F:1:63:", "F:2:16:", "F:2:16:", "F:3:1:"], "{errors:?}");
}

#[test]
fn several_addresses_are_a_list_or_comma_separated() {
    let expected = ["127.0.0.1:1".parse().unwrap(), "[::1]:2".parse().unwrap()];
    for text in ["listen: '127.0.0.1:1, [::1]:2'\n", "listen: ['127.0.0.1:1', '[::1]:2']\n"] {
        assert_eq!(load(text).unwrap().listen_addresses, expected, "{text}");
    }
    let flag = SettingSources {
        flags: vec![("listen", "127.0.0.1:1,[::1]:2".to_owned())],
        ..SettingSources::default()
    };
    assert_eq!(Settings::load(&flag).unwrap().listen_addresses, expected);
    let errors = load("listen: ['127.0.0.1:1', here]\n").unwrap_err();
    assert!(errors[0].starts_with("F:1:25: `listen[1]` must be an address"), "{errors:?}");
    assert_eq!(load("listen: []\n").unwrap_err().len(), 1);
}

#[test]
fn the_certificate_of_the_server_is_checked_with_the_settings() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let generated = rcgen::generate_simple_self_signed(["a.test".to_owned()]).unwrap();
    let other = rcgen::generate_simple_self_signed(["b.test".to_owned()]).unwrap();
    let certificate = write("a.pem", &generated.cert.pem());
    let key = write("a.key", &generated.signing_key.serialize_pem());
    let other_key = write("b.key", &other.signing_key.serialize_pem());
    let pair = |certificate: &str, key: &str| {
        load(&format!("server: {{tls_cert_file: '{certificate}', tls_key_file: '{key}'}}\n"))
    };
    assert!(pair(&certificate, &key).unwrap().server.tls_files.is_some());
    assert!(pair(&certificate, &other_key).unwrap_err()[0].contains("`server.tls_key_file`: "));
    assert!(pair(&key, &key).unwrap_err()[0].contains("`server.tls_cert_file`: "));
    let half = load(&format!("server: {{tls_cert_file: '{certificate}'}}\n")).unwrap_err();
    assert!(half[0].contains("`server.tls_cert_file` needs `server.tls_key_file` as well"), "{half:?}");
}

#[test]
fn every_location_has_its_own_network_and_limits() {
    let settings = load(
        "engine: {total: 50, heavy: 3}\nlocation: {id: 4, name: here, source_ipv4: 127.0.0.4, connectivity_targets: ['[::1]:53']}\n\
         egress: {accounts: [{account: 2, allow: [127.0.0.0/8]}]}\ntls: {system_roots: false}\nlocations:\n  - {id: 9, name: far, region: 2, source_ipv4: 127.0.0.9, name_servers: [192.0.2.9],\n\
         \x20    egress_deny: [10.0.0.0/8], verifies: true, connectivity_targets: ['a.test:443'], total: 7, proxy: 'proxy.test:3128'}\n  - {id: 5, name: plain}\n",
    )
    .unwrap();
    let hosted = settings.hosted_locations();
    let locations: Vec<_> =
        hosted.iter().map(|at| (at.location.id.0, at.location.region_code, at.can_verify)).collect();
    assert_eq!(locations, [(4, 0, false), (9, 2, true), (5, 0, false)]);
    assert_eq!(settings.location_ids(), [4, 9, 5]);
    let sources: Vec<_> =
        hosted.iter().map(|at| at.net.source_binding.ipv4.map(|v4| v4.octets()[3])).collect();
    assert_eq!(sources, [Some(4), Some(9), None], "a source address is not inherited");
    let denied = |at: usize| {
        hosted[at].net.egress_policy.check(EgressPrincipal::Operator, "10.1.1.1".parse().unwrap()).is_err()
    };
    assert_eq!([denied(0), denied(1), denied(2)], [false, true, false]);
    let loopback = |at: usize, account| {
        let scope = EgressPrincipal::Account(CustomerId(account));
        hosted[at].net.egress_policy.check(scope, "127.0.0.1".parse().unwrap()).is_ok()
    };
    assert!((0..3).all(|at| loopback(at, 2) && !loopback(at, 3)), "the accounts apply at every location");
    let server = "192.0.2.9:53".parse().unwrap();
    assert_eq!(hosted[1].net.name_servers, NameServers::Explicit(vec![server]));
    assert_eq!((&hosted[2].net.name_servers, &*hosted[2].net.control_name), (&NameServers::System, "."));
    let limits: Vec<_> = hosted.iter().map(|at| (at.concurrency.total, at.concurrency.heavy)).collect();
    assert_eq!(limits, [(50, 3), (7, 3), (50, 3)]);
    let targets: Vec<_> =
        hosted.iter().map(|at| at.connectivity_targets.first().map(ToString::to_string)).collect();
    assert_eq!(targets, [Some("[::1]:53".to_owned()), Some("a.test:443".to_owned()), None]);
    let proxies: Vec<_> = hosted.iter().map(|at| at.proxy.as_ref().map(ToString::to_string)).collect();
    assert_eq!(proxies, [None, Some("proxy.test:3128".to_owned()), None]);
    assert!(
        hosted.iter().all(|at| at.net.trust_config.public_roots == vigie::net::PublicRoots::None),
        "all trust the same"
    );
}

#[test]
fn the_password_of_a_proxy_is_read_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("password");
    std::fs::write(&file, "s3cret\n").unwrap();
    let file = file.display();
    let login = format!("proxy: 'p.test:1', proxy_username: watch, proxy_password_file: {file}");
    let settings =
        load(&format!("location: {{{login}}}\nlocations: [{{id: 2, name: b, {login}}}]\n")).unwrap();
    let expected = vigie::net::UpstreamProxy::from(vigie::net::Endpoint::new("p.test", 1))
        .with_credentials("watch", "s3cret");
    assert!(settings.hosted_locations().iter().all(|at| at.proxy.as_ref() == Some(&expected)));
    let text = format!("{settings:?}");
    assert!(!text.contains("s3cret"), "{text}");
    let errors = load(
        "location: {proxy_username: a}\nlocations: [{id: 2, name: b, proxy: 'p.test:1', proxy_username: 'a:b', proxy_password_file: /nonexistent}, {id: 3, name: c, proxy: 'p.test:1', proxy_password_file: x}]\n",
    )
    .unwrap_err();
    for part in [
        "`location.proxy_username` needs `location.proxy` as well",
        "`locations[0].proxy_username` must be a text without a colon",
        "`locations[0].proxy_password_file`: the file `/nonexistent` cannot be read",
        "`locations[1].proxy_password_file` needs `locations[1].proxy_username` as well",
    ] {
        assert!(errors.iter().any(|error| error.contains(part)), "{part}: {errors:?}");
    }
}

#[test]
fn proxies_of_monitors_are_the_same_at_every_location() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let (password, empty) = (file("password", "s3cret\n"), file("empty", "\n"));
    let settings = load(&format!(
        "locations: [{{id: 2, name: b}}]\nproxies:\n  - {{id: 3, kind: http, server: 'p.test:3128'}}\n  - {{id: 9, kind: socks5, server: '[::1]:1080', username: 'a:b', password_file: {password}}}\n",
    ))
    .unwrap();
    let socks = vigie::net::UpstreamProxy::new(
        vigie::net::ProxyProtocol::Socks5,
        vigie::net::Endpoint::new("::1", 1080),
    );
    let plain = vigie::net::UpstreamProxy::new(
        vigie::net::ProxyProtocol::Http,
        vigie::net::Endpoint::new("p.test", 3128),
    );
    let expected = [(3, plain), (9, socks.with_credentials("a:b", "s3cret"))].into();
    for hosted in settings.hosted_locations() {
        assert_eq!(hosted.proxies, expected);
    }
    assert!(!format!("{settings:?}").contains("s3cret"));
    let errors = load(&format!(
        "proxies: [{{id: 1, kind: socks4, server: 'p.test:1'}}, {{id: 1, kind: http, server: p.test}}, {{kind: http}},\n\
         {{id: 4, kind: http, server: 'p.test:1', username: 'a:b'}}, {{id: 5, kind: http, server: 'p.test:1', password_file: {password}}},\n\
         {{id: 6, kind: socks5, server: 'p.test:1', username: a}}, {{id: 7, kind: socks5, server: 'p.test:1', username: a, password_file: {empty}}},\n\
         {{id: 8, kind: socks5, server: 'p.test:1', username: a, password_file: /nonexistent}}, {{id: 9, knid: http}}]\n",
    ))
    .unwrap_err();
    for expected in [
        "`proxies[0].kind` must be one of `http`, `socks5`, not `socks4`",
        "`proxies[1].server` must be a host and a port",
        "`proxies[1].id` is set twice",
        "`proxies[2].id` is missing",
        "`proxies[2].server` is missing",
        "`proxies[3].username` must be a text without a colon",
        "`proxies[4].password_file` needs `proxies[4].username` as well",
        "`proxies[5].username` needs `password_file` as well",
        "`proxies[7].password_file`: the file `/nonexistent` cannot be read",
        "`proxies[8].knid` is not a setting",
    ] {
        assert!(errors.iter().any(|error| error.contains(expected)), "{expected}: {errors:?}");
    }
}

#[test]
fn every_error_of_a_location_is_reported_at_once() {
    let errors = load(
        "location: {connectivity_targets: [nowhere]}\nlocations:\n  - {id: 1, name: a}\n  - {id: 2, name: b, source_ipv4: x, heavy: 0, verifies: maybe}\n  - {id: 2, control: .}\n",
    )
    .unwrap_err();
    let expected = [
        "F:1:35: `location.connectivity_targets[0]` must be a host and a port, such as `www.example.com:443` or `[::1]:53`, not `nowhere`",
        "F:3:10: `locations[0].id` is already the id of the location in `location`",
        "F:4:35: `locations[1].source_ipv4` must be an IPv4 address, not `x`",
        "F:4:45: `locations[1].heavy` must be a whole number from 1 to 1000, not `0`",
        "F:4:58: `locations[1].verifies` must be `true` or `false`, not `maybe`",
        "F:5:5: `locations[2].name` is missing",
        "F:5:10: `locations[2].id` is set twice",
        "F:5:13: `locations[2].control` is not a setting\n  hint: did you mean `control_name`?",
    ];
    assert_eq!(errors, expected);
}

#[test]
fn proxies_are_reloadable() {
    let with = |port: u16| {
        load(&format!("proxies: [{{id: 1, kind: socks5, server: '127.0.0.1:{port}'}}]\n")).unwrap()
    };
    let (old, mut new) = (with(1080), with(1081));
    let found: Vec<_> = old.changed_settings(&new).iter().map(|s| (s.path, s.reloadable)).collect();
    assert_eq!(found, [("proxies", true)]);
    let proxies = new.proxies.clone();
    new.keep_restart_only_settings(&old);
    assert_eq!(new.proxies, proxies);
    assert_eq!(new.hosted_locations()[0].proxies, proxies);
}

/// Returns a valid value of `setting` other than its default.
fn other_value(setting: &Setting) -> Option<String> {
    let default = Node::from_yaml(setting.default).unwrap().to_json();
    Some(match (setting.path, setting.setting_type) {
        ("dns.names", _) => "[{id: 4, name: other.test}]".to_owned(),
        ("proxies", _) => "[{id: 4, kind: http, server: '192.0.2.1:3128'}]".to_owned(),
        ("plans", _) => "[{code: other}]".to_owned(),
        ("locations", _) => "[{id: 4, name: other}]".to_owned(),
        ("alerts.trap_enterprise", _) => "1.3.6.1.4.1.4".to_owned(),
        ("mobile.profiles", _) => "[{subtype: 1, name: other}]".to_owned(),
        ("otlp.headers" | "otlp.resource", _) => "[{name: other, value: other}]".to_owned(),
        ("otlp.accounts", _) => "4".to_owned(),
        ("otlp.signals", _) => "logs".to_owned(),
        // These need files or other settings.
        (
            "certificates"
            | "browser.remote"
            | "mail.server"
            | "sms.url"
            | "tls.ca_files"
            | "server.tls_cert_file"
            | "server.tls_key_file"
            | "location.proxy_username"
            | "location.proxy_password_file"
            | "mail.username"
            | "mail.password_file"
            | "sms.username"
            | "sms.password_file"
            | "store.password_file",
            _,
        ) => return None,
        ("store.url", _) => "sqlite:other.db".to_owned(),
        (_, SettingType::Bool) => (default != json!(true)).to_string(),
        (_, SettingType::Int { min, max }) => (if default == json!(min) { max } else { min }).to_string(),
        (_, SettingType::Text | SettingType::List(SettingType::Text)) => "other".to_owned(),
        (_, SettingType::Choice(names)) => names.iter().find(|name| default != json!(name))?.to_string(),
        (_, SettingType::TimeOfDay) => "04:44".to_owned(),
        _ => return None,
    })
}

/// Returns the effective values of `settings`, without the raw ones.
fn effective_values(settings: &Settings) -> String {
    let text = format!("{settings:?}");
    text.split(" raw_values: ").next().unwrap().to_owned()
}

/// Returns settings with `setting` at `value`, of a process that sends mail and text messages, and results to a collector.
fn load_with(setting: Option<(&Setting, &str)>) -> Settings {
    let mut text =
        "mail: {server: 'mail.test:25', from: a@b.test}\nsms: {url: 'https://sms.test/'}\n".to_owned();
    let collector = "http://collector.test:4318".to_owned();
    let mut sources = SettingSources::default();
    match setting {
        Some((setting, value)) if matches!(setting.setting_type, SettingType::MapList(_)) => {
            let line = match setting.path.split_once('.') {
                Some((section, name)) => format!("{section}: {{{name}: {value}}}\n"),
                None => format!("{}: {value}\n", setting.path),
            };
            text.push_str(&line);
        }
        Some((setting, value)) => sources.flags = vec![(setting.path, value.to_owned())],
        None => {}
    }
    sources.flags.push(("otlp.endpoint", collector));
    let folder = tempfile::tempdir().unwrap();
    sources.file = Some(folder.path().join("vigie.yaml"));
    std::fs::write(sources.file.as_ref().unwrap(), text).unwrap();
    Settings::load(&sources).unwrap_or_else(|errors| panic!("{setting:?}: {errors:?}"))
}

#[test]
fn a_reload_applies_only_reloadable_settings() {
    let old = load_with(None);
    assert!(effective_values(&old) == effective_values(&load_with(None)), "the same settings differ");
    let (mut applied, mut unchanged_count) = (Vec::new(), 0);
    for setting in SETTINGS {
        let Some(value) = other_value(setting) else { continue };
        let mut new = load_with(Some((setting, &value)));
        assert!(
            effective_values(&new) != effective_values(&old),
            "`{}: {value}` has no effect",
            setting.path
        );
        new.keep_restart_only_settings(&old);
        assert_eq!(effective_values(&new) != effective_values(&old), setting.reloadable, "{}", setting.path);
        if setting.reloadable { applied.push(setting.path) } else { unchanged_count += 1 }
    }
    let with_value = SETTINGS.iter().filter(|setting| setting.reloadable && other_value(setting).is_some());
    assert_eq!(applied, with_value.map(|setting| setting.path).collect::<Vec<_>>());
    for section in ["alerts.", "mail.", "sms.", "heartbeat.", "locations"] {
        let of_section = SETTINGS.iter().filter(|setting| setting.path.starts_with(section));
        assert!(
            of_section.clone().count() > 0 && of_section.clone().all(|setting| setting.reloadable),
            "{section}"
        );
    }
    assert!(unchanged_count > 20, "only {unchanged_count} others");
}

#[test]
fn targets_of_scans_are_networks_and_names() {
    let bare = Settings::load(&SettingSources::default()).unwrap().probe.security_scan;
    let refused = bare.allowed_targets.unwrap().check_host("127.0.0.1").unwrap_err();
    assert_eq!(refused, "`security.allowed_targets` is empty, so nothing is scanned");
    assert_eq!(bare.connections_per_second.get(), 5);
    let text = "security: {allowed_targets: [10.0.0.0/8, '*.shop.test'], connections_per_second: 50}\n";
    let scans = load(text).unwrap().probe.security_scan;
    assert_eq!(scans.connections_per_second.get(), 50);
    let targets = scans.allowed_targets.unwrap();
    assert!(targets.check_host("10.1.2.3").is_ok() && targets.check_host("www.shop.test").is_ok());
    assert!(targets.check_host("192.0.2.1").is_err());
    let errors = load("security: {allowed_targets: ['10.0.0.0/33']}\n").unwrap_err();
    assert!(errors[0].contains("`security.allowed_targets[0]` must be a network"), "{errors:?}");
}
