//! Reads a crate as the compiler does: its module tree, what each module declares and imports, and the paths that it
//! names. Macros and attributes are read as tokens, attributes including their strings (`with = "a::b"`).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree, Visibility};

/// Source texts by path from the root of the package.
pub type Files = BTreeMap<String, String>;

/// One imported name of a `use`.
#[derive(Debug)]
pub struct Import {
    /// The imported name; `None` for `*`.
    pub alias: Option<String>,
    /// The path, without the `*`.
    pub path: Vec<String>,
    /// Whether it is a re-export.
    pub public: bool,
    /// Whether it is compiled for tests only.
    pub in_tests: bool,
}

/// A path in the code of a module.
#[derive(Debug)]
pub struct NamedPath {
    pub path: Vec<String>,
    pub in_tests: bool,
}

/// One module, inline or in a file of its own.
#[derive(Debug, Default)]
pub struct Module {
    /// Its file; several inline modules share one.
    pub file: String,
    /// Names of its items, modules aside.
    pub items: Vec<String>,
    /// Number of items other than modules and imports, which a `mod.rs` must not have.
    pub logic: usize,
    pub imports: Vec<Import>,
    pub named: Vec<NamedPath>,
}

/// All modules of a crate by path; the path of the root is empty.
#[derive(Debug, Default)]
pub struct Modules {
    pub by_path: BTreeMap<Vec<String>, Module>,
    /// Declarations `mod x;` without a file: a defect of this reader or of its input.
    pub missing: Vec<String>,
}

/// Reads the sources below `src/`.
pub fn files_of(root: &Path) -> Files {
    let mut files = Files::new();
    collect(root, &root.join("src"), &mut files);
    assert!(files.len() > 20, "found only {} sources", files.len());
    files
}

fn collect(root: &Path, folder: &Path, files: &mut Files) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(root, &path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(root).expect("below the root").display().to_string();
            files.insert(name, fs::read_to_string(&path).expect("a source"));
        }
    }
}

impl Modules {
    /// Reads the crate with the root `src/lib.rs`, and `src/main.rs` as its module `main`.
    pub fn read(files: &Files) -> Self {
        let mut modules = Self::default();
        for (file, path) in [("src/lib.rs", vec![]), ("src/main.rs", vec!["main".to_owned()])] {
            if files.contains_key(file) {
                modules.read_file(files, file, "src", path, false);
            }
        }
        modules
    }

    /// Whether `path` is a module.
    pub fn has(&self, path: &[String]) -> bool {
        self.by_path.contains_key(path)
    }

    fn read_file(&mut self, files: &Files, file: &str, folder: &str, path: Vec<String>, in_tests: bool) {
        let parsed = syn::parse_file(&files[file]).unwrap_or_else(|error| panic!("{file}: {error}"));
        let reader = Reader { modules: self, files, file, folder: folder.to_owned(), path, in_tests };
        reader.read(&parsed.items);
    }
}

/// Reads the items of one module.
struct Reader<'a> {
    modules: &'a mut Modules,
    files: &'a Files,
    file: &'a str,
    /// The folder of the files of its child modules.
    folder: String,
    path: Vec<String>,
    in_tests: bool,
}

impl Reader<'_> {
    fn read(self, items: &[Item]) {
        let module = Module { file: self.file.to_owned(), ..Module::default() };
        let mut collector = Collector { module, in_tests: self.in_tests };
        for item in items {
            match item {
                Item::Mod(child) => {
                    let mut path = self.path.clone();
                    path.push(child.ident.to_string());
                    let in_tests = self.in_tests || is_for_tests(&child.attrs);
                    let folder = format!("{}/{}", self.folder, child.ident);
                    if let Some((_, items)) = &child.content {
                        let (files, file) = (self.files, self.file);
                        Reader { modules: &mut *self.modules, files, file, folder, path, in_tests }
                            .read(items);
                    } else if let Some((file, folder)) = self.file_of(child, &folder) {
                        self.modules.read_file(self.files, &file, &folder, path, in_tests);
                    } else {
                        self.modules.missing.push(format!("{}: mod {}", self.file, child.ident));
                    }
                }
                Item::Use(_) => collector.visit_item(item),
                item => {
                    collector.module.items.extend(name_of(item));
                    collector.module.logic += 1;
                    collector.visit_item(item);
                }
            }
        }
        self.modules.by_path.insert(self.path, collector.module);
    }

    /// Returns the file of `mod child;` and the folder of its children.
    fn file_of(&self, child: &syn::ItemMod, folder: &str) -> Option<(String, String)> {
        let named = child.attrs.iter().find(|attribute| attribute.path().is_ident("path"));
        if let Some(value) = named.and_then(|attribute| attribute.meta.require_name_value().ok()) {
            let text = literal(&value.value)?;
            let file = format!("{}/{text}", self.file.rsplit_once('/')?.0);
            let folder = file.rsplit_once('/')?.0.to_owned();
            return self.files.contains_key(&file).then_some((file, folder));
        }
        let found = [format!("{folder}.rs"), format!("{folder}/mod.rs")];
        let file = found.into_iter().find(|file| self.files.contains_key(file))?;
        Some((file, folder.to_owned()))
    }
}

/// Returns the text of a string literal.
fn literal(value: &syn::Expr) -> Option<String> {
    let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = value else { return None };
    Some(text.value())
}

fn name_of(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::TraitAlias(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

/// Whether an item with `attributes` is compiled for tests only.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).any(|attribute| {
        let syn::Meta::List(list) = &attribute.meta else { return false };
        let text = list.tokens.to_string();
        text == "test" || text.starts_with("all (test")
    })
}

/// Collects the imports and paths of one module.
struct Collector {
    module: Module,
    in_tests: bool,
}

impl Collector {
    fn name(&mut self, path: Vec<String>) {
        // A path of one part names an item of the module or one of its imports.
        if path.len() > 1 {
            self.module.named.push(NamedPath { path, in_tests: self.in_tests });
        }
    }

    fn import(&mut self, tree: &UseTree, mut path: Vec<String>, public: bool) {
        let mut push = |alias, path| {
            self.module.imports.push(Import { alias, path, public, in_tests: self.in_tests });
        };
        match tree {
            UseTree::Path(part) => {
                path.push(part.ident.to_string());
                self.import(&part.tree, path, public);
            }
            UseTree::Name(name) if name.ident == "self" => push(path.last().cloned(), path),
            UseTree::Name(name) => {
                path.push(name.ident.to_string());
                push(path.last().cloned(), path);
            }
            UseTree::Rename(name) => {
                if name.ident != "self" {
                    path.push(name.ident.to_string());
                }
                push(Some(name.rename.to_string()), path);
            }
            UseTree::Glob(_) => push(None, path),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(tree, path.clone(), public);
                }
            }
        }
    }

    /// Collects the paths in `tokens`, each prefixed by `prefix`; with `strings`, also those in string literals.
    fn tokens(&mut self, tokens: TokenStream, strings: bool, prefix: &[String]) {
        let mut path = prefix.to_vec();
        // Number of colons after the path so far.
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == ':' => {
                    colons += 1;
                    continue;
                }
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.name(std::mem::replace(&mut path, prefix.to_vec()));
                    }
                    path.push(ident.to_string());
                }
                TokenTree::Group(group) => {
                    // As in `a::{b, c}`.
                    let inner = if colons == 2 { path.clone() } else { vec![] };
                    self.tokens(group.stream(), strings, &inner);
                    self.name(std::mem::replace(&mut path, prefix.to_vec()));
                }
                TokenTree::Literal(literal) if strings => {
                    let text = literal.to_string();
                    let text = text.trim_matches('"');
                    if text.contains("::")
                        && text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == ':')
                    {
                        self.name(text.split("::").map(str::to_owned).collect());
                    }
                }
                _ => self.name(std::mem::replace(&mut path, prefix.to_vec())),
            }
            colons = 0;
        }
        self.name(path);
    }

    fn within(&mut self, attributes: &[Attribute], visit: impl FnOnce(&mut Self)) {
        let before = self.in_tests;
        self.in_tests |= is_for_tests(attributes);
        visit(self);
        self.in_tests = before;
    }
}

impl<'ast> Visit<'ast> for Collector {
    fn visit_item(&mut self, item: &'ast Item) {
        let none: &[Attribute] = &[];
        let attributes = match item {
            Item::Const(item) => &item.attrs,
            Item::Enum(item) => &item.attrs,
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            Item::Macro(item) => &item.attrs,
            Item::Mod(item) => &item.attrs,
            Item::Static(item) => &item.attrs,
            Item::Struct(item) => &item.attrs,
            Item::Trait(item) => &item.attrs,
            Item::Type(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            _ => none,
        };
        self.within(attributes, |this| visit::visit_item(this, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.within(&item.attrs, |this| visit::visit_impl_item_fn(this, item));
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        // A leading `::` names another crate.
        if item.leading_colon.is_none() {
            let public = !matches!(item.vis, Visibility::Inherited);
            self.import(&item.tree, vec![], public);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            self.name(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.visit_path(&item.path);
        self.tokens(item.tokens.clone(), false, &[]);
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        match &attribute.meta {
            syn::Meta::List(list) => self.tokens(list.tokens.clone(), true, &[]),
            syn::Meta::Path(path) => self.visit_path(path),
            // Links in documentation are not imports, and paths of files are not paths of modules.
            syn::Meta::NameValue(_) => {}
        }
    }

    // `pub(in crate::x)` imports nothing.
    fn visit_vis_restricted(&mut self, _: &'ast syn::VisRestricted) {}
}
