//! SoapUI projects, the XML files of `api` monitors: parsed into typed models, with a list of what Vigie cannot run
//! (formats.md, SoapUI projects).
//!
//! Nothing here touches the network: `probe` runs what this module describes. A project is bounded in size, depth and
//! counts; document types are refused. What a project has and Vigie lacks is an [`UnsupportedItem`] with its place, never
//! skipped in silence; disabled suites, cases, steps and assertions are.

mod assertion_parser;
mod case_lookup;
mod convert;
mod convert_assertion;
mod convert_scope;
mod convert_step;
mod copy_budget;
pub(crate) mod expansion;
mod interface_parser;
mod issue_collector;
pub(crate) mod model;
mod project_error;
mod project_parser;
mod property_list;
mod property_map;
pub(crate) mod property_owner;
mod request_parser;
pub(crate) mod request_text;
pub mod secret_text;
mod step_context;
mod step_parser;
mod transfer_parser;
mod unsupported;
mod xml_tree;

pub use convert::{Conversion, convert_to_steps};
pub use model::Project;
pub use project_error::{ProjectError, UnsupportedItem};
pub(crate) use property_map::PropertyMap;
pub use unsupported::{case_step_count, unsupported};
