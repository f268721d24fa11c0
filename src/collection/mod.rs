//! Postman collections v2.0 and v2.1: the requests of a file in the order of a run, their scripts, logins and variables
//! (src/manual/formats.md, Postman collections). Sends nothing: `probe` runs what this module reads.

mod auth;
mod aws_signature;
mod body;
mod convert;
mod convert_script;
mod data_rows;
mod dynamic_values;
mod dynamic_words;
mod item;
mod json_entries;
mod parse;
mod request;
mod request_url;
mod scopes;
pub mod secret_text;
mod unsupported;
mod variable_file;

pub use auth::AuthMethod;
pub use aws_signature::{AwsCredentials, SignedRequest};
pub use body::{RenderedBody, UploadedFile};
pub use convert::{Conversion, convert_to_steps};
pub use data_rows::parse_data_rows;
pub use dynamic_values::{DYNAMIC_VARIABLES, dynamic_value};
pub use item::{Collection, ProtocolBehavior, RequestItem, Script};
pub use parse::{CollectionError, parse_collection};
pub use request::{RenderContext, RenderedRequest, render_request};
pub use request_url::add_scheme;
pub use scopes::{ScopeKind, VariableScopes};
pub use unsupported::UnsupportedItem;
pub use variable_file::{VariableFile, parse_variable_file};
