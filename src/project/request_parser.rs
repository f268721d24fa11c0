//! The requests of steps: REST, HTTP and SOAP.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use roxmltree::{Document, Node, ParsingOptions};

use super::assertion_parser::parse_assertions;
use super::interface_parser::{
    Interface, check_parameter_count, join_paths, parameters_bytes, parse_parameters,
};
use super::issue_collector::IssueCollector;
use super::model::{Parameter, RequestCredentials, RequestProtocol, RequestStep};
use super::step_context::StepContext;
use super::xml_tree::{attribute, child, child_text, children, flag, is_true, text};

/// Maximum size of the header list of a request, in bytes.
const MAX_HEADER_LIST_BYTES: usize = 256 * 1024;
/// Maximum number of XML nodes of a header list.
const MAX_HEADER_LIST_NODES: u32 = 4000;
/// Charset of bodies without one.
const DEFAULT_ENCODING: &str = "UTF-8";

/// Reads a step of type `restrequest` from its `config`. Fails when it has too many parameters.
pub(super) fn parse_rest_request(
    config: Node<'_, '_>,
    context: &StepContext<'_, '_>,
    issues: &mut IssueCollector<'_, '_>,
) -> Result<Option<RequestStep>, String> {
    let service = attribute(config, "service");
    let Some(interface) = context.interfaces.get(service) else {
        issues.add(config, format!("the project has no interface `{}`", short(service)));
        return Ok(None);
    };
    let (path, method_name) = (attribute(config, "resourcePath"), attribute(config, "methodName"));
    let Some((resource, method)) = interface.find_method(path, method_name) else {
        let [service, path, method_name] = [service, path, method_name].map(short);
        issues.add(config, format!("interface `{service}` has no method `{method_name}` of `{path}`"));
        return Ok(None);
    };
    let Some(request) = required_child(config, "restRequest", issues) else { return Ok(None) };
    add_interface_issues(config, interface, issues);
    let parameters = merge_parameters(&resource.parameters, &method.parameters, request, context)?;
    let step = parse_request(request, RequestProtocol::Rest, issues);
    let copied_texts = [&interface.endpoint, &interface.base_path, &resource.path, &method.verb];
    context.budget.charge(copied_texts.iter().map(|text| text.len()).sum())?;
    let endpoint = first_with_text([step.endpoint.clone(), interface.endpoint.clone()]);
    Ok(Some(RequestStep {
        method: method.verb.to_ascii_uppercase(),
        endpoint,
        path: join_paths(&interface.base_path, &resource.path),
        parameters,
        ..step
    }))
}

/// Returns the parameters of a request: those of its method replace those of the resource, with the values and in the
/// order of the step.
fn merge_parameters(
    of_resource: &[Parameter],
    of_method: &[Parameter],
    request: Node<'_, '_>,
    context: &StepContext<'_, '_>,
) -> Result<Vec<Parameter>, String> {
    context.budget.charge(parameters_bytes(of_resource) + parameters_bytes(of_method))?;
    let mut parameters: Vec<Parameter> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for parameter in of_resource.iter().chain(of_method) {
        match places.entry(&parameter.name) {
            Entry::Occupied(place) => parameters[*place.get()] = parameter.clone(),
            Entry::Vacant(place) => {
                place.insert(parameters.len());
                parameters.push(parameter.clone());
            }
        }
    }
    check_parameter_count(parameters.len())?;
    if let Some(values) = child(request, "parameters") {
        for entry in children(values, "entry") {
            if let Some(&place) = places.get(attribute(entry, "key")) {
                attribute(entry, "value").clone_into(&mut parameters[place].value);
            }
        }
    }
    if let Some(order) = child(request, "parameterOrder") {
        let mut order_places: HashMap<String, usize> = HashMap::new();
        for (place, name) in children(order, "entry").map(text).enumerate() {
            order_places.entry(name).or_insert(place);
        }
        parameters.sort_by_key(|parameter| order_places.get(&parameter.name).copied().unwrap_or(usize::MAX));
    }
    Ok(parameters)
}

/// Reads a step of type `httprequest` from its `config`. Fails when it has too many parameters.
pub(super) fn parse_http_request(
    config: Node<'_, '_>,
    issues: &mut IssueCollector<'_, '_>,
) -> Result<RequestStep, String> {
    let method = match attribute(config, "method") {
        "" => "GET".to_owned(),
        method => method.to_ascii_uppercase(),
    };
    let parameters = parse_parameters(config)?;
    Ok(RequestStep { method, parameters, ..parse_request(config, RequestProtocol::Http, issues) })
}

/// Reads a step of type `request` from its `config`. Fails when steps repeat too much of their interfaces.
pub(super) fn parse_soap_request(
    config: Node<'_, '_>,
    context: &StepContext<'_, '_>,
    issues: &mut IssueCollector<'_, '_>,
) -> Result<Option<RequestStep>, String> {
    let (service, operation_name) = (child_text(config, "interface"), child_text(config, "operation"));
    let Some(interface) = context.interfaces.get(&service) else {
        issues.add(config, format!("the project has no interface `{}`", short(&service)));
        return Ok(None);
    };
    let Some(action) = interface.operations.get(&operation_name) else {
        let [service, operation_name] = [&*service, &*operation_name].map(short);
        issues.add(config, format!("interface `{service}` has no operation `{operation_name}`"));
        return Ok(None);
    };
    let Some(request) = required_child(config, "request", issues) else { return Ok(None) };
    add_interface_issues(config, interface, issues);
    let protocol = if interface.is_soap12 { RequestProtocol::Soap12 } else { RequestProtocol::Soap11 };
    let step = parse_request(request, protocol, issues);
    let endpoint = first_with_text([step.endpoint.clone(), interface.endpoint.clone()]);
    context.budget.charge(interface.endpoint.len() + action.len())?;
    Ok(Some(RequestStep {
        method: "POST".to_owned(),
        endpoint,
        soap_action: action.clone(),
        skip_soap_action: flag(request, "skipSoapAction", false),
        ..step
    }))
}

fn short(name: &str) -> String {
    crate::syntax::truncate_value(name)
}

fn first_with_text<const N: usize>(texts: [String; N]) -> String {
    texts.into_iter().find(|text| !text.trim().is_empty()).unwrap_or_default()
}

fn required_child<'a, 'i>(
    config: Node<'a, 'i>,
    name: &str,
    issues: &mut IssueCollector<'_, '_>,
) -> Option<Node<'a, 'i>> {
    let found = child(config, name);
    if found.is_none() {
        issues.add(config, format!("`{name}` is missing"));
    }
    found
}

fn add_interface_issues(node: Node<'_, '_>, interface: &Interface, issues: &mut IssueCollector<'_, '_>) {
    if interface.has_endpoint_credentials {
        issues.add(node, format!("credentials of the endpoints of interface `{}`", short(&interface.name)));
    }
}

/// Reads what all requests have.
fn parse_request(
    node: Node<'_, '_>,
    protocol: RequestProtocol,
    issues: &mut IssueCollector<'_, '_>,
) -> RequestStep {
    let mut step = RequestStep {
        protocol,
        method: String::new(),
        endpoint: child_text(node, "endpoint").trim().to_owned(),
        path: String::new(),
        parameters: Vec::new(),
        headers: Vec::new(),
        body: child_text(node, "request"),
        media_type: attribute(node, "mediaType").to_owned(),
        encoding: first_with_text([child_text(node, "encoding"), DEFAULT_ENCODING.to_owned()]),
        soap_action: String::new(),
        skip_soap_action: false,
        post_query_string: flag(node, "postQueryString", false),
        send_empty_parameters: flag(node, "sendEmptyParameters", false),
        multi_value_delimiter: attribute(node, "multiValueDelimiter").to_owned(),
        entitize_properties: flag(node, "entitizeProperties", false),
        follow_redirects: true,
        credentials: None,
        timeout_ms: first_with_text([attribute(node, "timeout").to_owned(), child_text(node, "timeout")]),
        original_uri: child_text(node, "originalUri"),
        assertions: parse_assertions(node, issues),
    };
    let accepted_type = attribute(node, "accept");
    if !accepted_type.is_empty() {
        step.headers.push(("Accept".to_owned(), accepted_type.to_owned()));
    }
    apply_settings(node, &mut step, issues);
    if let Some(credentials) = child(node, "credentials") {
        step.credentials = parse_credentials(credentials, issues);
    }
    add_request_issues(node, &step, issues);
    step
}

/// Applies the settings of a request: its headers, and whether redirects are followed.
fn apply_settings(node: Node<'_, '_>, step: &mut RequestStep, issues: &mut IssueCollector<'_, '_>) {
    let Some(settings) = child(node, "settings") else { return };
    for setting in children(settings, "setting") {
        let (name, value) = (attribute(setting, "id"), text(setting));
        let (_, name) = name.rsplit_once('@').unwrap_or(("", name));
        match name {
            "request-headers" => match parse_headers(&value) {
                Ok(headers) => step.headers.extend(headers),
                Err(reason) => issues.add(setting, format!("the headers cannot be read: {reason}")),
            },
            "follow-redirects" => step.follow_redirects = value.trim().is_empty() || is_true(&value),
            "strip-whitespaces" | "remove_empty_content" | "force_mtom" if is_true(&value) => {
                issues.add(setting, format!("the setting `{name}`"));
            }
            "dump-file" | "ssl-keystore" | "bind_address" if !value.trim().is_empty() => {
                issues.add(setting, format!("the setting `{name}`"));
            }
            _ => {}
        }
    }
}

/// Reads a list of headers: XML with an `entry` for each, as text of a setting.
pub(super) fn parse_headers(list: &str) -> Result<Vec<(String, String)>, String> {
    if list.trim().is_empty() {
        return Ok(Vec::new());
    }
    if list.len() > MAX_HEADER_LIST_BYTES {
        return Err(format!("they have more than {MAX_HEADER_LIST_BYTES} bytes"));
    }
    let options =
        ParsingOptions { allow_dtd: false, nodes_limit: MAX_HEADER_LIST_NODES, entity_resolver: None };
    let document = Document::parse_with_options(list.trim(), options).map_err(|error| error.to_string())?;
    let is_entry = |node: &Node<'_, '_>| node.is_element() && node.tag_name().name() == "entry";
    let to_header = |entry: Node<'_, '_>| {
        let value = entry.attribute("value").map_or_else(|| text(entry), str::to_owned);
        (attribute(entry, "key").to_owned(), value)
    };
    Ok(document.descendants().filter(is_entry).map(to_header).collect())
}

fn parse_credentials(node: Node<'_, '_>, issues: &mut IssueCollector<'_, '_>) -> Option<RequestCredentials> {
    let scheme = child_text(node, "authType");
    let preemptive = is_true(&child_text(node, "preemptive"));
    let preemptive = match scheme.trim() {
        "" | "Global HTTP Settings" | "Basic" => preemptive,
        "Preemptive" => true,
        "No Authorization" => return None,
        other => {
            issues.add(node, format!("logins of type `{}`", crate::syntax::truncate_value(other)));
            return None;
        }
    };
    let (username, password) = (child_text(node, "username"), child_text(node, "password"));
    (!username.is_empty()).then_some(RequestCredentials { username, password, preemptive })
}

/// Lists what a request has beside its texts and Vigie does not send.
fn add_request_issues(node: Node<'_, '_>, step: &RequestStep, issues: &mut IssueCollector<'_, '_>) {
    for (name, what) in [
        ("wsAddressing", "WS-Addressing"),
        ("useWsAddressing", "WS-Addressing"),
        ("wsReliableMessaging", "WS-ReliableMessaging"),
        ("useWsReliableMessaging", "WS-ReliableMessaging"),
    ] {
        if flag(node, name, false) {
            issues.add(node, what);
        }
    }
    for (name, what) in [
        ("outgoingWss", "WS-Security of requests"),
        ("incomingWss", "WS-Security of responses"),
        ("sslKeystore", "client certificates of the project"),
        ("dumpFile", "files of responses"),
        ("bindAddress", "source addresses of the project"),
    ] {
        if !attribute(node, name).is_empty() {
            issues.add(node, what);
        }
    }
    if let Some(attachment) = child(node, "attachment") {
        issues.add(attachment, "attachments");
    }
    if step.endpoint.starts_with("jms:") {
        issues.add(node, "JMS");
    }
    if step.media_type.trim_start().starts_with("multipart/") {
        issues.add(node, format!("bodies of type `{}`", crate::syntax::truncate_value(&step.media_type)));
    }
    let timeout = step.timeout_ms.trim();
    if !timeout.is_empty() && !timeout.contains("${") && timeout.parse::<u64>().is_err() {
        issues.add(node, format!("the timeout `{}`", short(timeout)));
    }
    // Bodies cannot be written in UTF-16 and its kin.
    let encoding = encoding_rs::Encoding::for_label(step.encoding.trim().as_bytes());
    if encoding.is_none_or(|encoding| encoding.output_encoding() != encoding) {
        issues.add(node, format!("the encoding `{}`", crate::syntax::truncate_value(&step.encoding)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_from_both_forms() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let fragment = r#"<xml-fragment xmlns:con="http://eviware.com/soapui/config"><con:entry key="A" value="1"/><con:entry key="B" value="&lt;2"/></xml-fragment>"#;
        assert_eq!(parse_headers(fragment).unwrap(), [pair("A", "1"), pair("B", "<2")]);
        let single = r#"<entry key="A" value="1" xmlns="http://eviware.com/soapui/config"/>"#;
        assert_eq!(parse_headers(single).unwrap(), [pair("A", "1")]);
        assert_eq!(parse_headers(" <xml-fragment/> ").unwrap(), []);
        assert_eq!(parse_headers("").unwrap(), []);
        assert!(parse_headers("<!DOCTYPE a [<!ENTITY b 'c'>]><a/>").is_err());
        assert!(parse_headers("<a").is_err());
    }
}
