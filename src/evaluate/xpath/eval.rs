//! Expressions over a document (XPath 1.0, 2 and 3).

use std::cell::Cell;

use roxmltree::{Document, NS_XML_URI};

use super::fuel::spend;
use super::functions;
use super::nodes::XNode;
use super::scope::{At, Scope, in_order};
use super::value::{Value, compare};
use crate::syntax::xpath::{ArithmeticOperator, Axis, Expr, LocationStep, NodeTest, PathStart};

/// Nodes after which those found twice are thrown out in between.
const CROWD: usize = 64 * 1024;

impl<'d, 'f> Scope<'d, 'f> {
    pub(super) fn new(document: &'d Document<'d>, fuel: &'f Cell<u64>) -> Self {
        Self { document, fuel }
    }

    /// What `expr` comes to at the root.
    pub(super) fn evaluate(&self, expr: &Expr) -> Result<Value<'d>, String> {
        self.value(expr, At { node: XNode::Tree(self.document.root()), position: 1, size: 1 })
    }

    pub(super) fn value(&self, expr: &Expr, at: At<'d>) -> Result<Value<'d>, String> {
        spend(self.fuel, 1)?;
        Ok(match expr {
            Expr::Or(left, right) => {
                Value::Truth(self.value(left, at)?.truth() || self.value(right, at)?.truth())
            }
            Expr::And(left, right) => {
                Value::Truth(self.value(left, at)?.truth() && self.value(right, at)?.truth())
            }
            Expr::Compare(how, left, right) => {
                Value::Truth(compare(*how, &self.value(left, at)?, &self.value(right, at)?, self.fuel)?)
            }
            Expr::Arithmetic(how, left, right) => {
                let left = self.value(left, at)?.number(self.fuel)?;
                Value::Number(computed(*how, left, self.value(right, at)?.number(self.fuel)?))
            }
            Expr::Negate(value) => Value::Number(-self.value(value, at)?.number(self.fuel)?),
            Expr::Union(left, right) => {
                let mut nodes = self.nodes(left, at)?;
                nodes.append(&mut self.nodes(right, at)?);
                Value::Nodes(in_order(nodes))
            }
            Expr::Path(start, steps) => Value::Nodes(self.path(start, steps, at)?),
            Expr::Filter(inner, predicates) => {
                let mut nodes = self.nodes(inner, at)?;
                for predicate in predicates {
                    nodes = self.fitting(nodes, predicate)?;
                }
                Value::Nodes(nodes)
            }
            Expr::Number(number) => Value::Number(*number),
            Expr::Literal(text) => Value::Text(text.to_string()),
            Expr::Call(function, arguments) => functions::call(self, *function, arguments, at)?,
        })
    }

    /// The nodes of `expr`; that it gives nodes was seen when it was parsed.
    pub(super) fn nodes(&self, expr: &Expr, at: At<'d>) -> Result<Vec<XNode<'d>>, String> {
        match self.value(expr, at)? {
            Value::Nodes(nodes) => Ok(nodes),
            _ => Err("the XPath needs nodes where there are none".to_owned()),
        }
    }

    fn path(&self, start: &PathStart, steps: &[LocationStep], at: At<'d>) -> Result<Vec<XNode<'d>>, String> {
        let mut nodes = match start {
            PathStart::Root => vec![XNode::Tree(self.document.root())],
            PathStart::ContextNode => vec![at.node],
            PathStart::Expr(expr) => self.nodes(expr, at)?,
        };
        for step in steps {
            nodes = self.step(&nodes, step)?;
        }
        Ok(nodes)
    }

    fn step(&self, from: &[XNode<'d>], step: &LocationStep) -> Result<Vec<XNode<'d>>, String> {
        let (mut found, mut crowd) = (Vec::new(), CROWD);
        for node in from {
            let mut nodes = Vec::new();
            node.walk(step.axis, &mut |node| {
                spend(self.fuel, node.price())?;
                if self.fits(node, step)? {
                    nodes.push(node);
                }
                Ok(())
            })?;
            for predicate in &step.predicates {
                nodes = self.fitting(nodes, predicate)?;
            }
            found.append(&mut nodes);
            if found.len() > crowd {
                // To sort them takes longer than to find them.
                spend(self.fuel, 4 * found.len() as u64)?;
                found = in_order(found);
                crowd = CROWD.max(2 * found.len());
            }
        }
        Ok(in_order(found))
    }

    /// Those of `nodes` that fit `predicate`, by their places in this list.
    fn fitting(&self, nodes: Vec<XNode<'d>>, predicate: &Expr) -> Result<Vec<XNode<'d>>, String> {
        let size = nodes.len();
        let mut fitting = Vec::new();
        for (index, node) in nodes.into_iter().enumerate() {
            let position = index + 1;
            let fits = match self.value(predicate, At { node, position, size })? {
                #[expect(clippy::float_cmp, reason = "a place is a whole number")]
                Value::Number(number) => number == position as f64,
                other => other.truth(),
            };
            if fits {
                fitting.push(node);
            }
        }
        Ok(fitting)
    }

    fn fits(&self, node: XNode<'d>, step: &LocationStep) -> Result<bool, String> {
        let tree = node.tree();
        let of_its_kind = match (step.axis, node) {
            (Axis::Attribute, XNode::Attribute(..)) | (Axis::Namespace, XNode::Namespace(..)) => true,
            (Axis::Attribute | Axis::Namespace, _) => false,
            (_, XNode::Tree(_)) => tree.is_element(),
            _ => false,
        };
        let is_tree = matches!(node, XNode::Tree(_));
        Ok(match &step.test {
            NodeTest::Node => true,
            NodeTest::Text => is_tree && tree.is_text(),
            NodeTest::Comment => is_tree && tree.is_comment(),
            NodeTest::ProcessingInstruction(None) => is_tree && tree.is_pi(),
            NodeTest::ProcessingInstruction(Some(target)) => {
                is_tree && tree.pi().is_some_and(|pi| pi.target == &**target)
            }
            NodeTest::Wildcard => of_its_kind,
            NodeTest::PrefixWildcard(prefix) => {
                let uri = self.namespace(prefix)?;
                of_its_kind && node.name().0 == Some(uri)
            }
            NodeTest::Named(prefix, local) => {
                let uri = prefix.as_deref().map(|prefix| self.namespace(prefix)).transpose()?;
                of_its_kind && node.name() == (uri, &**local)
            }
        })
    }

    /// The namespace of `prefix`, as declared on the root element (behaviour.md 4).
    fn namespace(&self, prefix: &str) -> Result<&'d str, String> {
        if prefix == "xml" {
            return Ok(NS_XML_URI);
        }
        let declared = self.document.root_element().namespaces().find(|space| space.name() == Some(prefix));
        declared.map(roxmltree::Namespace::uri).ok_or_else(|| unknown(prefix))
    }

    /// Fails for one of `prefixes` that the root element does not declare, whether or not it is come to.
    pub(super) fn check_prefixes(&self, prefixes: &[Box<str>]) -> Result<(), String> {
        prefixes.iter().try_for_each(|prefix| self.namespace(prefix).map(drop))
    }
}

fn unknown(prefix: &str) -> String {
    format!("the prefix `{prefix}` is not declared on the root")
}

fn computed(how: ArithmeticOperator, left: f64, right: f64) -> f64 {
    match how {
        ArithmeticOperator::Add => left + right,
        ArithmeticOperator::Subtract => left - right,
        ArithmeticOperator::Multiply => left * right,
        ArithmeticOperator::Divide => left / right,
        ArithmeticOperator::Modulo => left % right,
    }
}
