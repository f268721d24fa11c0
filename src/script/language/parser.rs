//! Parses a script, or returns all its errors.

use roxmltree::{Document, Node, ParsingOptions};

use super::super::{script_parser, xml_limits};
use super::action::Action;
use super::action_parser;
use super::element::{ElementParser, ParseContext};
use super::script::{DEFAULT_MAX_SKIPPED_ACTIONS, Script, ScriptStep, ScriptVariable};
use super::vocabulary::{ACTION_SPECS, ActionSpec};
use crate::script::script_error::ScriptError;
use crate::syntax::text_format::TextFormat;

/// Maximum number of actions in one script.
const MAX_ACTIONS: usize = 10_000;

impl Script {
    /// Parses `text`: XML in the script language.
    ///
    /// # Errors
    /// Returns all errors in the order of the text, up to 100; a check of such a script ends with status 96. Errors
    /// never quote the value of a variable.
    pub fn parse(text: &str) -> Result<Self, Vec<ScriptError>> {
        parse(text)
    }
}

fn parse(text: &str) -> Result<Script, Vec<ScriptError>> {
    xml_limits::check(text).map_err(|error| vec![error])?;
    let options =
        ParsingOptions { allow_dtd: false, nodes_limit: script_parser::MAX_XML_NODES, entity_resolver: None };
    let document = Document::parse_with_options(text, options)
        .map_err(|error| vec![script_parser::xml_error(&error)])?;
    let mut context = ParseContext::new(text);
    let script = parse_root(&mut context, document.root_element());
    match script {
        Some(script) if context.errors.is_empty() => {
            // The outline parser, which redacts secrets, must accept the script too.
            script_parser::outline_from_tree(&document, text).map_err(|error| vec![error])?;
            Ok(script)
        }
        _ => {
            context.errors.sort_by_key(|error| error.position);
            Err(context.errors)
        }
    }
}

fn parse_root(context: &mut ParseContext<'_>, node: Node<'_, '_>) -> Option<Script> {
    if node.tag_name().name() != "script" || node.tag_name().namespace().is_some() {
        let root_name = crate::syntax::truncate_value(node.tag_name().name());
        let message = if root_name == "script" {
            "the root `script` must have no namespace".to_owned()
        } else {
            format!("the root must be `script`, not `{root_name}`")
        };
        context.add_error_at(node, message);
        return None;
    }
    context.check_attributes(node, &["version", "name", "base", "most-skipped"]);
    let mut element = ElementParser { node, context };
    if let Some(version) = element.attribute("version").filter(|version| version.trim() != "1") {
        let version = crate::syntax::truncate_value(version);
        element.add_attribute_error(
            "version",
            format!("the version of the dialect must be `1`, not `{version}`"),
            None,
        );
    }
    let name = element.display_name_attribute("name");
    let max_skipped_attribute = element
        .attribute("most-skipped")
        .is_some()
        .then(|| element.integer_attribute("most-skipped", 0, 1000));
    let max_skipped_actions = max_skipped_attribute
        .flatten()
        .and_then(|max| u32::try_from(max).ok())
        .unwrap_or(DEFAULT_MAX_SKIPPED_ACTIONS);
    let children = element.context.allowed_children(node, &["variable", "step"]);
    let mut script =
        Script { name, base_url: None, max_skipped_actions, variables: Vec::new(), steps: Vec::new() };
    for child in children.iter().filter(|child| child.tag_name().name() == "variable") {
        let variable = parse_variable(&mut ElementParser { node: *child, context: element.context });
        script.variables.extend(variable);
    }
    script.base_url = parse_base(&mut element);
    let mut action_count = 0;
    for child in children {
        if element.context.too_many_errors() {
            break;
        }
        if child.tag_name().name() == "step" {
            let number = script.steps.len() + 1;
            script.steps.push(parse_step(
                &mut ElementParser { node: child, context: element.context },
                number,
                &mut action_count,
            ));
        } else if !script.steps.is_empty() {
            element.context.add_error_at(child, "variables must precede the first step");
        }
    }
    if script.steps.is_empty() {
        element.add_error("it contains no `step`");
    }
    Some(script)
}

fn parse_base(element: &mut ElementParser<'_, '_, '_, '_>) -> Option<String> {
    element.attribute("base")?;
    let base = element.non_blank_template("base")?;
    let lowercase_base = base.to_ascii_lowercase();
    let is_absolute = ["http://", "https://"].iter().any(|scheme| lowercase_base.starts_with(scheme))
        || base.contains("{{");
    if !is_absolute || !TextFormat::HttpUrlTemplate.matches(&base) {
        element.add_attribute_error("base", "`base` must be an http or https URL with a host", None);
    }
    Some(base)
}

fn parse_variable(element: &mut ElementParser<'_, '_, '_, '_>) -> Option<ScriptVariable> {
    element.context.check_attributes(element.node, &["name", "value", "protected"]);
    element.context.allowed_children(element.node, &[]);
    let name = element.variable_name_attribute("name");
    let protected = element.bool_attribute("protected", false);
    let value = element.attribute("value").unwrap_or_default().to_owned();
    let name = name?;
    if !element.context.defined_variables.insert(name.clone()) {
        element.add_attribute_error("name", format!("the variable `{name}` is already defined"), None);
    }
    Some(ScriptVariable { name, value, protected })
}

fn parse_step(
    element: &mut ElementParser<'_, '_, '_, '_>,
    number: usize,
    action_count: &mut usize,
) -> ScriptStep {
    element.context.check_attributes(element.node, &["name", "timeout"]);
    let name = element.display_name_attribute("name");
    let name = if name.is_empty() { format!("Step {number}") } else { name };
    let timeout = element.seconds_attribute("timeout");
    let action_names: Vec<&str> = ACTION_SPECS.iter().map(|spec| spec.name).collect();
    let children = element.context.allowed_children(element.node, &action_names);
    if children.is_empty() && !element.node.children().any(|child| child.is_element()) {
        element.add_error("this `step` contains no act");
    }
    let position = element.context.line_index.position_at(element.node.range().start);
    let mut actions = Vec::with_capacity(children.len());
    for child in children {
        *action_count += 1;
        if *action_count > MAX_ACTIONS {
            if *action_count == MAX_ACTIONS + 1 {
                element
                    .context
                    .add_error_at(child, format!("there are more than {MAX_ACTIONS} acts in the script"));
            }
            break;
        }
        actions.extend(parse_action_element(&mut ElementParser { node: child, context: element.context }));
    }
    ScriptStep { name, timeout, actions, position }
}

fn parse_action_element(element: &mut ElementParser<'_, '_, '_, '_>) -> Option<Action> {
    let spec = ActionSpec::find(element.name())?;
    action_parser::parse_action(element, spec)
}
