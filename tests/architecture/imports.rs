//! Which file of a crate imports what from which other: paths resolved as the compiler does, through `super`, renames,
//! re-exports and `*`.

use std::collections::{BTreeMap, BTreeSet};

use super::modules::Modules;

/// Re-exports of re-exports are followed this far.
const DEPTH: usize = 16;

/// Where a path leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The module that defines the item, or is meant itself.
    pub module: Vec<String>,
    /// The item; `None` for the module itself.
    pub item: Option<String>,
    /// Whether it was named through an import of another module.
    pub through: Option<Vec<String>>,
}

/// One import, resolved.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The module that imports.
    pub from: Vec<String>,
    /// The path as it is written.
    pub written: String,
    pub target: Target,
    pub in_tests: bool,
    /// Passed on to others (`pub use`).
    pub public: bool,
}

impl Modules {
    /// Every import of the crate from itself, in `use` and in paths, once per module and path.
    pub fn edges(&self) -> Vec<Edge> {
        let mut edges = Vec::new();
        for (from, module) in &self.by_path {
            let mut seen = BTreeSet::new();
            let mut add = |path: &[String], in_tests, public, targets: Vec<Target>| {
                let written = path.join("::");
                if seen.insert((written.clone(), in_tests, public)) {
                    edges.extend(targets.into_iter().map(|target| Edge {
                        from: from.clone(),
                        written: written.clone(),
                        target,
                        in_tests,
                        public,
                    }));
                }
            };
            for import in &module.imports {
                let mut targets: Vec<_> = self.resolve(from, &import.path).into_iter().collect();
                if import.alias.is_none() {
                    let globbed: Vec<_> = targets.iter().flat_map(|target| self.offered(target)).collect();
                    targets.extend(globbed);
                }
                add(&import.path, import.in_tests, import.public, targets);
            }
            for named in &module.named {
                let targets = self.resolve(from, &named.path).into_iter().collect();
                add(&named.path, named.in_tests, false, targets);
            }
        }
        edges
    }

    /// What `use target::*` brings beside the items of `target` itself.
    fn offered(&self, target: &Target) -> Vec<Target> {
        let Some(module) = self.by_path.get(&target.module).filter(|_| target.item.is_none()) else {
            return vec![];
        };
        let public = module.imports.iter().filter(|import| import.public);
        public.filter_map(|import| self.resolve(&target.module, &import.path)).collect()
    }

    /// Where `path`, as written in module `from`, leads within this crate; `None` for other crates.
    pub fn resolve(&self, from: &[String], path: &[String]) -> Option<Target> {
        self.resolve_at(from, path, 0)
    }

    fn resolve_at(&self, from: &[String], path: &[String], depth: usize) -> Option<Target> {
        if depth > DEPTH {
            return None;
        }
        let mut module = from.to_vec();
        let mut through = None;
        let mut climbs = true;
        for (at, part) in path.iter().enumerate() {
            let first = at == 0;
            match part.as_str() {
                "crate" if first => module.clear(),
                "vigie" if first && from.first().is_some_and(|name| name == "main") => module.clear(),
                "self" if first => {}
                "super" if climbs => {
                    module.pop()?;
                }
                part => {
                    climbs = false;
                    let last = at + 1 == path.len();
                    let Some(found) = self.look_up(&module, part, last, depth) else {
                        // An item that a macro makes, perhaps.
                        return (!first).then_some(Target { module, item: None, through });
                    };
                    if let Some(item) = found.item {
                        return Some(Target {
                            item: Some(item),
                            through: found.through.or(through),
                            ..found
                        });
                    }
                    through = found.through.or(through);
                    module = found.module;
                }
            }
        }
        Some(Target { module, item: None, through })
    }

    /// What `name` means in `module`. Where it is both, the last part of a path means the item, others the module.
    fn look_up(&self, module: &[String], name: &str, last: bool, depth: usize) -> Option<Target> {
        let found = self.by_path.get(module)?;
        let mut child = module.to_vec();
        child.push(name.to_owned());
        let as_module =
            || self.has(&child).then(|| Target { module: child.clone(), item: None, through: None });
        let as_item = || {
            let item = found.items.iter().find(|item| *item == name)?;
            Some(Target { module: module.to_vec(), item: Some(item.clone()), through: None })
        };
        let as_import = || {
            let same = found.imports.iter().filter(|import| import.alias.as_deref() == Some(name));
            let targets = same.filter_map(|import| self.resolve_at(module, &import.path, depth + 1));
            let target = targets.reduce(|one, other| if one.item.is_some() == last { one } else { other })?;
            // A name that is a module too, as in `mod page; pub use page::page;`, may mean that one.
            let through = (!self.has(&child)).then(|| module.to_vec());
            Some(Target { through, ..target })
        };
        let as_glob = || {
            found.imports.iter().filter(|import| import.alias.is_none()).find_map(|import| {
                let target = self.resolve_at(module, &import.path, depth + 1)?;
                let same = target.item.is_none() && target.module == module;
                let inner = if same { None } else { self.look_up(&target.module, name, last, depth + 1) }?;
                Some(Target { through: Some(module.to_vec()), ..inner })
            })
        };
        if depth > DEPTH {
            None
        } else if last {
            as_item().or_else(as_import).or_else(as_module).or_else(as_glob)
        } else {
            as_module().or_else(as_item).or_else(as_import).or_else(as_glob)
        }
    }

    /// The circles of imports between files, each as the files on its shortest way round with what leads on. Tests do
    /// not count, nor does what a `mod.rs` passes on: who names it imports from the file that defines it.
    pub fn circles(&self) -> Vec<Vec<(String, String)>> {
        let mut graph: BTreeMap<&str, BTreeMap<&str, String>> = BTreeMap::new();
        let edges = self.edges();
        for edge in edges.iter().filter(|edge| !edge.in_tests) {
            let file = self.by_path[&edge.from].file.as_str();
            let target = self.by_path[&edge.target.module].file.as_str();
            let passed_on = edge.public && (file.ends_with("/mod.rs") || file == "src/lib.rs");
            if file != target && !passed_on {
                graph.entry(file).or_default().entry(target).or_insert_with(|| edge.written.clone());
            }
        }
        let mut circles = Vec::new();
        let mut done = BTreeSet::new();
        for start in graph.keys() {
            if let Some(way) =
                way_round(&graph, start).filter(|way| way.iter().all(|file| !done.contains(file)))
            {
                done.extend(way.iter().copied());
                let next = way.iter().cycle().skip(1);
                let step = |(file, next): (&&str, &&str)| ((*file).to_owned(), graph[*file][*next].clone());
                circles.push(way.iter().zip(next).map(step).collect());
            }
        }
        circles
    }
}

/// The shortest way from `start` back to it.
fn way_round<'a>(
    graph: &BTreeMap<&'a str, BTreeMap<&'a str, String>>,
    start: &&'a str,
) -> Option<Vec<&'a str>> {
    let mut before: BTreeMap<&str, &str> = BTreeMap::new();
    let mut turn = vec![*start];
    while !turn.is_empty() {
        let mut next = Vec::new();
        for file in turn {
            for target in graph.get(file).into_iter().flat_map(BTreeMap::keys) {
                if target == start {
                    let mut way = vec![file];
                    while let Some(previous) =
                        way.last().filter(|file| *file != start).map(|file| before[*file])
                    {
                        way.push(previous);
                    }
                    way.reverse();
                    return Some(way);
                }
                if !before.contains_key(target) {
                    before.insert(*target, file);
                    next.push(*target);
                }
            }
        }
        turn = next;
    }
    None
}
