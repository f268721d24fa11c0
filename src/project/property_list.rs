//! Lists of properties in the file of a project.

use roxmltree::Node;

use super::property_map::PropertyMap;
use super::xml_tree::{child_text, children};

/// Maximum number of properties of one owner.
const MAX_PROPERTIES: usize = 1000;

/// Reads the properties in `list`.
pub(super) fn parse_property_list(list: Node<'_, '_>) -> Result<PropertyMap, String> {
    let mut properties = PropertyMap::default();
    for property in children(list, "property") {
        if properties.len() == MAX_PROPERTIES {
            return Err(format!("there are more than {MAX_PROPERTIES} properties in one list"));
        }
        properties.set(&child_text(property, "name"), child_text(property, "value"));
    }
    Ok(properties)
}
