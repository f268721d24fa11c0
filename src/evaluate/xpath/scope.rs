//! What an expression is evaluated on.

use std::cell::Cell;

use roxmltree::Document;

use super::nodes::XNode;

/// The document, and how much of it may still be looked at.
pub(super) struct Scope<'d, 'f> {
    pub(super) document: &'d Document<'d>,
    pub(super) fuel: &'f Cell<u64>,
}

/// What is looked at (1): the node, its place among those that are, and their number.
#[derive(Clone, Copy)]
pub(super) struct At<'d> {
    pub(super) node: XNode<'d>,
    pub(super) position: usize,
    pub(super) size: usize,
}

/// `nodes` in the order of the document, each once.
pub(super) fn in_order(mut nodes: Vec<XNode<'_>>) -> Vec<XNode<'_>> {
    // What one walk gives is in order already, or backwards.
    if nodes.windows(2).all(|pair| pair[0].order() < pair[1].order()) {
        return nodes;
    }
    if nodes.windows(2).all(|pair| pair[0].order() > pair[1].order()) {
        nodes.reverse();
        return nodes;
    }
    nodes.sort_unstable_by_key(XNode::order);
    nodes.dedup_by_key(|node| node.order());
    nodes
}
