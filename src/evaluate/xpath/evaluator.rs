//! The state of an evaluation.

use std::cell::Cell;

use roxmltree::Document;

use super::nodes::XPathNode;
use crate::syntax::path_expression::DeclaredNamespaces;

/// Evaluates expressions on a document, with a budget of nodes that may still be visited.
pub(super) struct Evaluator<'d, 'f> {
    pub(super) document: &'d Document<'d>,
    pub(super) node_budget: &'f Cell<u64>,
    /// Namespaces that the expression itself declares.
    pub(super) declared_namespaces: &'f DeclaredNamespaces,
}

/// The evaluation context (1): the context node, its position, and the context size.
#[derive(Clone, Copy)]
pub(super) struct EvalContext<'d> {
    pub(super) node: XPathNode<'d>,
    pub(super) position: usize,
    pub(super) size: usize,
}

/// Returns `nodes` in the order of the document, each once.
pub(super) fn sort_and_dedup(mut nodes: Vec<XPathNode<'_>>) -> Vec<XPathNode<'_>> {
    // The nodes of one axis are already in order, or in reverse order.
    if nodes.windows(2).all(|pair| pair[0].document_order() < pair[1].document_order()) {
        return nodes;
    }
    if nodes.windows(2).all(|pair| pair[0].document_order() > pair[1].document_order()) {
        nodes.reverse();
        return nodes;
    }
    nodes.sort_unstable_by_key(XPathNode::document_order);
    nodes.dedup_by_key(|node| node.document_order());
    nodes
}
