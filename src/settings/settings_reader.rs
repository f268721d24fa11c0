//! Reads validated values by path.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::table::SETTINGS;
use super::validate::SettingValues;
use crate::net::{NetConfigError, Pem};
use crate::notify::Secret;
use crate::redaction::redactor::SecretSet;
use crate::schema::reader::SecretSource;
use crate::syntax::node::{Node, Position};
use crate::syntax::{ValidationError, ValidationErrorKind};

/// Checks whether a PEM file is suitable for its purpose.
pub(super) type PemCheck = fn(&Pem) -> Result<(), NetConfigError>;

/// Reads settings: each has the value that was set, or its default.
pub(super) struct SettingsReader<'a> {
    /// The values that were set; those of other settings are the defaults.
    pub(super) values: SettingValues,
    /// The settings file; errors that have a position name it.
    pub(super) file_name: Option<&'a Arc<str>>,
    pub(super) errors: &'a mut Vec<ValidationError>,
    /// The secrets in the files that it has read.
    pub(super) secrets: SecretSet,
}

impl SettingsReader<'_> {
    /// Returns the value of the setting at `path`, or else its default; null without either.
    pub(super) fn node(&self, path: &str) -> &Node {
        self.values.get(path).or_else(|| default_values().get(path)).unwrap_or_else(|| null_node())
    }

    /// Returns a text; empty when it is null.
    pub(super) fn text(&self, path: &str) -> String {
        self.node(path).as_text().unwrap_or_default().to_owned()
    }

    pub(super) fn optional_text(&self, path: &str) -> Option<String> {
        self.node(path).as_text().map(str::to_owned)
    }

    pub(super) fn text_list(&self, path: &str) -> Vec<String> {
        self.node(path).items().iter().filter_map(Node::as_text).map(str::to_owned).collect()
    }

    /// Returns an integer; 0 when it is null.
    pub(super) fn int(&self, path: &str) -> i64 {
        self.node(path).to_json().as_i64().unwrap_or_default()
    }

    pub(super) fn count(&self, path: &str) -> usize {
        usize::try_from(self.int(path)).unwrap_or(usize::MAX)
    }

    pub(super) fn add_error(
        &mut self,
        kind: ValidationErrorKind,
        path: &str,
        position: Position,
        message: String,
    ) {
        let error = ValidationError::new(kind, path, position, message);
        self.errors.push(match self.file_name {
            Some(file) if position.is_known() => error.with_file(file),
            _ => error,
        });
    }

    /// Reads the PEM file that `node` names. `None` when it is unusable, which is reported as an error. Values of a
    /// wrong type are already reported.
    pub(super) fn read_pem(&mut self, path: &str, node: &Node, check: PemCheck) -> Option<Pem> {
        let file = node.as_text()?;
        match Pem::read(Path::new(file)) {
            Ok(pem) => self.report_if_failed(path, node.position, check(&pem)).then_some(pem),
            Err(error) => {
                let message = format!("`{path}`: the file `{file}` cannot be read: {error}");
                self.add_error(ValidationErrorKind::Conflict, path, node.position, message);
                None
            }
        }
    }

    /// Returns whether `result` is ok; its error is reported for the setting at `path`.
    pub(super) fn report_if_failed(
        &mut self,
        path: &str,
        position: Position,
        result: Result<(), NetConfigError>,
    ) -> bool {
        if let Err(error) = &result {
            self.add_error(ValidationErrorKind::Conflict, path, position, format!("`{path}`: {error}"));
        }
        result.is_ok()
    }

    /// Returns the entries of a list of maps with their indexes, and reports duplicate keys.
    pub(super) fn entries_reporting_duplicates(&mut self, path: &str) -> Vec<(usize, Node)> {
        let node = self.node(path).clone();
        let mut seen_keys = BTreeSet::new();
        for (index, item) in node.items().iter().enumerate() {
            let key_field = match path {
                "plans" => "code",
                "mobile.profiles" => "subtype",
                "browser.remote" => "browser",
                "egress.accounts" => "account",
                _ => "id",
            };
            let Some(key) = item.get(key_field) else { continue };
            if !seen_keys.insert(key.to_json().to_string()) {
                let field_path = format!("{path}[{index}].{key_field}");
                self.add_error(
                    ValidationErrorKind::DuplicateField,
                    &field_path,
                    key.position,
                    format!("`{field_path}` is set twice"),
                );
            }
        }
        node.items().iter().cloned().enumerate().collect()
    }

    pub(super) fn is_true(&self, path: &str) -> bool {
        self.node(path).to_json() == serde_json::Value::Bool(true)
    }

    /// Reads the secret file that the setting at `path` names; empty without one.
    pub(super) fn read_password(&mut self, path: &str) -> Secret {
        let node = self.node(path).clone();
        self.read_secret_file(path, &node)
    }

    /// Reads the secret file that `node` at `path` names; empty without one.
    pub(super) fn read_secret_file(&mut self, path: &str, node: &Node) -> Secret {
        let Some(file) = node.as_text() else { return Secret::default() };
        match super::secrets::read_secret(Path::new(""), SecretSource::File(file)) {
            Ok(secret) => {
                self.secrets.add(&secret);
                Secret(secret)
            }
            Err(reason) => {
                self.add_error(
                    ValidationErrorKind::Conflict,
                    path,
                    node.position,
                    format!("`{path}`: {reason}"),
                );
                Secret::default()
            }
        }
    }
}

/// Returns the defaults of the table.
pub(super) fn default_values() -> &'static SettingValues {
    static DEFAULTS: OnceLock<SettingValues> = OnceLock::new();
    DEFAULTS.get_or_init(|| {
        let parse = |default: &str| Node::from_yaml(default).unwrap_or_else(|_| null_node().clone());
        SETTINGS.iter().map(|setting| (setting.path, parse(setting.default))).collect()
    })
}

pub(super) fn null_node() -> &'static Node {
    static NULL: OnceLock<Node> = OnceLock::new();
    NULL.get_or_init(|| Node::from(Value::Null))
}
