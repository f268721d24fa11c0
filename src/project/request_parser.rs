//! The requests of steps: REST, HTTP and SOAP.

use roxmltree::{Document, Node, ParsingOptions};

use super::assertion_parser::parse_assertions;
use super::interface_parser::{Interface, RestMethod, RestResource, join_paths, parse_parameters};
use super::issue_collector::IssueCollector;
use super::model::{Parameter, RequestCredentials, RequestProtocol, RequestStep};
use super::xml_tree::{attribute, child, child_text, children, flag, is_true, text};

/// Maximum size of the header list of a request, in bytes.
const MAX_HEADER_LIST_BYTES: usize = 256 * 1024;
/// Maximum number of XML nodes of a header list.
const MAX_HEADER_LIST_NODES: u32 = 4000;
/// Charset of bodies without one.
const DEFAULT_ENCODING: &str = "UTF-8";

/// Reads a step of type `restrequest` from its `config`.
pub(super) fn parse_rest_request(
    config: Node<'_, '_>,
    interfaces: &[Interface],
    issues: &mut IssueCollector<'_, '_>,
) -> Option<RequestStep> {
    let service = attribute(config, "service");
    let Some(interface) = interfaces.iter().find(|interface| interface.name == service) else {
        issues.add(config, format!("the project has no interface `{service}`"));
        return None;
    };
    let (path, method_name) = (attribute(config, "resourcePath"), attribute(config, "methodName"));
    let Some((resource, method)) = find_method(interface, path, method_name) else {
        issues.add(config, format!("interface `{service}` has no method `{method_name}` of `{path}`"));
        return None;
    };
    let request = required_child(config, "restRequest", issues)?;
    add_interface_issues(config, interface, issues);
    let mut parameters: Vec<Parameter> = Vec::new();
    for parameter in resource.parameters.iter().chain(&method.parameters) {
        match parameters.iter_mut().find(|other| other.name == parameter.name) {
            Some(outer) => *outer = parameter.clone(),
            None => parameters.push(parameter.clone()),
        }
    }
    if let Some(values) = child(request, "parameters") {
        for entry in children(values, "entry") {
            let name = attribute(entry, "key");
            if let Some(parameter) = parameters.iter_mut().find(|parameter| parameter.name == name) {
                attribute(entry, "value").clone_into(&mut parameter.value);
            }
        }
    }
    if let Some(order) = child(request, "parameterOrder") {
        let order: Vec<String> = children(order, "entry").map(text).collect();
        let place = |parameter: &Parameter| order.iter().position(|name| *name == parameter.name);
        parameters.sort_by_key(|parameter| place(parameter).unwrap_or(usize::MAX));
    }
    let step = parse_request(request, RequestProtocol::Rest, issues);
    let endpoint = first_with_text([step.endpoint.clone(), interface.endpoint.clone()]);
    Some(RequestStep {
        method: method.verb.to_ascii_uppercase(),
        endpoint,
        path: join_paths(&interface.base_path, &resource.path),
        parameters,
        ..step
    })
}

fn find_method<'i>(
    interface: &'i Interface,
    path: &str,
    method_name: &str,
) -> Option<(&'i RestResource, &'i RestMethod)> {
    let has_path = |resource: &&RestResource| {
        resource.path == path || join_paths(&interface.base_path, &resource.path) == path
    };
    interface.resources.iter().filter(has_path).find_map(|resource| {
        let method = resource.methods.iter().find(|method| method.name == method_name)?;
        Some((resource, method))
    })
}

/// Reads a step of type `httprequest` from its `config`.
pub(super) fn parse_http_request(config: Node<'_, '_>, issues: &mut IssueCollector<'_, '_>) -> RequestStep {
    let method = match attribute(config, "method") {
        "" => "GET".to_owned(),
        method => method.to_ascii_uppercase(),
    };
    let parameters = parse_parameters(config);
    RequestStep { method, parameters, ..parse_request(config, RequestProtocol::Http, issues) }
}

/// Reads a step of type `request` from its `config`.
pub(super) fn parse_soap_request(
    config: Node<'_, '_>,
    interfaces: &[Interface],
    issues: &mut IssueCollector<'_, '_>,
) -> Option<RequestStep> {
    let (service, operation_name) = (child_text(config, "interface"), child_text(config, "operation"));
    let Some(interface) = interfaces.iter().find(|interface| interface.name == service) else {
        issues.add(config, format!("the project has no interface `{service}`"));
        return None;
    };
    let Some(operation) = interface.operations.iter().find(|operation| operation.name == operation_name)
    else {
        issues.add(config, format!("interface `{service}` has no operation `{operation_name}`"));
        return None;
    };
    let request = required_child(config, "request", issues)?;
    add_interface_issues(config, interface, issues);
    let protocol = if interface.is_soap12 { RequestProtocol::Soap12 } else { RequestProtocol::Soap11 };
    let step = parse_request(request, protocol, issues);
    let endpoint = first_with_text([step.endpoint.clone(), interface.endpoint.clone()]);
    Some(RequestStep {
        method: "POST".to_owned(),
        endpoint,
        soap_action: operation.action.clone(),
        skip_soap_action: flag(request, "skipSoapAction", false),
        ..step
    })
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
        issues.add(node, format!("credentials of the endpoints of interface `{}`", interface.name));
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
fn parse_headers(list: &str) -> Result<Vec<(String, String)>, String> {
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
