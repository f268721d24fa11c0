//! Files of the package: all exist, man pages have no errors, completions complete, settings are those of the service.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{assets, files, stage};
use crate::support::binary::{err, out, vigie};
use crate::support::lacking::lacks;

#[test]
fn every_file_of_the_manifest_exists_and_has_a_place_of_its_own() {
    let stage = stage();
    let mut places = BTreeSet::new();
    for asset in assets() {
        let is_program = asset.source == "target/release/vigie";
        assert_eq!(asset.mode, if is_program { "755" } else { "644" }, "{}", asset.source);
        if is_program {
            places.insert("usr/bin/vigie".to_owned());
            continue;
        }
        let sources = files(&asset, stage.path());
        assert!(!sources.is_empty(), "{} is empty", asset.source);
        for source in sources {
            assert!(source.is_file(), "{}", source.display());
            let name = source.file_name().unwrap().to_str().unwrap();
            let place =
                if asset.target.ends_with('/') { asset.target.clone() + name } else { asset.target.clone() };
            assert!(places.insert(place.clone()), "`{place}` is there twice");
        }
    }
    for place in [
        "etc/vigie/vigie.yaml",
        "usr/lib/systemd/system/vigie.service",
        "usr/lib/systemd/system/vigie-webdriver.socket",
        "usr/lib/sysusers.d/vigie.conf",
        "usr/lib/tmpfiles.d/vigie.conf",
        "usr/share/man/man1/vigie-check.1",
        "usr/share/bash-completion/completions/vigie",
        "usr/share/doc/vigie/copyright",
        "usr/share/doc/vigie/examples/monitors/website.yaml",
        "usr/share/doc/vigie/examples/ecosystem/prometheus-alerts.yml",
    ] {
        assert!(places.contains(place), "`{place}` is missing: {places:#?}");
    }
    // Everything that is staged is installed, the changelog by a field of its own.
    let staged =
        fs::read_dir(stage.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    for name in staged.filter(|name| name != "changelog") {
        assert!(assets().iter().any(|asset| asset.source.contains(&format!("/stage/{name}"))), "{name}");
    }
    let unit = fs::read_to_string(stage.path().join("units/vigie.service")).unwrap();
    assert!(
        unit.contains("ExecStart=/usr/bin/vigie serve ") && unit.contains("User=%N"),
        "see unit.sed: {unit}"
    );
    the_licences_are_those_of_what_the_binary_contains(stage.path());
    every_man_page_is_free_of_errors(&stage.path().join("man"));
    completions_complete(&stage.path().join("completions"));
    the_settings_name_the_folders_of_the_service(&stage.path().join("vigie.yaml"));
}

fn the_licences_are_those_of_what_the_binary_contains(stage: &Path) {
    let unpacked =
        Command::new("gzip").arg("-dc").arg(stage.join("third-party-licences.gz")).output().unwrap();
    let text = out(&unpacked);
    for library in ["\ntokio 1.", "\nrustls 0.", "\nlibsqlite3-sys 0.", "\nopenssl-src 300."] {
        assert!(text.contains(library), "{library}");
    }
    for library in ["\nproptest 1.", "\nring 0.", "\nvigie 0.", "\nserde_derive 1."] {
        assert!(!text.contains(library), "{library}");
    }
    assert!(text.contains("Permission is hereby granted, free of charge"));
}

fn every_man_page_is_free_of_errors(folder: &Path) {
    if Command::new("groff").arg("--version").output().is_err() {
        return lacks("packages::contents", "groff", "`apt-get install groff`");
    }
    let pages: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(pages.len() > 50, "{}", pages.len());
    for pages in pages.chunks(16) {
        // -ww: all warnings; -z: no output.
        let mut groff = Command::new("groff");
        let output =
            groff.args(["-K", "utf8", "-T", "utf8", "-man", "-ww", "-z"]).args(pages).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{}", err(&output));
    }
}

fn completions_complete(folder: &Path) {
    // What readline does for `vigie se<TAB>` and `vigie self c<TAB>`.
    let script = "source \"$0\"; complete -p vigie
        complete_words() { COMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1)) COMPREPLY=(); _vigie vigie \"${!#}\" vigie; \
        echo \"${COMPREPLY[@]}\"; }
        complete_words vigie se; complete_words vigie self c";
    let mut bash = Command::new("bash");
    bash.args(["--norc", "--noprofile", "-c", script]).arg(folder.join("vigie.bash")).stdin(Stdio::null());
    let output = bash.output().unwrap();
    let lines: Vec<String> = out(&output).lines().map(str::to_owned).collect();
    assert!(lines[0].ends_with(" -F _vigie vigie"), "{lines:?}{}", err(&output));
    assert_eq!(lines[1..], ["serve self", "check completions"], "{}", err(&output));
    for shell in ["zsh", "fish"] {
        let file = folder.join(format!("vigie.{shell}"));
        assert!(fs::metadata(&file).unwrap().len() > 10_000, "{shell}");
        if let Ok(output) = Command::new(shell).arg("-n").arg(&file).output() {
            assert!(output.status.success(), "{}", err(&output));
        }
    }
}

fn the_settings_name_the_folders_of_the_service(settings: &Path) {
    let text = fs::read_to_string(settings).unwrap();
    assert!(text.contains("\ndata: /var/lib/vigie\n"), "see config/packages/settings.sed");
    assert!(text.contains("\nmonitors: [/etc/vigie/monitors]\n"), "see config/packages/settings.sed");
    // The other settings are the defaults, so that an upgrade may change these.
    let shipped = fs::read_to_string(super::root().join("config/vigie.yaml")).unwrap();
    let differing = text.lines().zip(shipped.lines()).filter(|(one, other)| one != other).count();
    assert_eq!((differing, text.lines().count()), (2, shipped.lines().count()));
    let output = vigie(&["self", "check", "--json", "--config", settings.to_str().unwrap()]);
    assert!(out(&output).contains("/var/lib/vigie"), "{}{}", out(&output), err(&output));
}
