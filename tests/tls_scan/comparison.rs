//! Compares our scan of each set-up with the recorded answer of testssl.sh about the same set-up.
//!
//! `VIGIE_FULL=1` also runs testssl.sh and compares its answer with the recorded one; `VIGIE_RECORD_TESTSSL=1` records
//! anew.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use futures::future::join_all;
use futures::stream::{self, StreamExt};

use super::differences::{DIFFERENCES, NOT_ASKED};
use super::record::Record;
use super::servers::Servers;
use super::setups::{SETUPS, Setup};
use super::testssl;
use super::{our_headers, our_scan};
use crate::support::daemon::has;
use crate::support::lacking::lacks;
use crate::support::long_tests;

/// How many of testssl.sh run at once; each keeps a processor busy.
const TESTSSL_AT_ONCE: usize = 3;

fn is_set(variable: &str) -> bool {
    std::env::var(variable).is_ok_and(|value| value == "1")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn our_scan_agrees_with_testssl_or_differs_for_a_reason() {
    let test = "tls_scan::comparison::our_scan_agrees_with_testssl_or_differs_for_a_reason";
    let Some(servers) = Servers::start(test).await else { return };
    let scans = join_all(servers.ports.iter().map(|(_, port)| our_scan::scan(*port))).await;
    let mut wrong = String::new();
    if is_set("VIGIE_RECORD_TESTSSL") || long_tests::full() {
        if !has("testssl") {
            lacks(test, "testssl.sh", "`apt-get install testssl.sh`");
            return;
        }
        compare_with_live_testssl(&servers, &mut wrong).await;
    }
    let sites = join_all(servers.ports.iter().map(|(_, port)| our_headers::scan_site(*port))).await;
    let setups = servers.ports.iter().map(|(setup, _)| *setup);
    let records = setups.zip(scans.iter().zip(sites));
    let records: Vec<(&Setup, Record)> =
        records.map(|(setup, (scan, site))| (setup, Record { site, ..our_scan::reduce(scan) })).collect();
    compare(&records, &mut wrong);
    assert!(wrong.is_empty(), "{wrong}");
}

async fn compare_with_live_testssl(servers: &Servers, wrong: &mut String) {
    let only = std::env::var("VIGIE_TESTSSL_SETUP").ok();
    let wanted =
        servers.ports.iter().filter(|(setup, _)| only.as_deref().is_none_or(|name| name == setup.name));
    let runs = stream::iter(wanted).map(async |(setup, port)| (setup.name, testssl::run(*port).await));
    let mut runs = std::pin::pin!(runs.buffer_unordered(TESTSSL_AT_ONCE));
    while let Some((name, live)) = runs.next().await {
        if is_set("VIGIE_RECORD_TESTSSL") {
            testssl::store(name, &live);
        } else if testssl::reduce(&live) != testssl::reduce(&testssl::load(name)) {
            writeln!(wrong, "{name}: testssl.sh says now {live:#?}").unwrap();
        }
    }
}

/// Adds to `wrong` each difference without a reason, and each reason without a difference.
fn compare(records: &[(&Setup, Record)], wrong: &mut String) {
    let mut needed = BTreeSet::new();
    for (setup, ours) in records {
        let theirs = testssl::reduce(&testssl::load(setup.name));
        for (field, our_value) in ours.fields() {
            let their_value = &theirs.fields()[field];
            if our_value == *their_value {
                continue;
            }
            let row = DIFFERENCES.iter().position(|(name, other, _)| {
                *other == field && (*name == setup.name || *name == NOT_ASKED && their_value == "None")
            });
            match row {
                Some(row) => _ = needed.insert(row),
                None => writeln!(
                    wrong,
                    "{} {field}:\n  ours:    {our_value}\n  testssl: {their_value}",
                    setup.name
                )
                .unwrap(),
            }
        }
    }
    for (index, (name, field, reason)) in DIFFERENCES.iter().enumerate() {
        if !needed.contains(&index) {
            writeln!(wrong, "{name} {field}: no difference, but a reason: {reason}").unwrap();
        }
    }
}

#[test]
fn set_ups_have_names_of_their_own() {
    let names: BTreeSet<_> = SETUPS.iter().map(|setup| setup.name).collect();
    assert!(names.len() == SETUPS.len() && names.len() >= 25, "{}", names.len());
}
