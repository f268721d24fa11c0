//! Compares config/script.xsd with the parser.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use roxmltree::{Document, Node};
use vigie::script::language::vocabulary::{ACTION_SPECS, LOCATOR_ATTRIBUTES, TargetRequirement};

use crate::script::support::script_with;
use crate::script::{errors, forms, round_trips};
use crate::support::lacking;

fn schema() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("config/script.xsd")
}

/// Validates each text against the schema; `None` without `xmllint`.
fn validate(test: &str, texts: &[String]) -> Option<Vec<bool>> {
    if Command::new("xmllint").arg("--version").output().is_err() {
        lacking::lacks(test, "xmllint", "apt-get install libxml2-utils");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<PathBuf> = (0..texts.len()).map(|at| folder.path().join(format!("{at}.xml"))).collect();
    for (file, text) in files.iter().zip(texts) {
        fs::write(file, text).unwrap();
    }
    let output = Command::new("xmllint")
        .args(["--nonet", "--noout", "--schema"])
        .arg(schema())
        .args(&files)
        .output()
        .unwrap();
    let output_text = String::from_utf8_lossy(&output.stderr).into_owned();
    let has_verdict = |file: &Path, verdict: &str| {
        output_text.lines().any(|line| line == format!("{} {verdict}", file.display()))
    };
    assert!(!output_text.contains("does not compile"), "{output_text}");
    let verdicts = files.iter().map(|file| {
        let is_valid = has_verdict(file, "validates");
        let broken = output_text.contains(&format!("{}:", file.display()));
        assert!(
            is_valid != (has_verdict(file, "fails to validate") || broken),
            "{}: {output_text}",
            file.display()
        );
        is_valid
    });
    Some(verdicts.collect())
}

#[test]
fn the_schema_accepts_what_the_parser_accepts() {
    let mut texts: Vec<String> = forms::cases().iter().map(|(act, _)| script_with(act)).collect();
    let mut runner = TestRunner::deterministic();
    let any = round_trips::script();
    texts.extend((0..150).map(|_| any.new_tree(&mut runner).unwrap().current().to_xml()));
    let Some(verdicts) = validate("script schema: good", &texts) else { return };
    for (text, is_valid) in texts.iter().zip(verdicts) {
        assert!(is_valid, "the schema refuses\n{text}");
    }
}

/// Acts that only the parser can refuse, since XML Schema cannot express the rule.
const BEYOND_SCHEMA: &[&str] = &[
    "<open url='/{{usr}}'/>",
    "<open url='/{{$now}}'/>",
    "<type text='a'/>",
    "<select css='a'/>",
    "<select css='a' value='1' label='b'/>",
    "<scroll/>",
    "<scroll css='a' y='1'/>",
    "<switch-frame/>",
    "<switch-window/>",
    "<switch-window to='main' contains='a'/>",
    "<switch-window to='title'/>",
    "<wait-for-text/>",
    "<extract into='a' from='value'/>",
    "<extract into='a' from='url' css='a'/>",
    "<extract into='a' attribute='href'/>",
    "<extract into='a' from='attribute' css='a'/>",
    "<run-js>return {{nobody}}</run-js>",
    "<assert-url matches='('/>",
    "<assert-url matches='{{user}}'/>",
    "<keyword text='(' regex='true'/>",
    "<click/>",
    "<click css='a' id='b'/>",
    "<click css='a'><by id='b'/></click>",
    "<click><by/></click>",
    "<click><by id='a' css='b'/></click>",
    "<click css='a['/>",
    "<click xpath='//a['/>",
    "<click xpath='count(//a)'/>",
    "<click xpath='//svg:path'/>",
];

#[test]
fn the_schema_refuses_what_the_parser_refuses_where_it_can() {
    let acts = errors::ACTS.iter().map(|(act, _)| errors::script_around(act));
    let texts: Vec<String> = acts.chain(errors::SCRIPTS.iter().map(|(text, _)| (*text).to_owned())).collect();
    let Some(verdicts) = validate("script schema: bad", &texts) else { return };
    let (mut lenient, mut unexpected) = (Vec::new(), Vec::new());
    for (at, is_valid) in verdicts.into_iter().enumerate() {
        let text = errors::ACTS.get(at).map_or(texts[at].as_str(), |(act, _)| act);
        if is_valid {
            lenient.push(text);
            // An undefined placeholder.
            let whole = text.starts_with("<script base='http://{{host}}'");
            if !BEYOND_SCHEMA.contains(&text) && !whole {
                unexpected.push(text);
            }
        }
    }
    assert!(unexpected.is_empty(), "the schema takes {unexpected:#?}");
    let stale: Vec<_> = BEYOND_SCHEMA.iter().filter(|text| !lenient.contains(text)).collect();
    assert!(stale.is_empty(), "the schema, or no test, refuses {stale:#?}");
}

#[test]
fn every_act_has_the_attributes_that_the_parser_knows() {
    let text = fs::read_to_string(schema()).unwrap();
    let document = Document::parse(&text).unwrap();
    let named = |kind: &'static str| -> BTreeMap<&str, Node<'_, '_>> {
        let nodes = document.root_element().children().filter(move |node| node.tag_name().name() == kind);
        nodes.filter_map(|node| Some((node.attribute("name")?, node))).collect()
    };
    let (types, groups) = (named("complexType"), named("attributeGroup"));
    let step = types["step"];
    let elements: BTreeMap<&str, &str> = step
        .descendants()
        .filter(|node| node.tag_name().name() == "element")
        .map(|node| (node.attribute("name").unwrap(), node.attribute("type").unwrap()))
        .collect();
    let names: BTreeSet<&str> = ACTION_SPECS.iter().map(|spec| spec.name).collect();
    assert_eq!(elements.keys().copied().collect::<BTreeSet<_>>(), names);
    for spec in ACTION_SPECS {
        let kind = types[elements[spec.name]];
        let expected: BTreeSet<&str> = spec.all_attributes().collect();
        assert_eq!(attributes(kind, &groups), expected, "{}", spec.name);
        let takes_by = kind.descendants().any(|node| node.attribute("ref") == Some("locators"));
        assert_eq!(takes_by, spec.target != TargetRequirement::None, "{}", spec.name);
    }
    assert_eq!(attributes(types["by"], &groups), LOCATOR_ATTRIBUTES.into_iter().collect());
}

/// Returns the names of the attributes in `node` and in the groups that it references.
fn attributes<'d>(node: Node<'d, 'd>, groups: &BTreeMap<&str, Node<'d, 'd>>) -> BTreeSet<&'d str> {
    let mut found = BTreeSet::new();
    for node in node.descendants() {
        match node.tag_name().name() {
            "attribute" => {
                found.insert(node.attribute("name").unwrap());
            }
            "attributeGroup" => {
                if let Some(group) = node.attribute("ref") {
                    found.extend(attributes(groups[group], groups));
                }
            }
            _ => {}
        }
    }
    found
}
