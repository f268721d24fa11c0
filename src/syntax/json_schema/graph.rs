//! The subschemas of a schema and how a value gets from one to the next.

use std::collections::HashMap;

use serde_json::Value;

use super::error::JsonSchemaError;
use super::keywords::{Applicator, comparison_cost, subschemas};
use super::references::target_pointer;
use crate::syntax::pattern::{CompiledPattern, HaystackKind};

/// Maximum number of nested subschemas that are applied to the same value.
const MAX_IN_PLACE_DEPTH: u32 = 64;
/// Maximum size of all compiled patterns of a schema, in bytes.
const MAX_TOTAL_PATTERN_BYTES: u64 = 4 * 1024 * 1024;

/// Index of a subschema; that of a subschema is above those that it applies in place.
pub(super) type SchemaIndex = usize;

/// A subschema.
#[derive(Debug, Default)]
pub(super) struct SubschemaNode {
    /// Work of its own keywords for one value, in units.
    pub(super) keyword_cost: u64,
    /// Size of its compiled `pattern`.
    pub(super) pattern_bytes: u64,
    /// Size of the compiled patterns of `patternProperties`.
    pub(super) name_pattern_bytes: u64,
    pub(super) has_unique_items: bool,
    /// Subschemas for the same value, and whether they are alternatives.
    pub(super) in_place: Vec<(SchemaIndex, bool)>,
    pub(super) properties: HashMap<Box<str>, SchemaIndex>,
    pub(super) pattern_properties: Vec<SchemaIndex>,
    pub(super) additional_properties: Option<SchemaIndex>,
    pub(super) property_names: Option<SchemaIndex>,
    pub(super) prefix_items: Vec<SchemaIndex>,
    pub(super) items: Option<SchemaIndex>,
    pub(super) contains: Option<SchemaIndex>,
}

/// All subschemas, in an order in which those that are applied in place come first.
#[derive(Debug)]
pub(super) struct SchemaGraph {
    nodes: Vec<SubschemaNode>,
    root: SchemaIndex,
}

impl SchemaGraph {
    /// Reads a schema whose references are local.
    ///
    /// # Errors
    /// Unknown references, patterns that cannot be used, subschemas that apply themselves to the same value, and too
    /// many of them one in the other.
    pub(super) fn new(schema: &Value) -> Result<Self, JsonSchemaError> {
        let mut reader = GraphReader::default();
        let root = reader.add(String::new(), schema);
        while let Some((index, pointer, subschema)) = reader.pending.pop() {
            reader.read(index, &pointer, subschema)?;
        }
        reader.resolve_references(schema)?;
        let order = reader.order()?;
        Ok(reader.into_graph(root, &order))
    }

    pub(super) fn node(&self, index: SchemaIndex) -> &SubschemaNode {
        &self.nodes[index]
    }

    pub(super) const fn root(&self) -> SchemaIndex {
        self.root
    }
}

/// A graph in progress. Indexes are in the order of reading, until [`Self::into_graph`].
#[derive(Default)]
struct GraphReader<'s> {
    nodes: Vec<SubschemaNode>,
    /// JSON pointer of each node.
    pointers: Vec<String>,
    index_by_pointer: HashMap<String, SchemaIndex>,
    anchors: HashMap<&'s str, SchemaIndex>,
    /// `$ref` of nodes, not resolved yet.
    references: Vec<(SchemaIndex, &'s str)>,
    /// Nodes not read yet, with their JSON pointer and schema.
    pending: Vec<(SchemaIndex, String, &'s Value)>,
    total_pattern_bytes: u64,
}

impl<'s> GraphReader<'s> {
    /// Returns the index of the subschema at `pointer`, which is read later.
    fn add(&mut self, pointer: String, schema: &'s Value) -> SchemaIndex {
        if let Some(index) = self.index_by_pointer.get(&pointer) {
            return *index;
        }
        let index = self.nodes.len();
        self.nodes.push(SubschemaNode { keyword_cost: 1, ..SubschemaNode::default() });
        self.pointers.push(pointer.clone());
        self.index_by_pointer.insert(pointer.clone(), index);
        self.pending.push((index, pointer, schema));
        index
    }

    /// Reads the keywords of the node `index`; adds its subschemas as pending.
    fn read(&mut self, index: SchemaIndex, pointer: &str, schema: &'s Value) -> Result<(), JsonSchemaError> {
        let Value::Object(keywords) = schema else { return Ok(()) };
        let mut node = SubschemaNode { keyword_cost: comparison_cost(keywords), ..SubschemaNode::default() };
        node.has_unique_items = keywords.get("uniqueItems") == Some(&Value::Bool(true));
        if let Some(Value::String(pattern)) = keywords.get("pattern") {
            node.pattern_bytes = self.measure_pattern(&format!("{pointer}/pattern"), pattern)?;
        }
        for subschema in subschemas(keywords, pointer) {
            if subschema.applicator == Applicator::PatternProperty {
                node.name_pattern_bytes += self.measure_pattern(&subschema.pointer, subschema.name)?;
            }
            let target = self.add(subschema.pointer, subschema.schema);
            match subschema.applicator {
                Applicator::InPlace => node.in_place.push((target, false)),
                Applicator::Alternative => node.in_place.push((target, true)),
                Applicator::Property => {
                    node.properties.insert(subschema.name.into(), target);
                }
                Applicator::PatternProperty => node.pattern_properties.push(target),
                Applicator::AdditionalProperties => node.additional_properties = Some(target),
                Applicator::PropertyNames => node.property_names = Some(target),
                Applicator::PrefixItem => node.prefix_items.push(target),
                Applicator::Items => node.items = Some(target),
                Applicator::Contains => node.contains = Some(target),
                Applicator::Definition => {}
            }
        }
        self.nodes[index] = node;
        if let Some(Value::String(anchor)) = keywords.get("$anchor")
            && self.anchors.insert(anchor, index).is_some_and(|other| other != index)
        {
            let message = format!("there is an anchor `{anchor}` already");
            return Err(JsonSchemaError::new(&format!("{pointer}/$anchor"), message));
        }
        if let Some(Value::String(reference)) = keywords.get("$ref") {
            self.references.push((index, reference));
        }
        Ok(())
    }

    /// Compiles `pattern`, adds its size to the total and returns it; fails when the total is too large.
    fn measure_pattern(&mut self, pointer: &str, pattern: &str) -> Result<u64, JsonSchemaError> {
        let compiled = CompiledPattern::new(pattern, HaystackKind::Text).map_err(|error| {
            JsonSchemaError::new(pointer, format!("the regular expression cannot be used: {error}"))
        })?;
        self.total_pattern_bytes += compiled.memory_bytes() as u64;
        if self.total_pattern_bytes > MAX_TOTAL_PATTERN_BYTES {
            let message = format!(
                "the regular expressions take more than the limit of {MAX_TOTAL_PATTERN_BYTES} bytes"
            );
            return Err(JsonSchemaError::new(pointer, message));
        }
        Ok(compiled.memory_bytes() as u64)
    }

    fn resolve_references(&mut self, schema: &'s Value) -> Result<(), JsonSchemaError> {
        while let Some((index, reference)) = self.references.pop() {
            let unknown = |text: &str| {
                JsonSchemaError::new(
                    &format!("{}/$ref", self.pointers[index]),
                    format!("{text} `{reference}`"),
                )
            };
            let target = match target_pointer(reference) {
                Some(pointer) => {
                    let found = schema.pointer(&pointer).ok_or_else(|| unknown("there is nothing at"))?;
                    if !(found.is_object() || found.is_boolean()) {
                        return Err(unknown("there is no schema at"));
                    }
                    self.add(pointer, found)
                }
                None => *self.anchors.get(&reference[1..]).ok_or_else(|| unknown("there is no anchor"))?,
            };
            self.nodes[index].in_place.push((target, false));
            while let Some((index, pointer, subschema)) = self.pending.pop() {
                self.read(index, &pointer, subschema)?;
            }
        }
        Ok(())
    }

    /// Returns the indexes of all nodes: those that are applied in place before those that apply them.
    fn order(&self) -> Result<Vec<SchemaIndex>, JsonSchemaError> {
        let mut order = Vec::with_capacity(self.nodes.len());
        let mut heights = vec![None; self.nodes.len()];
        for index in 0..self.nodes.len() {
            self.visit(index, 0, &mut heights, &mut order)?;
        }
        Ok(order)
    }

    /// Visits what `index` applies in place, and then it; returns how many subschemas are one in the other from it on.
    fn visit(
        &self,
        index: SchemaIndex,
        depth: u32,
        heights: &mut [Option<u32>],
        order: &mut Vec<SchemaIndex>,
    ) -> Result<u32, JsonSchemaError> {
        if let Some(height) = heights[index] {
            // 0 while it is being visited.
            return if height > 0 { Ok(height) } else { Err(self.circle_error(index)) };
        }
        let too_deep = || {
            let message =
                format!("more than {MAX_IN_PLACE_DEPTH} subschemas apply one in the other to the same value");
            JsonSchemaError::new(&self.pointers[index], message)
        };
        if depth >= MAX_IN_PLACE_DEPTH {
            return Err(too_deep());
        }
        heights[index] = Some(0);
        let mut height = 1;
        for (target, _) in &self.nodes[index].in_place {
            height = height.max(1 + self.visit(*target, depth + 1, heights, order)?);
        }
        if height > MAX_IN_PLACE_DEPTH {
            return Err(too_deep());
        }
        heights[index] = Some(height);
        order.push(index);
        Ok(height)
    }

    fn circle_error(&self, index: SchemaIndex) -> JsonSchemaError {
        let message = "the subschema applies itself to the same value without end; a reference back has to be below \
                       `properties`, `items` or another keyword that goes into the document";
        JsonSchemaError::new(&self.pointers[index], message)
    }

    /// Numbers the nodes by their place in `order`.
    fn into_graph(self, root: SchemaIndex, order: &[SchemaIndex]) -> SchemaGraph {
        let mut new_indexes = vec![0; order.len()];
        for (place, index) in order.iter().enumerate() {
            new_indexes[*index] = place;
        }
        let new_index = |index: SchemaIndex| new_indexes[index];
        let mut nodes: Vec<_> = self.nodes.into_iter().map(Some).collect();
        let nodes = order.iter().filter_map(|index| nodes[*index].take());
        let nodes = nodes.map(|node| SubschemaNode {
            in_place: node
                .in_place
                .into_iter()
                .map(|(index, is_alternative)| (new_index(index), is_alternative))
                .collect(),
            properties: node.properties.into_iter().map(|(name, index)| (name, new_index(index))).collect(),
            pattern_properties: node.pattern_properties.into_iter().map(new_index).collect(),
            additional_properties: node.additional_properties.map(new_index),
            property_names: node.property_names.map(new_index),
            prefix_items: node.prefix_items.into_iter().map(new_index).collect(),
            items: node.items.map(new_index),
            contains: node.contains.map(new_index),
            ..node
        });
        SchemaGraph { nodes: nodes.collect(), root: new_index(root) }
    }
}
