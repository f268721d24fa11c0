//! The secrets that the test plants: each place of the schema has one of its own.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use serde_json::Value;
use vigie::domain::MonitorType;
use vigie::schema::field::{FieldTable, FieldType};
use vigie::schema::table::{self, sub_objects};

/// Stands in a template for a secret of its own.
pub const PLACEHOLDER: &str = "{secret}";

/// All secrets that are planted, by the place that they are planted in.
#[derive(Default)]
pub struct Plants {
    by_place: BTreeMap<String, Vec<String>>,
}

impl Plants {
    /// Returns a new secret for `place`.
    pub fn plant(&mut self, place: &str) -> String {
        let number: usize = self.by_place.values().map(Vec::len).sum();
        // The number comes first, so that no secret is the beginning of another one.
        self.add(place, &format!("z{number:03}x-pl4nted/s3cret"))
    }

    /// Adds a secret that is there already.
    pub fn add(&mut self, place: &str, secret: &str) -> String {
        self.by_place.entry(place.to_owned()).or_default().push(secret.to_owned());
        secret.to_owned()
    }

    /// Replaces each placeholder in `value`. Its place is that of its field: `place`, and the names down to it. Returns
    /// the secrets.
    pub fn plant_in(&mut self, place: &str, value: &mut Value) -> Vec<String> {
        match value {
            Value::Object(object) => object
                .iter_mut()
                .flat_map(|(name, value)| self.plant_in(&format!("{place}.{name}"), value))
                .collect(),
            Value::Array(items) => items.iter_mut().flat_map(|item| self.plant_in(place, item)).collect(),
            Value::String(text) => {
                let mut secrets = Vec::new();
                while text.contains(PLACEHOLDER) {
                    let secret = self.plant(place);
                    *text = text.replacen(PLACEHOLDER, &secret, 1);
                    secrets.push(secret);
                }
                secrets
            }
            _ => Vec::new(),
        }
    }

    pub fn has(&self, place: &str) -> bool {
        self.by_place.contains_key(place)
    }

    /// Returns those of monitors alone: messages go to recipients with their own secrets.
    pub fn of_monitors(&self) -> Self {
        let is_type = |place: &str| MonitorType::from_name(place.split('.').next().unwrap()).is_some();
        let by_place = self.by_place.iter().filter(|(place, _)| is_type(place));
        Self { by_place: by_place.map(|(place, secrets)| (place.clone(), secrets.clone())).collect() }
    }

    /// Returns what finds the secrets in texts and files.
    pub fn finder(&self) -> Finder {
        let mut forms = Vec::new();
        for (place, secrets) in &self.by_place {
            for secret in secrets {
                // Whatever encodes the slash, and whatever truncates the rest. A random key may begin with a slash.
                let pieces = || secret.split('/');
                let start = pieces().next().filter(|start| start.len() >= 8);
                let piece = start.or_else(|| pieces().max_by_key(|piece| piece.len())).unwrap();
                forms.push((piece.to_owned(), place.clone()));
                forms.extend(base64_forms(secret).into_iter().map(|form| (form, place.clone())));
            }
        }
        let patterns = forms.iter().map(|(form, _)| form.as_bytes());
        Finder { automaton: aho_corasick::AhoCorasick::new(patterns).unwrap(), forms }
    }
}

/// Returns Base64 of `secret` at each of the three positions in a longer text, without the characters that depend on
/// its neighbours.
fn base64_forms(secret: &str) -> BTreeSet<String> {
    let encode = |engine: &base64::engine::GeneralPurpose, before: usize| {
        let padded = [&vec![0; before], secret.as_bytes()].concat();
        let encoded = engine.encode(&padded);
        encoded[[0, 2, 3][before]..padded.len() * 8 / 6].to_owned()
    };
    (0..3).flat_map(|before| [encode(&STANDARD, before), encode(&URL_SAFE, before)]).collect()
}

/// Finds secrets in any of their forms.
pub struct Finder {
    automaton: aho_corasick::AhoCorasick,
    forms: Vec<(String, String)>,
}

impl Finder {
    /// Returns the place of each secret in `bytes`, with what stands around it.
    pub fn find(&self, bytes: &[u8]) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        for hit in self.automaton.find_iter(bytes) {
            let (from, to) = (hit.start().saturating_sub(120), (hit.end() + 120).min(bytes.len()));
            let context = String::from_utf8_lossy(&bytes[from..to]).into_owned();
            found.entry(self.forms[hit.pattern().as_usize()].1.clone()).or_insert(context);
        }
        found
    }
}

/// Returns the places of the secrets that `kind` can have: secret fields, and URLs, scripts and headers, which may
/// contain some.
pub fn secret_places(kind: MonitorType) -> BTreeSet<String> {
    let mut places = BTreeSet::new();
    collect_places(table::for_type(kind), kind.name(), &mut places);
    places
}

fn collect_places(table: &'static FieldTable, place: &str, places: &mut BTreeSet<String>) {
    if std::ptr::eq(table, &raw const sub_objects::HEADER) {
        places.insert(format!("{place}.value"));
    }
    for field in table.fields().iter().filter(|field| field.is_settable()) {
        let place = format!("{place}.{}", field.name);
        match &field.field_type {
            _ if field.secret || field.embedded_secrets().is_some() || field.is_url() => {
                let _ = places.insert(place);
            }
            FieldType::Object(table) | FieldType::List { item_type: FieldType::Object(table), .. } => {
                collect_places(table, &place, places);
            }
            _ => {}
        }
    }
}
