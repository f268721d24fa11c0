//! Which file of a crate imports what from which other file. Paths are resolved as by the compiler: `super`, renames,
//! re-exports and `*`.

use std::collections::{BTreeMap, BTreeSet};

use super::modules::Modules;

/// Maximum depth to which re-exports are followed.
const DEPTH: usize = 16;

/// What a path refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The module that defines the item, or the module itself if the path names one.
    pub module: Vec<String>,
    /// The item; `None` for the module itself.
    pub item: Option<String>,
    /// The module whose import the path goes through, if any.
    pub through: Option<Vec<String>>,
}

/// One import, resolved.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The module that imports.
    pub from: Vec<String>,
    /// The path as written.
    pub written: String,
    pub target: Target,
    pub in_tests: bool,
    /// Whether the import is a re-export (`pub use`).
    pub public: bool,
}

impl Modules {
    /// Returns every import of the crate from itself, in `use` and in paths, once per module and path.
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
                    let glob_targets: Vec<_> =
                        targets.iter().flat_map(|target| self.glob_targets(target)).collect();
                    targets.extend(glob_targets);
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

    /// Returns what `use target::*` imports besides the items of `target` itself.
    fn glob_targets(&self, target: &Target) -> Vec<Target> {
        let Some(module) = self.by_path.get(&target.module).filter(|_| target.item.is_none()) else {
            return vec![];
        };
        let public = module.imports.iter().filter(|import| import.public);
        public.filter_map(|import| self.resolve(&target.module, &import.path)).collect()
    }

    /// Resolves `path`, as written in module `from`; `None` for paths to other crates.
    pub fn resolve(&self, from: &[String], path: &[String]) -> Option<Target> {
        self.resolve_at(from, path, 0)
    }

    fn resolve_at(&self, from: &[String], path: &[String], depth: usize) -> Option<Target> {
        if depth > DEPTH {
            return None;
        }
        let mut module = from.to_vec();
        let mut through = None;
        let mut may_climb = true;
        for (at, part) in path.iter().enumerate() {
            let first = at == 0;
            match part.as_str() {
                "crate" if first => module.clear(),
                "vigie" if first && from.first().is_some_and(|name| name == "main") => module.clear(),
                "self" if first => {}
                "super" if may_climb => {
                    module.pop()?;
                }
                part => {
                    may_climb = false;
                    let last = at + 1 == path.len();
                    let Some(found) = self.look_up(&module, part, last, depth) else {
                        // Possibly an item defined by a macro.
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

    /// Resolves `name` in `module`. If it is both, it is the item in the last part of a path and the module otherwise.
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
            // A name that is a module too, as in `mod page; pub use page::page;`, may mean the module.
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

    /// Returns the import cycles between files, each as the files on the shortest cycle with the path of their next
    /// import. Tests do not count, nor do re-exports of a `mod.rs`: whoever uses them imports from the defining file.
    pub fn cycles(&self) -> Vec<Vec<(String, String)>> {
        let mut graph: BTreeMap<&str, BTreeMap<&str, String>> = BTreeMap::new();
        let edges = self.edges();
        for edge in edges.iter().filter(|edge| !edge.in_tests) {
            let file = self.by_path[&edge.from].file.as_str();
            let target = self.by_path[&edge.target.module].file.as_str();
            let re_exported = edge.public && (file.ends_with("/mod.rs") || file == "src/lib.rs");
            if file != target && !re_exported {
                graph.entry(file).or_default().entry(target).or_insert_with(|| edge.written.clone());
            }
        }
        let mut cycles = Vec::new();
        let mut done = BTreeSet::new();
        for start in graph.keys() {
            if let Some(cycle) =
                shortest_cycle(&graph, start).filter(|cycle| cycle.iter().all(|file| !done.contains(file)))
            {
                done.extend(cycle.iter().copied());
                let next = cycle.iter().cycle().skip(1);
                let step = |(file, next): (&&str, &&str)| ((*file).to_owned(), graph[*file][*next].clone());
                cycles.push(cycle.iter().zip(next).map(step).collect());
            }
        }
        cycles
    }
}

/// Returns the shortest cycle through `start`.
fn shortest_cycle<'a>(
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
                    let mut cycle = vec![file];
                    while let Some(previous) =
                        cycle.last().filter(|file| *file != start).map(|file| before[*file])
                    {
                        cycle.push(previous);
                    }
                    cycle.reverse();
                    return Some(cycle);
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
