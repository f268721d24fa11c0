//! The interfaces of a project: what the steps of REST and SOAP refer to.

use std::collections::HashMap;

use roxmltree::Node;

use super::copy_budget::CopyBudget;
use super::model::{Parameter, ParameterStyle};
use super::xml_tree::{attribute, child, child_text, children, flag, is_true, text};

/// Maximum nesting of resources.
const MAX_RESOURCE_DEPTH: usize = 32;
/// Maximum number of interfaces, resources, methods, operations and parameters of a project.
const MAX_INTERFACE_ITEMS: usize = 20_000;

/// Maximum number of parameters of one request.
const MAX_PARAMETERS: usize = 1000;

/// The services of a project.
pub(super) struct Interfaces {
    list: Vec<Interface>,
    /// The first of each name.
    by_name: HashMap<String, usize>,
}

impl Interfaces {
    /// Returns the interface `name`.
    pub(super) fn get(&self, name: &str) -> Option<&Interface> {
        self.by_name.get(name).map(|&index| &self.list[index])
    }
}

/// A service.
pub(super) struct Interface {
    pub(super) name: String,
    pub(super) base_path: String,
    /// The first endpoint, for requests without one.
    pub(super) endpoint: String,
    pub(super) is_soap12: bool,
    resources: Vec<RestResource>,
    /// Resource and method by path, with the base path or without it, and name of the method.
    methods: HashMap<String, HashMap<String, (usize, usize)>>,
    /// The actions of its operations by their names.
    pub(super) operations: HashMap<String, String>,
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

impl Interface {
    /// Returns the method `name` of the resource `path`.
    pub(super) fn find_method(&self, path: &str, name: &str) -> Option<(&RestResource, &RestMethod)> {
        let &(resource, method) = self.methods.get(path)?.get(name)?;
        let resource = &self.resources[resource];
        Some((resource, &resource.methods[method]))
    }

    /// Fills `methods`; of several with one path and name the first counts.
    fn index_methods(&mut self, budget: &CopyBudget) -> Result<(), String> {
        for (index, resource) in self.resources.iter().enumerate() {
            for path in [resource.path.clone(), join_paths(&self.base_path, &resource.path)] {
                budget.charge(path.len())?;
                let methods = self.methods.entry(path).or_default();
                for (method_index, method) in resource.methods.iter().enumerate() {
                    methods.entry(method.name.clone()).or_insert((index, method_index));
                }
            }
        }
        Ok(())
    }
}

/// Returns the size of copies of `parameters`, in bytes.
pub(super) fn parameters_bytes(parameters: &[Parameter]) -> usize {
    let texts = parameters.iter().map(|parameter| parameter.name.len() + parameter.value.len());
    texts.sum::<usize>() + size_of_val(parameters)
}

/// Reads the interfaces of the project at `root`. Fails when there are too many.
pub(super) fn parse_interfaces(root: Node<'_, '_>, budget: &CopyBudget) -> Result<Interfaces, String> {
    let mut item_count = 0;
    let mut interfaces = Interfaces { list: Vec::new(), by_name: HashMap::new() };
    for node in children(root, "interface") {
        let mut interface = parse_interface(node, &mut item_count, budget)?;
        interface.index_methods(budget)?;
        interfaces.by_name.entry(interface.name.clone()).or_insert(interfaces.list.len());
        interfaces.list.push(interface);
    }
    Ok(interfaces)
}

fn parse_interface(
    node: Node<'_, '_>,
    item_count: &mut usize,
    budget: &CopyBudget,
) -> Result<Interface, String> {
    let endpoints = child(node, "endpoints");
    let endpoint = endpoints.and_then(|endpoints| children(endpoints, "endpoint").next());
    let mut resources = Vec::new();
    let mut limits = ResourceLimits { item_count, budget };
    limits.count_items(1)?;
    add_resources(node, "", &[], 0, &mut resources, &mut limits)?;
    let mut operations = HashMap::new();
    for operation in children(node, "operation") {
        limits.count_items(1)?;
        let name = attribute(operation, "name").to_owned();
        operations.entry(name).or_insert_with(|| attribute(operation, "action").to_owned());
    }
    Ok(Interface {
        name: attribute(node, "name").to_owned(),
        base_path: attribute(node, "basePath").to_owned(),
        endpoint: endpoint.map(text).unwrap_or_default(),
        is_soap12: attribute(node, "soapVersion").contains("1_2"),
        resources,
        methods: HashMap::new(),
        operations,
        has_endpoint_credentials: child(node, "endpointStrategy").is_some_and(has_credentials),
    })
}

/// Whether an endpoint of the strategy `node` has a login, or signs or encrypts.
fn has_credentials(node: Node<'_, '_>) -> bool {
    let names = ["username", "password", "outgoingWss", "incomingWss"];
    children(node, "endpoint").any(|endpoint| names.iter().any(|name| !attribute(endpoint, name).is_empty()))
}

struct ResourceLimits<'l> {
    /// Number of items so far.
    item_count: &'l mut usize,
    budget: &'l CopyBudget,
}

impl ResourceLimits<'_> {
    fn count_items(&mut self, added: usize) -> Result<(), String> {
        *self.item_count += added;
        if *self.item_count > MAX_INTERFACE_ITEMS {
            let items = "interfaces, resources, methods, operations and parameters";
            return Err(format!("there are more than {MAX_INTERFACE_ITEMS} {items}"));
        }
        Ok(())
    }
}

fn add_resources(
    node: Node<'_, '_>,
    outer_path: &str,
    outer_parameters: &[Parameter],
    depth: usize,
    resources: &mut Vec<RestResource>,
    limits: &mut ResourceLimits<'_>,
) -> Result<(), String> {
    if depth > MAX_RESOURCE_DEPTH {
        return Err(format!("resources are nested deeper than {MAX_RESOURCE_DEPTH}"));
    }
    for resource in children(node, "resource") {
        let path = join_paths(outer_path, attribute(resource, "path"));
        // Both are copied once for the resources inside.
        limits.budget.charge(2 * (path.len() + parameters_bytes(outer_parameters)))?;
        let mut parameters = outer_parameters.to_vec();
        parameters.extend(parse_parameters(resource)?);
        limits.count_items(1 + parameters.len())?;
        let mut methods = Vec::new();
        for method in children(resource, "method") {
            let method = RestMethod {
                name: attribute(method, "name").to_owned(),
                verb: attribute(method, "method").to_owned(),
                parameters: parse_parameters(method)?,
            };
            limits.count_items(1 + method.parameters.len())?;
            methods.push(method);
        }
        resources.push(RestResource { path: path.clone(), parameters: parameters.clone(), methods });
        add_resources(resource, &path, &parameters, depth + 1, resources, limits)?;
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

/// Reads the parameters that `node` declares. Fails when there are too many.
pub(super) fn parse_parameters(node: Node<'_, '_>) -> Result<Vec<Parameter>, String> {
    let Some(list) = child(node, "parameters") else { return Ok(Vec::new()) };
    let nodes: Vec<Node<'_, '_>> = children(list, "parameter").take(MAX_PARAMETERS + 1).collect();
    check_parameter_count(nodes.len())?;
    Ok(nodes.into_iter().map(parse_parameter).collect())
}

/// Fails when a request would have more parameters than are allowed.
pub(super) fn check_parameter_count(count: usize) -> Result<(), String> {
    if count > MAX_PARAMETERS {
        return Err(format!("a request has more than {MAX_PARAMETERS} parameters"));
    }
    Ok(())
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
