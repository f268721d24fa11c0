//! Evaluation of expressions on a document (XPath 1.0, 2 and 3).

use std::cell::Cell;

use roxmltree::{Document, NS_XML_URI};

use super::evaluator::{EvalContext, Evaluator, sort_and_dedup};
use super::functions;
use super::node_budget::consume_nodes;
use super::nodes::XPathNode;
use super::value::{XPathValue, compare};
use crate::syntax::path_expression::DeclaredNamespaces;
use crate::syntax::xpath::{ArithmeticOperator, Axis, Expr, LocationStep, NodeTest, PathStart};

/// Number of nodes after which intermediate results are deduplicated.
const DEDUP_THRESHOLD: usize = 64 * 1024;

impl<'d, 'f> Evaluator<'d, 'f> {
    pub(super) fn new(
        document: &'d Document<'d>,
        node_budget: &'f Cell<u64>,
        declared_namespaces: &'f DeclaredNamespaces,
    ) -> Self {
        Self { document, node_budget, declared_namespaces }
    }

    /// Evaluates `expr` at the root.
    pub(super) fn evaluate(&self, expr: &Expr) -> Result<XPathValue<'d>, String> {
        self.evaluate_expr(
            expr,
            EvalContext { node: XPathNode::Tree(self.document.root()), position: 1, size: 1 },
        )
    }

    pub(super) fn evaluate_expr(
        &self,
        expr: &Expr,
        context: EvalContext<'d>,
    ) -> Result<XPathValue<'d>, String> {
        consume_nodes(self.node_budget, 1)?;
        Ok(match expr {
            Expr::Or(left, right) => XPathValue::Boolean(
                self.evaluate_expr(left, context)?.to_bool() || self.evaluate_expr(right, context)?.to_bool(),
            ),
            Expr::And(left, right) => XPathValue::Boolean(
                self.evaluate_expr(left, context)?.to_bool() && self.evaluate_expr(right, context)?.to_bool(),
            ),
            Expr::Compare(operator, left, right) => XPathValue::Boolean(compare(
                *operator,
                &self.evaluate_expr(left, context)?,
                &self.evaluate_expr(right, context)?,
                self.node_budget,
            )?),
            Expr::Arithmetic(operator, left, right) => {
                let left = self.evaluate_expr(left, context)?.to_number(self.node_budget)?;
                XPathValue::Number(apply_arithmetic(
                    *operator,
                    left,
                    self.evaluate_expr(right, context)?.to_number(self.node_budget)?,
                ))
            }
            Expr::Negate(value) => {
                XPathValue::Number(-self.evaluate_expr(value, context)?.to_number(self.node_budget)?)
            }
            Expr::Union(left, right) => {
                let mut nodes = self.evaluate_nodes(left, context)?;
                nodes.append(&mut self.evaluate_nodes(right, context)?);
                XPathValue::Nodes(sort_and_dedup(nodes))
            }
            Expr::Path(start, steps) => XPathValue::Nodes(self.evaluate_path(start, steps, context)?),
            Expr::Filter(inner, predicates) => {
                let mut nodes = self.evaluate_nodes(inner, context)?;
                for predicate in predicates {
                    nodes = self.filter_by_predicate(nodes, predicate)?;
                }
                XPathValue::Nodes(nodes)
            }
            Expr::Number(number) => XPathValue::Number(*number),
            Expr::Literal(text) => XPathValue::Text(text.to_string()),
            Expr::Call(function, arguments) => functions::call_function(self, *function, arguments, context)?,
        })
    }

    /// Returns the nodes of `expr`; the parser has checked that it yields nodes.
    pub(super) fn evaluate_nodes(
        &self,
        expr: &Expr,
        context: EvalContext<'d>,
    ) -> Result<Vec<XPathNode<'d>>, String> {
        match self.evaluate_expr(expr, context)? {
            XPathValue::Nodes(nodes) => Ok(nodes),
            _ => Err("the XPath needs nodes where there are none".to_owned()),
        }
    }

    fn evaluate_path(
        &self,
        start: &PathStart,
        steps: &[LocationStep],
        context: EvalContext<'d>,
    ) -> Result<Vec<XPathNode<'d>>, String> {
        let mut nodes = match start {
            PathStart::Root => vec![XPathNode::Tree(self.document.root())],
            PathStart::ContextNode => vec![context.node],
            PathStart::Expr(expr) => self.evaluate_nodes(expr, context)?,
        };
        for step in steps {
            nodes = self.evaluate_step(&nodes, step)?;
        }
        Ok(nodes)
    }

    fn evaluate_step(
        &self,
        context_nodes: &[XPathNode<'d>],
        step: &LocationStep,
    ) -> Result<Vec<XPathNode<'d>>, String> {
        let (mut found, mut dedup_at) = (Vec::new(), DEDUP_THRESHOLD);
        for node in context_nodes {
            let mut nodes = Vec::new();
            node.for_each_on_axis(step.axis, &mut |node| {
                consume_nodes(self.node_budget, node.visit_cost())?;
                if self.matches_node_test(node, step)? {
                    nodes.push(node);
                }
                Ok(())
            })?;
            for predicate in &step.predicates {
                nodes = self.filter_by_predicate(nodes, predicate)?;
            }
            found.append(&mut nodes);
            if found.len() > dedup_at {
                // Sorting takes longer than finding.
                consume_nodes(self.node_budget, 4 * found.len() as u64)?;
                found = sort_and_dedup(found);
                dedup_at = DEDUP_THRESHOLD.max(2 * found.len());
            }
        }
        Ok(sort_and_dedup(found))
    }

    /// Returns those of `nodes` that match `predicate`, by their positions in this list.
    fn filter_by_predicate(
        &self,
        nodes: Vec<XPathNode<'d>>,
        predicate: &Expr,
    ) -> Result<Vec<XPathNode<'d>>, String> {
        let size = nodes.len();
        let mut matching = Vec::new();
        for (index, node) in nodes.into_iter().enumerate() {
            let position = index + 1;
            let matches = match self.evaluate_expr(predicate, EvalContext { node, position, size })? {
                #[expect(clippy::float_cmp, reason = "a place is a whole number")]
                XPathValue::Number(number) => number == position as f64,
                other => other.to_bool(),
            };
            if matches {
                matching.push(node);
            }
        }
        Ok(matching)
    }

    fn matches_node_test(&self, node: XPathNode<'d>, step: &LocationStep) -> Result<bool, String> {
        let owner = node.owner_node();
        let has_principal_type = match (step.axis, node) {
            (Axis::Attribute, XPathNode::Attribute(..)) | (Axis::Namespace, XPathNode::Namespace(..)) => true,
            (Axis::Attribute | Axis::Namespace, _) => false,
            (_, XPathNode::Tree(_)) => owner.is_element(),
            _ => false,
        };
        let is_tree = matches!(node, XPathNode::Tree(_));
        Ok(match &step.node_test {
            NodeTest::Node => true,
            NodeTest::Text => is_tree && owner.is_text(),
            NodeTest::Comment => is_tree && owner.is_comment(),
            NodeTest::ProcessingInstruction(None) => is_tree && owner.is_pi(),
            NodeTest::ProcessingInstruction(Some(target)) => {
                is_tree && owner.pi().is_some_and(|pi| pi.target == &**target)
            }
            NodeTest::Wildcard => has_principal_type,
            NodeTest::PrefixWildcard(prefix) => {
                let uri = self.namespace_uri(prefix)?;
                has_principal_type && node.name().0 == Some(uri)
            }
            NodeTest::Named(prefix, local) => {
                let uri = match prefix.as_deref() {
                    Some(prefix) => Some(self.namespace_uri(prefix)?),
                    None if step.axis == Axis::Attribute => None,
                    None => self.declared_namespaces.default_element.as_deref(),
                };
                has_principal_type && node.name() == (uri, &**local)
            }
        })
    }

    /// Returns the namespace of `prefix`, as declared by the expression, or on the root element (behaviour.md 4).
    fn namespace_uri(&self, prefix: &str) -> Result<&str, String> {
        if prefix == "xml" {
            return Ok(NS_XML_URI);
        }
        if let Some(uri) = self.declared_namespaces.find(prefix) {
            return Ok(uri);
        }
        let namespace = self.document.root_element().namespaces().find(|space| space.name() == Some(prefix));
        namespace.map(roxmltree::Namespace::uri).ok_or_else(|| unknown_prefix_error(prefix))
    }

    /// Fails for any of `prefixes` that the root element does not declare, even if it is never reached.
    pub(super) fn check_prefixes(&self, prefixes: &[Box<str>]) -> Result<(), String> {
        prefixes.iter().try_for_each(|prefix| self.namespace_uri(prefix).map(drop))
    }
}

fn unknown_prefix_error(prefix: &str) -> String {
    format!("the prefix `{prefix}` is not declared on the root")
}

fn apply_arithmetic(operator: ArithmeticOperator, left: f64, right: f64) -> f64 {
    match operator {
        ArithmeticOperator::Add => left + right,
        ArithmeticOperator::Subtract => left - right,
        ArithmeticOperator::Multiply => left * right,
        ArithmeticOperator::Divide => left / right,
        ArithmeticOperator::Modulo => left % right,
    }
}
