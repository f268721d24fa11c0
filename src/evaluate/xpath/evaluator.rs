//! What an expression is evaluated on.

use std::cell::Cell;

use roxmltree::Document;

use super::nodes::XPathNode;

/// The document, and how much of it may still be looked at.
pub(super) struct Evaluator<'d, 'f> {
    pub(super) document: &'d Document<'d>,
    pub(super) fuel: &'f Cell<u64>,
}

/// What is looked at (1): the node, its place among those that are, and their number.
#[derive(Clone, Copy)]
pub(super) struct EvalContext<'d> {
    pub(super) node: XPathNode<'d>,
    pub(super) position: usize,
    pub(super) size: usize,
}

/// `nodes` in the order of the document, each once.
pub(super) fn sort_and_dedup(mut nodes: Vec<XPathNode<'_>>) -> Vec<XPathNode<'_>> {
    // What one walk gives is in order already, or backwards.
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
