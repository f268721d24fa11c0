//! The nodes of an XML document in the XPath data model, and the axes between them (XPath 1.0, 2.2 and 5).

use std::borrow::Cow;
use std::cell::Cell;

use roxmltree::{NS_XML_URI, Node};

use super::node_budget::consume_nodes;
use crate::syntax::xpath::Axis;

/// Index of the namespace node of `xml`, which is bound without a declaration (Namespaces in XML 3).
const XML_NAMESPACE_INDEX: u32 = u32::MAX;

/// A node.
#[derive(Clone, Copy, Debug)]
pub(crate) enum XPathNode<'d> {
    /// The root, an element, a text, a comment, a processing instruction.
    Tree(Node<'d, 'd>),
    /// An attribute of an element, by its index.
    Attribute(Node<'d, 'd>, u32),
    /// A namespace of an element, by its index.
    Namespace(Node<'d, 'd>, u32),
}

impl<'d> XPathNode<'d> {
    /// Returns the sort key of document order (5).
    pub(super) fn document_order(&self) -> (u32, u8, u32) {
        match *self {
            Self::Tree(node) => (node.id().get(), 0, 0),
            Self::Namespace(node, index) => (node.id().get(), 1, index),
            Self::Attribute(node, index) => (node.id().get(), 2, index),
        }
    }

    /// Returns the cost of one visit: a namespace is counted from the first one of its element.
    pub(super) const fn visit_cost(&self) -> u64 {
        match *self {
            Self::Namespace(_, index) if index != XML_NAMESPACE_INDEX => 16 + index as u64,
            Self::Tree(_) | Self::Attribute(..) | Self::Namespace(..) => 1,
        }
    }

    /// Returns the element of an attribute or namespace, or else the node itself.
    pub(super) const fn owner_node(&self) -> Node<'d, 'd> {
        match *self {
            Self::Tree(node) | Self::Attribute(node, _) | Self::Namespace(node, _) => node,
        }
    }

    /// Returns the namespace and the local part of the name; empty for nodes without a name.
    pub(super) fn name(&self) -> (Option<&'d str>, &'d str) {
        match *self {
            Self::Tree(node) => match node.pi() {
                Some(pi) => (None, pi.target),
                None => (node.tag_name().namespace(), node.tag_name().name()),
            },
            Self::Attribute(node, index) => attribute(node, index)
                .map_or((None, ""), |attribute| (attribute.namespace(), attribute.name())),
            Self::Namespace(_, XML_NAMESPACE_INDEX) => (None, "xml"),
            Self::Namespace(node, index) => {
                (None, namespace(node, index).and_then(|(name, _)| name).unwrap_or_default())
            }
        }
    }

    /// Returns the name with its prefix.
    pub(super) fn qualified_name(&self) -> String {
        let (uri, local) = self.name();
        match uri.and_then(|uri| self.owner_node().lookup_prefix(uri)).filter(|prefix| !prefix.is_empty()) {
            Some(prefix) => format!("{prefix}:{local}"),
            None => local.to_owned(),
        }
    }

    /// Returns its string value (5): for an element, the text of all descendants.
    pub(crate) fn text(&self) -> Cow<'d, str> {
        match *self {
            Self::Tree(node) if node.is_element() || node.is_root() => {
                let mut texts = node.descendants().filter(Node::is_text).filter_map(|text| text.text());
                match (texts.next(), texts.next()) {
                    (None, _) => Cow::Borrowed(""),
                    (Some(only), None) => Cow::Borrowed(only),
                    (Some(first), Some(second)) => {
                        Cow::Owned([first, second].into_iter().chain(texts).collect())
                    }
                }
            }
            Self::Tree(node) => match node.pi() {
                Some(pi) => Cow::Borrowed(pi.value.unwrap_or_default()),
                None => Cow::Borrowed(node.text().unwrap_or_default()),
            },
            Self::Attribute(node, index) => {
                Cow::Borrowed(attribute(node, index).map_or("", |attribute| attribute.value()))
            }
            Self::Namespace(_, XML_NAMESPACE_INDEX) => Cow::Borrowed(NS_XML_URI),
            Self::Namespace(node, index) => Cow::Borrowed(namespace(node, index).map_or("", |(_, uri)| uri)),
        }
    }

    /// Like [`XPathNode::text`], but consumes `node_budget` for the visited nodes.
    pub(super) fn text_within_budget(&self, node_budget: &Cell<u64>) -> Result<Cow<'d, str>, String> {
        if let Self::Tree(node) = self
            && node.has_children()
        {
            for _ in node.descendants() {
                consume_nodes(node_budget, 1)?;
            }
        }
        let text = self.text();
        consume_nodes(node_budget, self.visit_cost() + text.len() as u64 / 64)?;
        Ok(text)
    }

    /// Calls `visit` with the nodes of `axis`, nearest first.
    pub(super) fn for_each_on_axis(
        &self,
        axis: Axis,
        visit: &mut impl FnMut(XPathNode<'d>) -> Result<(), String>,
    ) -> Result<(), String> {
        let node = self.owner_node();
        let is_tree = matches!(self, Self::Tree(_));
        let mut visit_all =
            |nodes: &mut dyn Iterator<Item = Node<'d, 'd>>| nodes.map(Self::Tree).try_for_each(&mut *visit);
        match axis {
            Axis::Child if is_tree => visit_all(&mut node.children()),
            Axis::Descendant if is_tree => visit_all(&mut node.descendants().skip(1)),
            Axis::DescendantOrSelf if is_tree => visit_all(&mut node.descendants()),
            Axis::SelfNode | Axis::DescendantOrSelf => visit(*self),
            Axis::Parent if is_tree => visit_all(&mut node.parent().into_iter()),
            Axis::Parent => visit(Self::Tree(node)),
            Axis::Ancestor => visit_all(&mut node.ancestors().skip(usize::from(is_tree))),
            Axis::AncestorOrSelf => {
                if !is_tree {
                    visit(*self)?;
                }
                node.ancestors().map(Self::Tree).try_for_each(visit)
            }
            Axis::FollowingSibling if is_tree => visit_all(&mut node.next_siblings().skip(1)),
            Axis::PrecedingSibling if is_tree => visit_all(&mut node.prev_siblings().skip(1)),
            Axis::Following => {
                if !is_tree {
                    visit_all(&mut node.descendants().skip(1))?;
                }
                for ancestor in node.ancestors() {
                    for sibling in ancestor.next_siblings().skip(1) {
                        visit_all(&mut sibling.descendants())?;
                    }
                }
                Ok(())
            }
            Axis::Preceding => {
                for ancestor in node.ancestors() {
                    for sibling in ancestor.prev_siblings().skip(1) {
                        let descendants: Vec<_> = sibling.descendants().collect();
                        visit_all(&mut descendants.into_iter().rev())?;
                    }
                }
                Ok(())
            }
            Axis::Attribute if is_tree => (0..node.attributes().len() as u64)
                .try_for_each(|index| visit(Self::Attribute(node, index_u32(index)))),
            Axis::Namespace if is_tree && node.is_element() => {
                let declared_namespaces =
                    node.namespaces().enumerate().filter(|(_, space)| space.name() != Some("xml"));
                let declared_namespaces = declared_namespaces.filter(|(_, space)| !space.uri().is_empty());
                declared_namespaces
                    .map(|(index, _)| index as u64)
                    .try_for_each(|index| visit(Self::Namespace(node, index_u32(index))))?;
                visit(Self::Namespace(node, XML_NAMESPACE_INDEX))
            }
            Axis::Child
            | Axis::Descendant
            | Axis::FollowingSibling
            | Axis::PrecedingSibling
            | Axis::Attribute
            | Axis::Namespace => Ok(()),
        }
    }
}

/// Converts an index. A document has fewer than 2^32 nodes of any kind, since it has fewer than 2^23 bytes.
fn index_u32(index: u64) -> u32 {
    u32::try_from(index).unwrap_or(XML_NAMESPACE_INDEX - 1)
}

fn attribute<'d>(node: Node<'d, 'd>, index: u32) -> Option<roxmltree::Attribute<'d, 'd>> {
    node.attributes().nth(index as usize)
}

fn namespace<'d>(node: Node<'d, 'd>, index: u32) -> Option<(Option<&'d str>, &'d str)> {
    node.namespaces().nth(index as usize).map(|space| (space.name(), space.uri()))
}
