//! Pages of HTML for expressions: parsed as browsers do (the tree construction of the HTML standard), and written as
//! XML.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};

use html5ever::interface::{ElemName, ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::{Attribute, LocalName, Namespace, ParseOpts, QualName, parse_document};

/// Largest page, in bytes.
const MAX_BYTES: usize = 8 * 1024 * 1024;
/// Most nodes of a page.
const MAX_NODES: usize = 200_000;
/// Deepest nesting of elements. The work of the parser grows with it.
const MAX_DEPTH: u32 = 256;
/// Bytes that are parsed between two looks at the limits.
const CHUNK_BYTES: usize = 4096;
/// Index of the document itself.
const DOCUMENT_INDEX: usize = 0;

/// The XML of one HTML response, converted when the first expression needs it. Each call passes the same HTML.
#[derive(Debug, Default)]
pub struct LazyPageXml(OnceCell<Result<String, String>>);

impl LazyPageXml {
    /// Returns the page `html` as XML, without namespaces and with names in lower case.
    pub(in crate::evaluate) fn to_xml(&self, html: &str) -> Result<&str, String> {
        self.0.get_or_init(|| convert_to_xml(html)).as_deref().map_err(Clone::clone)
    }
}

fn convert_to_xml(html: &str) -> Result<String, String> {
    if html.len() > MAX_BYTES {
        return Err(format!("the page has more than {MAX_BYTES} bytes, too many for XPath"));
    }
    let mut parser = parse_document(PageTree::new(), ParseOpts::default());
    let mut rest = html.trim_start_matches('\u{feff}');
    while !rest.is_empty() {
        let end = rest.floor_char_boundary(CHUNK_BYTES);
        let (chunk, after) = rest.split_at(end);
        parser.process(StrTendril::from_slice(chunk));
        parser.tokenizer.sink.sink.check_limits()?;
        rest = after;
    }
    let tree = parser.finish();
    tree.check_limits()?;
    Ok(tree.to_xml())
}

enum NodeKind {
    Document,
    Element { name: QualName, attributes: Vec<Attribute> },
    Text(StrTendril),
    Comment(StrTendril),
}

struct PageNode {
    kind: NodeKind,
    parent: Option<usize>,
    children: Vec<usize>,
    depth: u32,
}

/// The nodes of a page; each is known by its index.
struct PageTree {
    nodes: RefCell<Vec<PageNode>>,
    max_depth: Cell<u32>,
}

/// The name of an element, for the parser.
#[derive(Debug)]
struct ElementName(QualName);

impl ElemName for ElementName {
    fn ns(&self) -> &Namespace {
        &self.0.ns
    }

    fn local_name(&self) -> &LocalName {
        &self.0.local
    }
}

impl PageTree {
    fn new() -> Self {
        let document = PageNode { kind: NodeKind::Document, parent: None, children: Vec::new(), depth: 0 };
        Self { nodes: RefCell::new(vec![document]), max_depth: Cell::new(0) }
    }

    fn check_limits(&self) -> Result<(), String> {
        if self.nodes.borrow().len() > MAX_NODES {
            return Err(format!("the page has more than {MAX_NODES} nodes, too many for XPath"));
        }
        if self.max_depth.get() > MAX_DEPTH {
            return Err(format!("the page is nested deeper than {MAX_DEPTH} elements"));
        }
        Ok(())
    }

    fn create(&self, kind: NodeKind) -> usize {
        let mut nodes = self.nodes.borrow_mut();
        nodes.push(PageNode { kind, parent: None, children: Vec::new(), depth: 0 });
        nodes.len() - 1
    }

    fn node_or_new_text_node(&self, child: NodeOrText<usize>) -> usize {
        match child {
            NodeOrText::AppendNode(node) => node,
            NodeOrText::AppendText(text) => self.create(NodeKind::Text(text)),
        }
    }

    /// Makes `child` a child of `parent`, before the child at `position`, or the last one.
    fn insert(&self, parent: usize, child: usize, position: Option<usize>) {
        let mut nodes = self.nodes.borrow_mut();
        let depth = nodes[parent].depth + 1;
        self.max_depth.set(self.max_depth.get().max(depth));
        (nodes[child].parent, nodes[child].depth) = (Some(parent), depth);
        let children = &mut nodes[parent].children;
        match position {
            Some(position) => children.insert(position, child),
            None => children.push(child),
        }
    }

    fn to_xml(&self) -> String {
        enum PendingTag {
            Open(usize),
            Close(String),
        }
        let nodes = self.nodes.borrow();
        let mut xml = String::new();
        let mut pending_tags = vec![PendingTag::Open(DOCUMENT_INDEX)];
        while let Some(pending_tag) = pending_tags.pop() {
            let node = match pending_tag {
                PendingTag::Close(name) => {
                    xml.push_str("</");
                    xml.push_str(&name);
                    xml.push('>');
                    continue;
                }
                PendingTag::Open(index) => &nodes[index],
            };
            match &node.kind {
                NodeKind::Document => {}
                NodeKind::Text(text) => push_escaped(&mut xml, text),
                NodeKind::Comment(text) => {
                    xml.push_str("<!--");
                    xml.push_str(&remove_invalid_xml_characters(&text.replace('-', "\u{2010}")));
                    xml.push_str("-->");
                }
                NodeKind::Element { name, attributes } => {
                    let name = element_name(&name.local);
                    xml.push('<');
                    xml.push_str(&name);
                    for Attribute { name, value } in
                        attributes.iter().filter(|attribute| is_xml_name(&attribute.name.local))
                    {
                        xml.push(' ');
                        xml.push_str(&name.local);
                        xml.push_str("=\"");
                        push_escaped(&mut xml, value);
                        xml.push('"');
                    }
                    xml.push('>');
                    pending_tags.push(PendingTag::Close(name));
                }
            }
            pending_tags.extend(node.children.iter().rev().map(|&child| PendingTag::Open(child)));
        }
        xml
    }
}

fn is_xml_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name != "xmlns"
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

/// Returns the name of an element, with `_` for what XML does not allow in it.
fn element_name(name: &str) -> String {
    if is_xml_name(name) {
        return name.to_owned();
    }
    let to_allowed_char = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '.') { c } else { '_' };
    format!("_{}", name.chars().map(to_allowed_char).collect::<String>())
}

/// Returns `text` without the characters that XML does not allow.
fn remove_invalid_xml_characters(text: &str) -> String {
    let is_allowed =
        |c: &char| matches!(c, '\t' | '\n' | '\r') || *c >= ' ' && !matches!(c, '\u{fffe}' | '\u{ffff}');
    text.chars().filter(is_allowed).collect()
}

fn push_escaped(xml: &mut String, text: &str) {
    for character in remove_invalid_xml_characters(text).chars() {
        match character {
            '<' => xml.push_str("&lt;"),
            '>' => xml.push_str("&gt;"),
            '&' => xml.push_str("&amp;"),
            '"' => xml.push_str("&quot;"),
            // Attributes would lose them otherwise.
            '\n' => xml.push_str("&#10;"),
            '\r' => xml.push_str("&#13;"),
            '\t' => xml.push_str("&#9;"),
            other => xml.push(other),
        }
    }
}

impl TreeSink for PageTree {
    type Handle = usize;
    type Output = Self;
    type ElemName<'a> = ElementName;

    fn finish(self) -> Self {
        self
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> usize {
        DOCUMENT_INDEX
    }

    fn elem_name<'a>(&'a self, target: &'a usize) -> ElementName {
        match &self.nodes.borrow()[*target].kind {
            NodeKind::Element { name, .. } => ElementName(name.clone()),
            // The parser asks for elements alone.
            _ => ElementName(QualName::new(None, Namespace::from(""), LocalName::from(""))),
        }
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, _: ElementFlags) -> usize {
        self.create(NodeKind::Element { name, attributes })
    }

    fn create_comment(&self, text: StrTendril) -> usize {
        self.create(NodeKind::Comment(text))
    }

    fn create_pi(&self, _: StrTendril, data: StrTendril) -> usize {
        self.create(NodeKind::Comment(data))
    }

    fn append(&self, parent: &usize, child: NodeOrText<usize>) {
        let child = self.node_or_new_text_node(child);
        // XML has no text outside of the root element.
        let is_text = matches!(self.nodes.borrow()[child].kind, NodeKind::Text(_));
        if *parent != DOCUMENT_INDEX || !is_text {
            self.insert(*parent, child, None);
        }
    }

    fn append_based_on_parent_node(&self, element: &usize, previous: &usize, child: NodeOrText<usize>) {
        if self.nodes.borrow()[*element].parent.is_some() {
            self.append_before_sibling(element, child);
        } else {
            self.append(previous, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &usize) -> usize {
        *target
    }

    fn same_node(&self, left: &usize, right: &usize) -> bool {
        left == right
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &usize, new_node: NodeOrText<usize>) {
        let child = self.node_or_new_text_node(new_node);
        self.remove_from_parent(&child);
        let (parent, position) = {
            let nodes = self.nodes.borrow();
            let Some(parent) = nodes[*sibling].parent else { return };
            let position = nodes[parent].children.iter().rposition(|other| other == sibling);
            (parent, position)
        };
        self.insert(parent, child, position);
    }

    fn add_attrs_if_missing(&self, target: &usize, new_attributes: Vec<Attribute>) {
        if let NodeKind::Element { attributes, .. } = &mut self.nodes.borrow_mut()[*target].kind {
            for attribute in new_attributes {
                if !attributes.iter().any(|existing| existing.name == attribute.name) {
                    attributes.push(attribute);
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &usize) {
        let mut nodes = self.nodes.borrow_mut();
        let Some(parent) = nodes[*target].parent.take() else { return };
        let children = &mut nodes[parent].children;
        if let Some(position) = children.iter().rposition(|child| child == target) {
            children.remove(position);
        }
    }

    fn reparent_children(&self, node: &usize, new_parent: &usize) {
        let children = std::mem::take(&mut self.nodes.borrow_mut()[*node].children);
        for child in children {
            self.insert(*new_parent, child, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::document::XmlDocument;
    use super::*;
    use crate::evaluate::xpath::XPathResult;
    use crate::syntax::path_expression::parse_xpath;

    fn select(html: &str, path: &str) -> Result<Vec<String>, String> {
        let page = LazyPageXml::default();
        let document = XmlDocument::parse(page.to_xml(html)?)?;
        Ok(match document.select(&parse_xpath(path).unwrap(), &Cell::new(1_000_000))? {
            XPathResult::Nodes(nodes) => nodes.iter().map(|node| node.text().into_owned()).collect(),
            XPathResult::Text(text) => vec![text],
        })
    }

    #[test]
    fn a_page_is_read_as_browsers_read_it() {
        let page = "\u{feff}<!DOCTYPE html><title>Shop &amp; more</title><body class=big><p id=a>one<p id=b>two<br>three\
            <table><tr><td>1<td>2<tr><td colspan=2>3</table><script>if (a < b && c) { document.write('<h1>no</h1>'); }</script>\
            <ul><li>x<li>y</ul><img src=a.png alt='a \"b\"'><input disabled @click=go x:y=1><!-- a -- b --><H2>Big&nbsp;one</H2>";
        for (path, expected) in [
            ("//title", &["Shop & more"][..]),
            ("/html/head/title", &["Shop & more"]),
            ("//p", &["one", "twothree"]),
            ("//p[@id='b']/br", &[""]),
            ("count(//table/tbody/tr)", &["2"]),
            ("//td[@colspan]", &["3"]),
            ("//h1", &[]),
            ("//li", &["x", "y"]),
            ("//img/@alt", &["a \"b\""]),
            ("//body/@class", &["big"]),
            ("//input/@disabled", &[""]),
            ("//h2", &["Big\u{a0}one"]),
        ] {
            assert_eq!(select(page, path).unwrap(), expected, "{path}");
        }
        assert_eq!(select("", "count(//body)").unwrap(), ["1"]);
        assert_eq!(select("<x:y>1</x:y>\u{1}&#1;", "//_x_y").unwrap(), ["1"]);
    }

    #[test]
    fn hostile_pages_are_bounded() {
        let started = std::time::Instant::now();
        let formatting = (0..4000).map(|n| format!("<b a={n}><p>")).collect::<Vec<_>>().concat();
        for html in ["<div>".repeat(100_000), formatting, "<br>".repeat(300_000)] {
            assert!(select(&html, "//x").is_err(), "{}", &html[..20]);
        }
        // It moves all of these out of the tables, and is not deep.
        assert!(select(&"<table><b>".repeat(20_000), "//x").is_ok());
        assert!(select(&"<a>".repeat(100_000), "//x").is_ok());
        assert!(select(&"x".repeat(MAX_BYTES + 1), "//x").is_err());
        assert!(started.elapsed() < std::time::Duration::from_secs(20), "{:?}", started.elapsed());
    }

    proptest::proptest! {
        #[test]
        fn any_text_becomes_xml(html in "[<>/a-z!=\"' &;#0-9:\u{0}-\u{20}-]{0,300}") {
            proptest::prop_assert!(select(&html, "//body").is_ok(), "{html}");
        }
    }
}
