//! The most work that the evaluation of a document by a schema can take, counted without evaluating it.
//!
//! For each value of the document it is known which subschemas are applied to it, and how often: a subschema that is
//! reached in several ways is applied once for each. These numbers are added up instead of making the evaluations, so
//! that the count takes a time of document times schema even where the evaluation takes one of 2 to the depth.

use std::collections::BTreeMap;

use serde_json::Value;

use super::graph::{SchemaGraph, SchemaIndex, SubschemaNode};
use super::keywords::compared_size;

/// Maximum number of nested evaluations: each takes some stack.
const MAX_NESTING: u32 = 600;
/// Length of a text whose characters are counted in one unit.
const CHARS_PER_UNIT: u64 = 4096;
/// Length of a text times the size of a pattern that is searched in one unit.
const PATTERN_BYTES_PER_UNIT: u64 = 6400;
/// Number of pairs of lists or objects that are compared in one unit.
const PAIRS_PER_UNIT: u64 = 16;

/// The work of an evaluation, in units of some 50 ns at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct EvaluationCost {
    /// All of it.
    pub(super) total: u64,
    /// That of collecting the errors under alternatives.
    pub(super) detail: u64,
}

/// How a subschema is applied to a value.
#[derive(Clone, Copy)]
struct Application {
    /// How often it is applied.
    count: u64,
    /// Number of evaluations around it.
    nesting: u32,
    /// Number of alternatives around it.
    alternatives: u32,
}

impl Application {
    /// Returns how a subschema of this one is applied; `is_alternative` for one of `anyOf` or `oneOf`.
    const fn inner(self, is_alternative: bool) -> Self {
        let alternatives = self.alternatives + is_alternative as u32;
        Self { nesting: self.nesting + 1, alternatives, ..self }
    }
}

/// The subschemas that are applied to one value.
type Applications = BTreeMap<SchemaIndex, Application>;

/// An estimation in progress.
pub(super) struct CostEstimation<'s> {
    graph: &'s SchemaGraph,
    cost: EvaluationCost,
    budget: u64,
}

impl<'s> CostEstimation<'s> {
    /// Returns the most work that the evaluation of `value` can take; `None` when that is more than `budget`, or needs
    /// too much stack.
    pub(super) fn estimate(graph: &'s SchemaGraph, value: &Value, budget: u64) -> Option<EvaluationCost> {
        let mut estimation = Self { graph, cost: EvaluationCost::default(), budget };
        let once = Application { count: 1, nesting: 1, alternatives: 0 };
        estimation.visit(value, Applications::from([(graph.root(), once)]))?;
        Some(estimation.cost)
    }

    /// Adds the cost of `pending` on `value` and on what is in it; `None` beyond the budget, like all methods here.
    fn visit(&mut self, value: &Value, mut pending: Applications) -> Option<()> {
        let mut applied = Vec::new();
        // What a subschema applies in place has a smaller index, so it is complete when it is taken.
        while let Some((index, application)) = pending.pop_last() {
            let node = self.graph.node(index);
            self.add_node_cost(node, application, value)?;
            for (target, is_alternative) in &node.in_place {
                self.apply(&mut pending, *target, application.inner(*is_alternative))?;
            }
            applied.push((node, application));
        }
        match value {
            Value::Array(items) => self.visit_items(items, &applied),
            Value::Object(members) => {
                for (name, member) in members {
                    self.visit_member(name, member, &applied)?;
                }
                Some(())
            }
            _ => Some(()),
        }
    }

    fn visit_items(&mut self, items: &[Value], applied: &[(&SubschemaNode, Application)]) -> Option<()> {
        for (index, item) in items.iter().enumerate() {
            let mut inner_applications = Applications::new();
            for (node, application) in applied {
                let item_schema = node.prefix_items.get(index).or(node.items.as_ref());
                for target in item_schema.into_iter().chain(&node.contains) {
                    self.apply(&mut inner_applications, *target, application.inner(false))?;
                }
            }
            if !inner_applications.is_empty() {
                self.visit(item, inner_applications)?;
            }
        }
        Some(())
    }

    fn visit_member(
        &mut self,
        name: &str,
        member: &Value,
        applied: &[(&SubschemaNode, Application)],
    ) -> Option<()> {
        let (mut inner_applications, mut name_applications) = (Applications::new(), Applications::new());
        for (node, application) in applied {
            let named = node.properties.get(name);
            let additional = node.additional_properties.as_ref().filter(|_| named.is_none());
            for target in named.into_iter().chain(&node.pattern_properties).chain(additional) {
                self.apply(&mut inner_applications, *target, application.inner(false))?;
            }
            if let Some(target) = node.property_names {
                self.apply(&mut name_applications, target, application.inner(false))?;
            }
        }
        if !name_applications.is_empty() {
            self.visit(&Value::from(name), name_applications)?;
        }
        if inner_applications.is_empty() { Some(()) } else { self.visit(member, inner_applications) }
    }

    /// Adds an application of `target`; counting it takes a unit too.
    fn apply(
        &mut self,
        applications: &mut Applications,
        target: SchemaIndex,
        application: Application,
    ) -> Option<()> {
        applications
            .entry(target)
            .and_modify(|existing| {
                existing.count = existing.count.saturating_add(application.count);
                existing.nesting = existing.nesting.max(application.nesting);
                existing.alternatives = existing.alternatives.max(application.alternatives);
            })
            .or_insert(application);
        self.consume_budget(1)
    }

    fn add_node_cost(&mut self, node: &SubschemaNode, application: Application, value: &Value) -> Option<()> {
        if application.nesting > MAX_NESTING {
            return None;
        }
        let units =
            node.keyword_cost.saturating_add(value_cost(node, value)).saturating_mul(application.count);
        if application.alternatives > 0 {
            let times = u64::from(application.alternatives) + 1;
            self.cost.detail = self.cost.detail.saturating_add(units.saturating_mul(times));
        }
        self.consume_budget(units)
    }

    fn consume_budget(&mut self, units: u64) -> Option<()> {
        self.cost.total = self.cost.total.saturating_add(units);
        (self.cost.total <= self.budget).then_some(())
    }
}

/// Returns the work that depends on the size of the value, without that of its parts.
fn value_cost(node: &SubschemaNode, value: &Value) -> u64 {
    let search_cost = |text: &str, pattern_bytes: u64| {
        (text.len() as u64).saturating_mul(pattern_bytes) / PATTERN_BYTES_PER_UNIT
    };
    match value {
        Value::String(text) => {
            (text.len() as u64 / CHARS_PER_UNIT).saturating_add(search_cost(text, node.pattern_bytes))
        }
        Value::Array(items) if node.has_unique_items => {
            let count = items.len() as u64;
            let is_flat = !items.iter().any(|item| item.is_array() || item.is_object());
            // The hashes of lists do not tell `[[1], 2]` from `[1, [2]]`: at worst all pairs are compared.
            let pairs = if is_flat { 0 } else { count.saturating_mul(count) / PAIRS_PER_UNIT };
            pairs.saturating_add(compared_size(value))
        }
        Value::Object(members) if node.name_pattern_bytes > 0 => {
            members.keys().map(|name| 1 + search_cost(name, node.name_pattern_bytes)).sum()
        }
        _ => 0,
    }
}
