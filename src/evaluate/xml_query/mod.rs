//! Reads, compares and changes XML texts by XPath, as test projects do.

mod content_match;
mod edit;
mod json_as_xml;
mod node_source;
mod selection;
mod soap;

pub use content_match::{ContentComparison, is_similar, match_content};
pub use edit::{NodeTransfer, set_nodes, transfer_nodes};
pub use json_as_xml::{json_as_xml, response_as_xml};
pub use selection::{is_condition_true, select_text, select_value};
pub use soap::has_soap_fault;
