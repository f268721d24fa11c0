//! Parses the file of a project.

use roxmltree::Node;

use super::copy_budget::CopyBudget;
use super::interface_parser::{Interfaces, parse_interfaces};
use super::issue_collector::IssueCollector;
use super::model::{Project, TestCase, TestSuite};
use super::project_error::ProjectError;
use super::property_list::parse_property_list;
use super::property_map::PropertyMap;
use super::step_context::StepContext;
use super::step_parser::{REQUEST_TYPES, parse_step};
use super::xml_tree::{attribute, child, children, flag, is_disabled, is_named};
use crate::script::parse_project_xml;
use crate::syntax::line_index::LineIndex;
use crate::syntax::node::Position;

/// Maximum number of suites, cases and steps of a project.
const MAX_STEPS: usize = 20_000;

/// Maximum nesting of elements.
const MAX_DEPTH: usize = 256;

impl Project {
    /// Parses the file of a project.
    ///
    /// # Errors
    /// Fails with position and reason when `text` is not XML, has a document type, is not a project of SoapUI, or has
    /// too many elements.
    pub fn parse(text: &str) -> Result<Self, ProjectError> {
        let text = text.trim_start_matches('\u{feff}');
        let document = parse_project_xml(text)?;
        let line_index = LineIndex::new(text);
        let root = document.root_element();
        let error_at = |node: Node<'_, '_>, message: String| {
            let Position { line, column } = line_index.position_at(node.range().start);
            ProjectError { line, column, message }
        };
        if !is_named(root, "soapui-project") {
            let name = crate::syntax::truncate_value(root.tag_name().name());
            let message =
                format!("the root must be `soapui-project` in the namespace of SoapUI, not `{name}`");
            return Err(error_at(root, message));
        }
        if let Some(node) = first_too_deep(root) {
            return Err(error_at(node, format!("elements are nested deeper than {MAX_DEPTH}")));
        }
        let budget = CopyBudget::new();
        let interfaces = parse_interfaces(root, &budget).map_err(|message| error_at(root, message))?;
        let mut parser = ProjectParser { line_index: &line_index, interfaces, budget, item_count: 0 };
        parser.parse_project(root).map_err(|message| error_at(root, message))
    }
}

struct ProjectParser<'c, 't> {
    line_index: &'c LineIndex<'t>,
    interfaces: Interfaces,
    budget: CopyBudget,
    /// Number of suites, cases and steps so far.
    item_count: usize,
}

impl ProjectParser<'_, '_> {
    fn parse_project(&mut self, root: Node<'_, '_>) -> Result<Project, String> {
        let mut issues =
            IssueCollector::new(self.line_index, format!("project `{}`", short(attribute(root, "name"))));
        issues.add_scripts(root, &["beforeRunScript", "afterRunScript", "afterLoadScript"]);
        if !attribute(root, "activeEnvironment").is_empty()
            && attribute(root, "activeEnvironment") != "Default"
        {
            issues.add(root, "environments of ReadyAPI (`activeEnvironment`)");
        }
        let properties = Self::parse_properties(root, &mut issues)?;
        let suites =
            children(root, "testSuite").map(|suite| self.parse_suite(suite)).collect::<Result<_, _>>()?;
        Ok(Project { properties, suites, issues: issues.into_issues() })
    }

    fn parse_suite(&mut self, node: Node<'_, '_>) -> Result<TestSuite, String> {
        self.count_item()?;
        let name = attribute(node, "name").to_owned();
        let mut issues = IssueCollector::new(self.line_index, format!("suite `{}`", short(&name)));
        issues.add_scripts(node, &["setupScript", "tearDownScript"]);
        let properties = Self::parse_properties(node, &mut issues)?;
        let cases = children(node, "testCase");
        let cases = cases.map(|case| self.parse_case(case, &issues.place)).collect::<Result<_, _>>()?;
        let disabled = is_disabled(node);
        Ok(TestSuite { name, disabled, properties, cases, issues: issues.into_issues() })
    }

    fn parse_case(&mut self, node: Node<'_, '_>, suite: &str) -> Result<TestCase, String> {
        self.count_item()?;
        let name = attribute(node, "name").to_owned();
        let place = format!("{suite}, case `{}`", short(&name));
        let mut issues = IssueCollector::new(self.line_index, place);
        issues.add_scripts(node, &["setupScript", "tearDownScript"]);
        let properties = Self::parse_properties(node, &mut issues)?;
        let timeout = attribute(node, "timeout").trim();
        let timeout_ms = timeout.parse().unwrap_or_else(|_| {
            if !timeout.is_empty() {
                issues.add(node, format!("the timeout `{}`", short(timeout)));
            }
            0
        });
        let step_nodes: Vec<Node<'_, '_>> = children(node, "testStep").collect();
        let step_names = step_nodes.iter().map(|step| attribute(*step, "name")).collect();
        let next_requests = next_requests(&step_nodes);
        let (mut steps, mut previous_request) = (Vec::new(), None);
        for (step, next_request) in step_nodes.iter().zip(next_requests) {
            self.count_item()?;
            let place = format!("{}, step `{}`", issues.place, short(attribute(*step, "name")));
            let step_issues = IssueCollector::new(self.line_index, place);
            let (interfaces, budget) = (&self.interfaces, &self.budget);
            let context =
                StepContext { interfaces, budget, step_names: &step_names, previous_request, next_request };
            steps.push(parse_step(*step, &context, step_issues)?);
            previous_request = request_name(*step).or(previous_request);
        }
        Ok(TestCase {
            name,
            id: attribute(node, "id").to_owned(),
            disabled: is_disabled(node),
            fail_on_error: flag(node, "failOnError", true),
            fail_on_failed_steps: flag(node, "failTestCaseOnErrors", true),
            keep_session: flag(node, "keepSession", false),
            search_properties: flag(node, "searchProperties", true),
            timeout_ms,
            properties,
            steps,
            issues: issues.into_issues(),
        })
    }

    fn parse_properties(
        node: Node<'_, '_>,
        issues: &mut IssueCollector<'_, '_>,
    ) -> Result<PropertyMap, String> {
        let Some(list) = child(node, "properties") else { return Ok(PropertyMap::default()) };
        issues.add_groovy_expansions(list);
        parse_property_list(list)
    }

    fn count_item(&mut self) -> Result<(), String> {
        self.item_count += 1;
        if self.item_count > MAX_STEPS {
            return Err(format!("there are more than {MAX_STEPS} suites, cases and steps"));
        }
        Ok(())
    }
}

/// Returns the name of a step that sends a request.
fn request_name<'a>(step: Node<'a, '_>) -> Option<&'a str> {
    REQUEST_TYPES.contains(&attribute(step, "type")).then(|| attribute(step, "name"))
}

/// Returns for each step the name of the next request after it.
fn next_requests<'a>(steps: &[Node<'a, '_>]) -> Vec<Option<&'a str>> {
    let mut names = vec![None; steps.len()];
    let mut next = None;
    for (name, step) in names.iter_mut().zip(steps).rev() {
        *name = next;
        next = request_name(*step).or(next);
    }
    names
}

/// Returns the first element that is nested too deep.
fn first_too_deep<'a, 'i>(root: Node<'a, 'i>) -> Option<Node<'a, 'i>> {
    let mut pending = vec![(root, 1)];
    while let Some((node, depth)) = pending.pop() {
        if depth > MAX_DEPTH {
            return Some(node);
        }
        let elements = node.children().rev().filter(Node::is_element);
        pending.extend(elements.map(|child| (child, depth + 1)));
    }
    None
}

fn short(name: &str) -> String {
    crate::syntax::truncate_value(name)
}
