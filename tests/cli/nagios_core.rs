//! Nagios itself runs `vigie` as a plugin, beside the plugins of Debian. Runs with `VIGIE_FULL=1` only.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::cli::support::Targets;
use crate::support::binary::{out, program};
use crate::support::daemon::{Daemon, has, open_folder};
use crate::support::lacking::lacks;
use crate::support::long_tests::full;

/// A service that Nagios checks, and the state that it must get.
struct Service {
    name: &'static str,
    command: String,
    state: u8,
}

const TEST: &str = "cli::nagios_core::nagios_reads_state_and_performance_data";

#[test]
fn nagios_reads_state_and_performance_data() {
    if !full() {
        return;
    }
    if !has("nagios4") || !Path::new("/usr/lib/nagios/plugins/check_tcp").exists() {
        lacks(TEST, "Nagios", "install nagios4-core and monitoring-plugins-basic");
        return;
    }
    let targets = Targets::start();
    let closed_port = crate::support::closed::ClosedPort::new();
    let (http, tcp, closed) = (targets.at().http, targets.at().tcp, closed_port.at);
    let folder = open_folder();
    for link in ["check_vigie", "check_vigie_website", "check_vigie_tcp"] {
        symlink(fs::canonicalize(program()).unwrap(), folder.path().join(link)).unwrap();
    }
    let vigie = |line: String| format!("{}/{line}", folder.path().display());
    let debian = |line: String| format!("/usr/lib/nagios/plugins/{line}");
    let services = [
        service("website", vigie(format!("check_vigie_website http://{http}/ -w 20 -c 30")), 0),
        service("slow", vigie(format!("check_vigie_website http://{http}/ -w @0:60 -vv")), 1),
        service("tcp", vigie(format!("check_vigie_tcp {tcp}")), 0),
        service("tcp-of-debian", debian(format!("check_tcp -H {} -p {}", tcp.ip(), tcp.port())), 0),
        service("closed", vigie(format!("check_vigie_tcp {closed}")), 2),
        service("closed-of-debian", debian(format!("check_tcp -H {} -p {}", closed.ip(), closed.port())), 2),
        service("wrong", vigie("check_vigie_tcp 127.0.0.1:1 -w x".to_owned()), 3),
        service("mixed", vigie(format!("check_vigie --file {}/mixed.yaml", folder.path().display())), 2),
    ];
    let monitor = |key: &str, port: u16| {
        format!(
            "- {{key: {key}, type: tcp, name: {key}, billing_plancode: p, hostname: 127.0.0.1, port: {port}}}\n"
        )
    };
    fs::write(folder.path().join("mixed.yaml"), monitor("up", tcp.port()) + &monitor("down", closed.port()))
        .unwrap();
    let statuses = run_nagios(folder.path(), &services);
    for service in &services {
        let status = &statuses[service.name];
        assert_eq!(status["current_state"], service.state.to_string(), "{}: {status:#?}", service.name);
    }
    let website = &statuses["website"];
    assert!(website["plugin_output"].starts_with("OK: http"), "{website:#?}");
    let data = &website["performance_data"];
    assert!(data.starts_with("time=") && data.contains(";20;30;0 ") && data.contains(" size="), "{data}");
    assert!(statuses["slow"]["long_plugin_output"].contains("WARNING"), "{:#?}", statuses["slow"]);
    let mixed = &statuses["mixed"]["performance_data"];
    assert!(mixed.contains("'up time'=") && mixed.contains("'down time'="), "{mixed}");
    assert_eq!(statuses["wrong"]["performance_data"], "");
    assert!(statuses["wrong"]["plugin_output"].contains("is not a range"), "{:#?}", statuses["wrong"]);
}

fn service(name: &'static str, command: String, state: u8) -> Service {
    Service { name, command, state }
}

/// Runs Nagios in `folder` until it has checked each of `services`; returns what it knows of each.
fn run_nagios(folder: &Path, services: &[Service]) -> BTreeMap<String, BTreeMap<String, String>> {
    let at = folder.display();
    fs::create_dir(folder.join("results")).unwrap();
    let own = |flag: &str| {
        out(&Command::new("id").args([flag, "-n"]).stderr(Stdio::null()).output().unwrap()).trim().to_owned()
    };
    let main = format!(
        "log_file={at}/log\ncfg_file={at}/objects.cfg\nobject_cache_file={at}/objects.cache\n\
         precached_object_file={at}/objects.precache\nstatus_file={at}/status.dat\nstatus_update_interval=1\n\
         nagios_user={}\nnagios_group={}\ncheck_external_commands=0\ncommand_file={at}/commands\n\
         lock_file={at}/lock\ntemp_file={at}/temporary\ntemp_path={at}\nlog_archive_path={at}\n\
         check_result_path={at}/results\nquery_socket={at}/query\nretain_state_information=0\nuse_syslog=0\n\
         enable_notifications=0\ninterval_length=1\nservice_inter_check_delay_method=n\ncheck_for_updates=0\n\
         bare_update_check=0\nillegal_macro_output_chars=`~$&|'\"<>\n",
        own("-u"),
        own("-g")
    );
    let mut objects = "define timeperiod {\n timeperiod_name always\n alias always\n sunday 00:00-24:00\n monday 00:00-24:00\n \
         tuesday 00:00-24:00\n wednesday 00:00-24:00\n thursday 00:00-24:00\n friday 00:00-24:00\n saturday 00:00-24:00\n}\n\
         define command {\n command_name nobody\n command_line /bin/true\n}\n\
         define contact {\n contact_name nobody\n host_notification_period always\n service_notification_period always\n \
         host_notification_commands nobody\n service_notification_commands nobody\n}\n\
         define host {\n host_name here\n address 127.0.0.1\n max_check_attempts 1\n check_period always\n contacts nobody\n}\n"
        .to_owned();
    for Service { name, command, .. } in services {
        write!(
            objects,
            "define command {{\n command_name {name}\n command_line {command}\n}}\ndefine service {{\n host_name here\n \
             service_description {name}\n check_command {name}\n check_period always\n max_check_attempts 1\n \
             contacts nobody\n check_interval 600\n retry_interval 600\n}}\n"
        )
        .unwrap();
    }
    fs::write(folder.join("nagios.cfg"), main).unwrap();
    fs::write(folder.join("objects.cfg"), objects).unwrap();
    let _nagios = Daemon::start(Command::new("/usr/sbin/nagios4").arg(folder.join("nagios.cfg")));
    let end = Instant::now() + Duration::from_mins(1);
    loop {
        let status = fs::read_to_string(folder.join("status.dat")).unwrap_or_default();
        let statuses = service_statuses(&status);
        if statuses.len() == services.len() && statuses.values().all(|one| one["has_been_checked"] == "1") {
            return statuses;
        }
        let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
        assert!(Instant::now() < end, "Nagios did not check everything: {status}\n{log}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Reads the blocks of services in the status file of Nagios, by their descriptions.
fn service_statuses(text: &str) -> BTreeMap<String, BTreeMap<String, String>> {
    let blocks = text.split("servicestatus {").skip(1).filter_map(|block| block.split_once("\n\t}"));
    let read = |block: &str| {
        let lines = block.lines().filter_map(|line| line.trim().split_once('='));
        lines.map(|(name, value)| (name.to_owned(), value.to_owned())).collect::<BTreeMap<_, _>>()
    };
    let services = blocks.map(|(block, _)| read(block));
    services.filter_map(|values| Some((values.get("service_description")?.clone(), values))).collect()
}
