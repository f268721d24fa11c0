//! The interfaces of a project: what the steps of REST and SOAP refer to.

use roxmltree::Node;

use super::model::{Parameter, ParameterStyle};
use super::xml_tree::{attribute, child, child_text, children, flag, is_true, text};

/// Maximum nesting of resources.
const MAX_RESOURCE_DEPTH: usize = 32;
/// Maximum number of resources, methods and operations of a project.
const MAX_INTERFACE_ITEMS: usize = 20_000;

/// A service.
pub(super) struct Interface {
    pub(super) name: String,
    pub(super) base_path: String,
    /// The first endpoint, for requests without one.
    pub(super) endpoint: String,
    pub(super) is_soap12: bool,
    pub(super) resources: Vec<RestResource>,
    pub(super) operations: Vec<Operation>,
    /// Whether an endpoint has a login or WS-Security of its own.
    pub(super) has_endpoint_credentials: bool,
}

/// A resource of a REST service.
pub(super) struct RestResource {
    /// Its path with those of the resources around it, without the base path.
    pub(super) path: String,
    /// Parameters of this resource and those around it.
    pub(super) parameters: Vec<Parameter>,
    pub(super) methods: Vec<RestMethod>,
}

/// A method of a resource.
pub(super) struct RestMethod {
    pub(super) name: String,
    /// The method of HTTP.
    pub(super) verb: String,
    pub(super) parameters: Vec<Parameter>,
}

/// An operation of a SOAP service.
pub(super) struct Operation {
    pub(super) name: String,
    pub(super) action: String,
}

/// Reads the interfaces of the project at `root`. Fails when there are too many.
pub(super) fn parse_interfaces(root: Node<'_, '_>) -> Result<Vec<Interface>, String> {
    let mut item_count = 0;
    children(root, "interface").map(|node| parse_interface(node, &mut item_count)).collect()
}

fn parse_interface(node: Node<'_, '_>, item_count: &mut usize) -> Result<Interface, String> {
    let endpoints = child(node, "endpoints");
    let endpoint = endpoints.and_then(|endpoints| children(endpoints, "endpoint").next());
    let mut resources = Vec::new();
    add_resources(node, "", &[], 0, &mut resources, item_count)?;
    let operations: Vec<Operation> = children(node, "operation")
        .map(|operation| Operation {
            name: attribute(operation, "name").to_owned(),
            action: attribute(operation, "action").to_owned(),
        })
        .collect();
    count_items(item_count, operations.len())?;
    Ok(Interface {
        name: attribute(node, "name").to_owned(),
        base_path: attribute(node, "basePath").to_owned(),
        endpoint: endpoint.map(text).unwrap_or_default(),
        is_soap12: attribute(node, "soapVersion").contains("1_2"),
        resources,
        operations,
        has_endpoint_credentials: child(node, "endpointStrategy").is_some_and(has_credentials),
    })
}

/// Whether an endpoint of the strategy `node` has a login, or signs or encrypts.
fn has_credentials(node: Node<'_, '_>) -> bool {
    let names = ["username", "password", "outgoingWss", "incomingWss"];
    children(node, "endpoint").any(|endpoint| names.iter().any(|name| !attribute(endpoint, name).is_empty()))
}

fn count_items(item_count: &mut usize, added: usize) -> Result<(), String> {
    *item_count += added;
    if *item_count > MAX_INTERFACE_ITEMS {
        return Err(format!("there are more than {MAX_INTERFACE_ITEMS} resources, methods and operations"));
    }
    Ok(())
}

fn add_resources(
    node: Node<'_, '_>,
    outer_path: &str,
    outer_parameters: &[Parameter],
    depth: usize,
    resources: &mut Vec<RestResource>,
    item_count: &mut usize,
) -> Result<(), String> {
    if depth > MAX_RESOURCE_DEPTH {
        return Err(format!("resources are nested deeper than {MAX_RESOURCE_DEPTH}"));
    }
    for resource in children(node, "resource") {
        let path = join_paths(outer_path, attribute(resource, "path"));
        let mut parameters = outer_parameters.to_vec();
        parameters.extend(parse_parameters(resource));
        let methods: Vec<RestMethod> = children(resource, "method")
            .map(|method| RestMethod {
                name: attribute(method, "name").to_owned(),
                verb: attribute(method, "method").to_owned(),
                parameters: parse_parameters(method),
            })
            .collect();
        count_items(item_count, 1 + methods.len() + parameters.len())?;
        resources.push(RestResource { path: path.clone(), parameters: parameters.clone(), methods });
        add_resources(resource, &path, &parameters, depth + 1, resources, item_count)?;
    }
    Ok(())
}

/// Appends `path` to `outer_path`, with one slash between them.
pub(super) fn join_paths(outer_path: &str, path: &str) -> String {
    match (outer_path, path) {
        (_, "") => outer_path.to_owned(),
        (outer, path) if path.starts_with(['/', '?']) => format!("{}{path}", outer.trim_end_matches('/')),
        (outer, path) => format!("{}/{path}", outer.trim_end_matches('/')),
    }
}

/// Reads the parameters that `node` declares.
pub(super) fn parse_parameters(node: Node<'_, '_>) -> Vec<Parameter> {
    let Some(list) = child(node, "parameters") else { return Vec::new() };
    children(list, "parameter").map(parse_parameter).collect()
}

fn parse_parameter(node: Node<'_, '_>) -> Parameter {
    let name = child(node, "name").map_or_else(|| attribute(node, "name").to_owned(), text);
    let value = child(node, "value").map(text).filter(|value| !value.is_empty());
    let style = child(node, "style").map_or_else(|| attribute(node, "style").to_owned(), text);
    let has_flag = |flag_name: &str| {
        flag(node, flag_name, false) || child(node, flag_name).is_some_and(|found| is_true(&text(found)))
    };
    Parameter {
        name,
        value: value.unwrap_or_else(|| child_text(node, "default")),
        style: match style.trim() {
            "HEADER" => ParameterStyle::Header,
            "TEMPLATE" => ParameterStyle::Template,
            "MATRIX" => ParameterStyle::Matrix,
            "PLAIN" => ParameterStyle::Plain,
            _ => ParameterStyle::Query,
        },
        required: has_flag("required"),
        disable_url_encoding: has_flag("disableUrlEncoding"),
        is_boolean: child_text(node, "type").ends_with("boolean")
            || attribute(node, "type").ends_with("boolean"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined_with_one_slash() {
        for (outer, path, joined) in [
            ("", "/a", "/a"),
            ("/", "a", "/a"),
            ("/a/", "/b", "/a/b"),
            ("/a", "b", "/a/b"),
            ("/a", "", "/a"),
            ("/a", "?b=1", "/a?b=1"),
        ] {
            assert_eq!(join_paths(outer, path), joined);
        }
    }
}
