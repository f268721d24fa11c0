//! SNMP traps, received by Debian's snmptrapd.

use std::fs;
use std::process::Command;

use vigie::domain::{NotificationKind, NotificationMethod};

use super::samples::{channels, message, send};
use crate::support::daemon::{Daemon, free_port, has, open_folder};
use crate::support::lacking;
use vigie::notify::MessageSender;

const ENTERPRISE: &str = ".1.3.6.1.4.1.8072.9999.9999";

#[tokio::test(flavor = "multi_thread")]
async fn traps_of_both_versions_arrive_with_all_their_objects() {
    if !has("snmptrapd") {
        lacking::lacks("traps to snmptrapd", "snmptrapd", "apt-get install snmptrapd");
        return;
    }
    let folder = open_folder();
    let (configuration, port) = (folder.path().join("snmptrapd.conf"), free_port());
    fs::write(&configuration, "authCommunity log s3cret\n").unwrap();
    let mut command = Command::new("/usr/sbin/snmptrapd");
    command.args(["-f", "-Lo", "-On", "-C", "-c"]).arg(&configuration);
    command.args(["-F", "TRAP %w|%q|%N|%v\\n"]).arg(format!("udp:127.0.0.1:{port}"));
    command.env("SNMP_PERSISTENT_DIR", folder.path()).env("MIBS", "");
    let daemon = Daemon::start(&mut command);
    daemon.line(|line| line.contains("NET-SNMP version"));
    let address = format!("127.0.0.1:{port}");
    // A trap with another community is not accepted, so the next line read belongs to the second one.
    send(&message(NotificationKind::Test, NotificationMethod::SnmpV2c, &address, "other")).await.unwrap();
    send(&message(NotificationKind::SiteClear, NotificationMethod::SnmpV2c, &address, "s3cret"))
        .await
        .unwrap();
    let second = daemon.line(|line| line.contains(ENTERPRISE));
    let named = format!(".1.3.6.1.6.3.1.1.4.1.0 = OID: {ENTERPRISE}.0.2");
    assert!(second.contains(&named), "{second}");
    for (object, value) in [
        ("1", "[Vigie] Site/Device Clear (ST=0) - Shop"),
        ("2", "\"site_clear\""),
        ("3", "INTEGER: 7"),
        ("5", "INTEGER: 0"),
        ("7", "\"local\""),
        ("8", "\"2026-11-21T12:00:00Z\""),
        ("9", "INTEGER: 0"),
        ("10", "\"http://shop.test/\""),
        ("11", "\"site_error-4711-1795262400000000-1\""),
        ("12", "\"vigie-site-episode-4711\""),
    ] {
        let start = format!("{ENTERPRISE}.1.{object} = ");
        let found = second.split(&start).nth(1).unwrap_or_else(|| panic!("{object}: {second}"));
        assert!(found.split(ENTERPRISE).next().unwrap().contains(value), "{object}: {second}");
    }
    send(&message(NotificationKind::SiteError, NotificationMethod::SnmpV1, &address, "s3cret"))
        .await
        .unwrap();
    let first = daemon.line(|line| line.contains("site_error\""));
    assert!(first.starts_with("TRAP 6|.1|") && first.contains(&format!("{ENTERPRISE}|")), "{first}");
    assert!(first.contains(&format!("{ENTERPRISE}.1.5 = INTEGER: 7")), "{first}");
}

#[tokio::test]
async fn a_denied_or_invalid_address_gets_no_trap() {
    let denied = message(NotificationKind::Test, NotificationMethod::SnmpV1, "127.0.0.2:162", "");
    let error = channels(&["127.0.0.2/32"]).send(&denied).await.unwrap_err();
    assert!(!error.is_retryable && error.detail.contains("egress"), "{error}");
    for address in ["", "a b", "127.0.0.1:0", "http://127.0.0.1/"] {
        let error = send(&message(NotificationKind::Test, NotificationMethod::SnmpV2c, address, ""))
            .await
            .unwrap_err();
        assert!(!error.is_retryable, "{address}: {error}");
    }
}
