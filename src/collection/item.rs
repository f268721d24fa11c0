//! The parts of a collection that a run needs.

use std::sync::Arc;

use serde_json::Value;

use super::unsupported::UnsupportedItem;
use crate::syntax::node::Position;

/// A collection, flattened to its requests.
#[derive(Clone, Debug)]
pub struct Collection {
    /// Its name.
    pub name: String,
    /// Its requests, in the order of a run: as in the file, folders included.
    pub requests: Vec<RequestItem>,
    /// Its variables that are switched on.
    pub variables: Vec<(String, Value)>,
    /// The values of its variables of type secret.
    pub secret_values: Vec<String>,
    /// What this build cannot run, in the order of the file.
    pub unsupported: Vec<UnsupportedItem>,
}

/// A request of a collection.
#[derive(Clone, Debug)]
pub struct RequestItem {
    /// Its id in the file, or its name.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The names of the folders around it, the outermost first.
    pub folders: Vec<String>,
    /// The request as an object, with its placeholders.
    pub request: Value,
    /// The login that applies to it: its own, or that of the nearest folder, or of the collection.
    pub auth: Option<Arc<Value>>,
    /// The scripts before it: those of the collection, of its folders, and its own.
    pub prerequest_scripts: Vec<Script>,
    /// The scripts after it, in the same order.
    pub test_scripts: Vec<Script>,
    /// How it is sent.
    pub behavior: ProtocolBehavior,
}

/// A script of a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// The item that it stands in: the collection, a folder or the request.
    pub owner: Arc<str>,
    /// Its text, which the items below share.
    pub code: Arc<str>,
    /// Where its first line stands in the file.
    pub position: Position,
}

/// `protocolProfileBehavior`: what differs from the usual way of sending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtocolBehavior {
    /// Whether redirects are followed.
    pub follow_redirects: bool,
    /// Whether the method stays after a redirect.
    pub follow_original_method: bool,
    /// Most redirects that are followed.
    pub max_redirects: usize,
    /// Whether GET and its kin send a body, too.
    pub send_body_always: bool,
    /// Whether certificates are verified; absent to do as the monitor says.
    pub verify_certificates: Option<bool>,
    /// Whether cookies are neither sent nor kept.
    pub disable_cookies: bool,
    /// Header fields that are not added by themselves, in lower case.
    pub disabled_headers: Vec<String>,
}

impl Default for ProtocolBehavior {
    fn default() -> Self {
        Self {
            follow_redirects: true,
            follow_original_method: false,
            max_redirects: 10,
            send_body_always: false,
            verify_certificates: None,
            disable_cookies: false,
            disabled_headers: Vec::new(),
        }
    }
}
