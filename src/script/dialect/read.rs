//! Reads a script into its types, or says all that is wrong with it.

use roxmltree::{Document, Node, ParsingOptions};

use super::super::{bounds, read as facts};
use super::act::Act;
use super::acts;
use super::element::{Element, Reader};
use super::script::{MOST_SKIPPED, Script, Step, Variable};
use super::vocabulary::{ACTS, Word};
use crate::script::fault::ScriptFault;
use crate::syntax::format::TextFormat;

/// Acts of one script.
const MOST_ACTS: usize = 10_000;

impl Script {
    /// Reads `text`: XML in the dialect.
    ///
    /// # Errors
    /// All that is wrong with it, in the order of the text, up to 100 faults: a check of it ends with status 96.
    /// No fault repeats the value of a variable.
    pub fn read(text: &str) -> Result<Self, Vec<ScriptFault>> {
        read(text)
    }
}

fn read(text: &str) -> Result<Script, Vec<ScriptFault>> {
    bounds::check(text).map_err(|fault| vec![fault])?;
    let options = ParsingOptions { allow_dtd: false, nodes_limit: facts::MOST_NODES, entity_resolver: None };
    let document = Document::parse_with_options(text, options).map_err(|error| vec![facts::told(&error)])?;
    let mut reader = Reader::new(text);
    let script = root(&mut reader, document.root_element());
    match script {
        Some(script) if reader.faults.is_empty() => {
            // What is played must be a script in the eyes of what hides its secrets too.
            facts::read_tree(&document, text).map_err(|fault| vec![fault])?;
            Ok(script)
        }
        _ => {
            reader.faults.sort_by_key(|fault| fault.place);
            Err(reader.faults)
        }
    }
}

fn root(reader: &mut Reader<'_>, node: Node<'_, '_>) -> Option<Script> {
    if node.tag_name().name() != "script" || node.tag_name().namespace().is_some() {
        let found = crate::syntax::truncate_value(node.tag_name().name());
        let message = if found == "script" {
            "the root `script` must have no namespace".to_owned()
        } else {
            format!("the root must be `script`, not `{found}`")
        };
        reader.fault_at(node, message);
        return None;
    }
    reader.attributes(node, &["version", "name", "base", "most-skipped"]);
    let mut element = Element { node, reader };
    if let Some(version) = element.given("version").filter(|version| version.trim() != "1") {
        let version = crate::syntax::truncate_value(version);
        element.fault_in("version", format!("the version of the dialect must be `1`, not `{version}`"), None);
    }
    let name = element.title("name");
    let skipped = element.given("most-skipped").is_some().then(|| element.number("most-skipped", 0, 1000));
    let most_skipped = skipped.flatten().and_then(|most| u32::try_from(most).ok()).unwrap_or(MOST_SKIPPED);
    let children = element.reader.children(node, &["variable", "step"]);
    let mut script = Script { name, base: None, most_skipped, variables: Vec::new(), steps: Vec::new() };
    for child in children.iter().filter(|child| child.tag_name().name() == "variable") {
        let variable = variable(&mut Element { node: *child, reader: element.reader });
        script.variables.extend(variable);
    }
    script.base = base(&mut element);
    let mut acts = 0;
    for child in children {
        if element.reader.is_full() {
            break;
        }
        if child.tag_name().name() == "step" {
            let number = script.steps.len() + 1;
            script.steps.push(step(&mut Element { node: child, reader: element.reader }, number, &mut acts));
        } else if !script.steps.is_empty() {
            element.reader.fault_at(child, "variables stand before the first step");
        }
    }
    if script.steps.is_empty() {
        element.fault("there is no `step` in it");
    }
    Some(script)
}

fn base(element: &mut Element<'_, '_, '_, '_>) -> Option<String> {
    element.given("base")?;
    let base = element.template("base")?;
    let start = base.to_ascii_lowercase();
    let written_out =
        ["http://", "https://"].iter().any(|scheme| start.starts_with(scheme)) || base.contains("{{");
    if !written_out || !TextFormat::HttpUrlTemplate.matches(&base) {
        element.fault_in("base", "`base` must be an http or https URL with a host", None);
    }
    Some(base)
}

fn variable(element: &mut Element<'_, '_, '_, '_>) -> Option<Variable> {
    element.reader.attributes(element.node, &["name", "value", "protected"]);
    element.reader.children(element.node, &[]);
    let name = element.variable("name");
    let protected = element.flag("protected", false);
    let value = element.given("value").unwrap_or_default().to_owned();
    let name = name?;
    if !element.reader.set.insert(name.clone()) {
        element.fault_in("name", format!("there is a variable `{name}` already"), None);
    }
    Some(Variable { name, value, protected })
}

fn step(element: &mut Element<'_, '_, '_, '_>, number: usize, acts: &mut usize) -> Step {
    element.reader.attributes(element.node, &["name", "timeout"]);
    let name = element.title("name");
    let name = if name.is_empty() { format!("Step {number}") } else { name };
    let timeout = element.seconds("timeout");
    let known: Vec<&str> = ACTS.iter().map(|word| word.name).collect();
    let children = element.reader.children(element.node, &known);
    if children.is_empty() && !element.node.children().any(|child| child.is_element()) {
        element.fault("there is no act in this `step`");
    }
    let place = element.reader.places.of(element.node.range().start);
    let mut read = Vec::with_capacity(children.len());
    for child in children {
        *acts += 1;
        if *acts > MOST_ACTS {
            if *acts == MOST_ACTS + 1 {
                element.reader.fault_at(child, format!("there are more than {MOST_ACTS} acts in the script"));
            }
            break;
        }
        read.extend(one(&mut Element { node: child, reader: element.reader }));
    }
    Step { name, timeout, acts: read, place }
}

fn one(element: &mut Element<'_, '_, '_, '_>) -> Option<Act> {
    let word = Word::named(element.name())?;
    acts::act(element, word)
}
