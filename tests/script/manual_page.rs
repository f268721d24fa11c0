//! The page of the manual about the script language, and the example scripts.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use roxmltree::Document;
use vigie::script::language::vocabulary::{
    ACTION_SPECS, COMMON_ATTRIBUTES, LOCATOR_ATTRIBUTES, TargetRequirement,
};
use vigie::script::language::{MODIFIER_KEYS, NAMED_KEYS, Script};
use vigie::syntax::template::BUILT_IN_VARIABLES;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("config/scripts")
}

fn page() -> String {
    vigie::manual::find_page("browser-scripts-reference").unwrap().markdown.to_owned()
}

/// Returns the XML blocks of the page, each as a script.
fn xml_blocks(page: &str) -> Vec<String> {
    let blocks = page.split("```xml\n").skip(1).map(|rest| rest.split("```").next().unwrap().to_owned());
    let as_script = |block: String| {
        if block.starts_with("<script") { block } else { format!("<script version=\"1\">{block}</script>") }
    };
    blocks.map(as_script).collect()
}

#[test]
fn every_example_is_valid_and_listed_on_the_page() {
    let page = page();
    let mut count = 0;
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&path).unwrap();
        let script = Script::parse(&text).unwrap_or_else(|errors| panic!("{name}: {errors:#?}"));
        assert!(script.first_relative_open().is_none() && !script.name.is_empty(), "{name}");
        assert!(page.contains(&format!("| `{name}` |")), "the page does not name {name}");
        count += 1;
    }
    assert!(count >= 4, "{count} examples");
}

#[test]
fn examples_are_valid_and_cover_every_act_and_attribute() {
    let page = page();
    let (mut acts, mut attributes) = (BTreeSet::new(), BTreeSet::new());
    let xml_blocks = xml_blocks(&page);
    assert!(xml_blocks.len() >= 5, "{} pieces", xml_blocks.len());
    let examples = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let examples = examples.filter(|path| path.extension().is_some_and(|extension| extension == "xml"));
    let examples = examples.map(|path| fs::read_to_string(path).unwrap());
    for block in xml_blocks.into_iter().chain(examples) {
        let script = Script::parse(&block).unwrap_or_else(|errors| panic!("{block}\n{errors:#?}"));
        acts.extend(script.steps.iter().flat_map(|step| &step.actions).map(|action| action.kind.name()));
        let document = Document::parse(&block).unwrap();
        let elements = document.descendants().filter(roxmltree::Node::is_element);
        for element in elements {
            let name = element.tag_name().name().to_owned();
            attributes
                .extend(element.attributes().map(|attribute| (name.clone(), attribute.name().to_owned())));
        }
    }
    for spec in ACTION_SPECS {
        assert!(acts.contains(spec.name), "no example has `{}`", spec.name);
        for attribute in spec
            .attributes
            .iter()
            .filter(|attribute| !["equals", "contains", "matches", "not"].contains(attribute))
        {
            let pair = (spec.name.to_owned(), (*attribute).to_owned());
            assert!(attributes.contains(&pair), "no example has `{attribute}` of `{}`", spec.name);
        }
    }
    let has_example = |name: &str| attributes.iter().any(|(_, attribute)| attribute == name);
    for name in COMMON_ATTRIBUTES.into_iter().chain(["expect", "equals", "contains", "matches", "not"]) {
        assert!(has_example(name), "no example has `{name}`");
    }
    for name in LOCATOR_ATTRIBUTES {
        assert!(
            attributes.contains(&("by".to_owned(), name.to_owned())),
            "no example has `by` with `{name}`"
        );
    }
}

#[test]
fn the_table_of_acts_matches_the_parser() {
    let page = page();
    for spec in ACTION_SPECS {
        let star = if spec.supports_expect { "*" } else { "" };
        let start = format!("| `{}`{star} |", spec.name);
        let row = page.lines().find(|line| line.starts_with(&start));
        let row = row.unwrap_or_else(|| panic!("no row starts with {start}"));
        let cell = row.split('|').nth(2).unwrap().trim();
        let target_matches = match spec.target {
            TargetRequirement::None => !cell.starts_with("element"),
            TargetRequirement::Optional => cell.starts_with("element?"),
            TargetRequirement::Required => cell.starts_with("element") && !cell.starts_with("element?"),
        };
        assert!(target_matches, "{row}");
        let mut listed: BTreeSet<&str> = cell.split('`').skip(1).step_by(2).collect();
        if cell.contains("match") {
            listed.extend(["equals", "contains", "matches", "not"]);
        }
        assert_eq!(listed, spec.attributes.iter().copied().collect(), "{row}");
    }
    for name in LOCATOR_ATTRIBUTES {
        assert!(page.contains(&format!("| `{name}` | ")), "{name}");
    }
    for name in BUILT_IN_VARIABLES {
        assert!(page.contains(&format!("`{{{{{name}}}}}`")), "{name}");
    }
    for (key, _) in NAMED_KEYS.iter().filter(|(key, _)| !key.starts_with('F')) {
        assert!(page.contains(&format!("`{key}`")), "{key}");
    }
    for (key, _) in MODIFIER_KEYS {
        assert!(page.contains(&format!("`{key}+`")), "{key}");
    }
}
