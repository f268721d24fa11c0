//! Checks the words in names of `src/`: the name of every item, field and variable is split into words, and none may be
//! one of the metaphors that the glossary replaced (`vigie help glossary`).
#![allow(clippy::expect_used, clippy::panic, missing_docs)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};

/// Words that no name may contain, each with its replacement.
const BANNED: &[(&str, &str)] = &[
    ("abrupt", "reset"),
    ("addressee", "destination"),
    ("agenda", "run queue"),
    ("aim", "target"),
    ("alarm", "alert"),
    ("alarms", "alerts"),
    ("apart", "quarantined"),
    ("begun", "started"),
    ("bell", "wakeup"),
    ("bench", "context"),
    ("blame", "faults"),
    ("brought", "dynamic"),
    ("carried", "transferred"),
    ("carrier", "converter"),
    ("company", "flush interval"),
    ("courier", "message sender, delivery worker"),
    ("course", "details"),
    ("crowd", "connection limiter"),
    ("deed", "interaction"),
    ("deeds", "interactions"),
    ("desk", "services, worker, driver"),
    ("door", "handle"),
    ("doors", "handles"),
    ("dress", "prepare"),
    ("dressed", "with headers"),
    ("drought", "no data"),
    ("errand", "request"),
    ("errands", "requests"),
    ("excuse", "mark own fault"),
    ("excused", "own fault"),
    ("finds", "queue"),
    ("fleet", "monitors"),
    ("forsaken", "orphaned"),
    ("furnish", "prepare"),
    ("guest", "permit"),
    ("guise", "emulation"),
    ("happening", "input"),
    ("hear", "receive"),
    ("heard", "received"),
    ("hears", "receives"),
    ("heart", "liveness"),
    ("house", "pool"),
    ("houses", "pools"),
    ("journal", "network log"),
    ("journey", "request chain"),
    ("keeper", "browser process"),
    ("landed", "outcome"),
    ("landing", "task outcome"),
    ("lane", "queue"),
    ("lanes", "queues"),
    ("lookout", "alert engine"),
    ("looks", "inspects"),
    ("made", "created"),
    ("news", "changes"),
    ("noted", "recorded"),
    ("outpost", "location agent"),
    ("owed", "pending"),
    ("owing", "pending"),
    ("patience", "timeout, budget"),
    ("pulse", "stall detector"),
    ("ring", "wake"),
    ("roster", "monitor cache"),
    ("said", "response, reply"),
    ("scene", "validation"),
    ("seat", "permit"),
    ("settling", "resolving"),
    ("shaken", "handshake"),
    ("shaking", "handshake"),
    ("sheet", "change set"),
    ("sieve", "frame limiter"),
    ("situation", "health"),
    ("soften", "downgrade"),
    ("spot", "context"),
    ("story", "history"),
    ("stray", "leftover"),
    ("surroundings", "validation context"),
    ("tally", "counter, aggregator"),
    ("tell", "notify, report"),
    ("told", "reported"),
    ("telling", "sensitive"),
    ("tells", "notifies, reports"),
    ("travelled", "trace"),
    ("trial", "on-demand test"),
    ("unsure", "unknown"),
    ("visited", "polled"),
    ("vitals", "liveness"),
    ("watched", "entry"),
    ("wish", "options, query"),
    ("worry", "record failure"),
];

/// Names that may contain a banned word, each with the reason.
const ALLOWED: &[(&str, &str)] = &[("StyleSheet", "the standard term of CSS")];

/// Every name in the sources, with the files that define it.
#[derive(Default)]
struct Names {
    file: String,
    found: BTreeMap<String, BTreeSet<String>>,
}

impl Names {
    fn add(&mut self, name: &syn::Ident) {
        self.found.entry(name.to_string()).or_default().insert(self.file.clone());
    }
}

impl<'ast> Visit<'ast> for Names {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        // Test names are sentences, which are not checked.
        if !item
            .attrs
            .iter()
            .any(|attribute| attribute.path().segments.last().is_some_and(|last| last.ident == "test"))
        {
            self.add(&item.sig.ident);
        }
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.add(&item.sig.ident);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.add(&item.sig.ident);
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.add(&item.ident);
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.add(&item.ident);
        visit::visit_item_enum(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.add(&item.ident);
        visit::visit_item_trait(self, item);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.add(&item.ident);
        visit::visit_item_type(self, item);
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.add(&item.ident);
        visit::visit_item_const(self, item);
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        self.add(&item.ident);
        visit::visit_item_static(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.add(&item.ident);
        visit::visit_item_mod(self, item);
    }

    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        self.add(&variant.ident);
        visit::visit_variant(self, variant);
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        if let Some(name) = &field.ident {
            self.add(name);
        }
        visit::visit_field(self, field);
    }

    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        self.add(&pattern.ident);
        visit::visit_pat_ident(self, pattern);
    }
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries
        .flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

/// Splits `name` into words in lower case: `MAX_HeadBytes2` is max, head, bytes2.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = '_';
    for c in name.chars() {
        if c == '_' || (c.is_uppercase() && before.is_lowercase()) {
            words.push(String::new());
        }
        if c != '_'
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

fn names(root: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut names = Names::default();
    for path in sources(&root.join("src")) {
        let text = fs::read_to_string(&path).expect("a source");
        names.file = path.strip_prefix(root).expect("below the root").display().to_string();
        names.visit_file(&syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", names.file)));
    }
    names.found
}

/// Returns an error for each banned word in `names`.
fn violations(names: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let banned: BTreeMap<_, _> = BANNED.iter().copied().collect();
    let allowed: BTreeMap<_, _> = ALLOWED.iter().copied().collect();
    let mut violations = Vec::new();
    for (name, files) in names.iter().filter(|(name, _)| !allowed.contains_key(name.as_str())) {
        for word in words(name) {
            if let Some(replacement) = banned.get(word.as_str()) {
                violations.push(format!("`{name}` has the word `{word}`, say {replacement}: {files:?}"));
            }
        }
    }
    violations
}

#[test]
fn no_name_contains_a_word_that_the_glossary_replaced() {
    let names = names(Path::new(env!("CARGO_MANIFEST_DIR")));
    assert!(names.len() > 5_000, "only {} names: is the search broken?", names.len());
    let violations = violations(&names);
    assert!(violations.is_empty(), "{} names:\n{}", violations.len(), violations.join("\n"));
}

#[test]
fn every_exception_is_needed() {
    let names = names(Path::new(env!("CARGO_MANIFEST_DIR")));
    for (name, reason) in ALLOWED {
        assert!(names.contains_key(*name) && !reason.is_empty(), "{name} need not be allowed");
    }
}

#[test]
fn names_are_split_into_words_and_banned_ones_are_found() {
    assert_eq!(words("MAX_HEAD_BYTES"), ["max", "head", "bytes"]);
    assert_eq!(words("BrowserHouse2"), ["browser", "house2"]);
    let code = "struct BrowserHouse { roster: u8 } enum E { Guest } mod lane {} fn ring_bell(wish: u8) { let desk = 1; }";
    let mut planted = Names::default();
    planted.visit_file(&syn::parse_str(code).expect("a file"));
    assert_eq!(violations(&planted.found).len(), 8);
}
