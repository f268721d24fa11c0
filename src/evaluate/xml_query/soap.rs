//! Envelopes of SOAP.

use roxmltree::Node;

use crate::evaluate::xpath::XmlDocument;

/// The namespaces of envelopes of SOAP 1.1 and 1.2.
const ENVELOPE_NAMESPACES: [&str; 2] =
    ["http://schemas.xmlsoap.org/soap/envelope/", "http://www.w3.org/2003/05/soap-envelope"];

/// Whether the envelope `xml` has a fault.
///
/// # Errors
/// When `xml` is not an envelope of SOAP 1.1 or 1.2 with a body.
pub fn has_soap_fault(xml: &str) -> Result<bool, String> {
    let document = XmlDocument::parse(xml)?;
    let root = document.root_element();
    let namespace = root.tag_name().namespace().unwrap_or_default();
    if root.tag_name().name() != "Envelope" || !ENVELOPE_NAMESPACES.contains(&namespace) {
        return Err("the response is not an envelope of SOAP".to_owned());
    }
    let child = |node: Node<'_, '_>, name: &str| {
        node.children().find(|child| child.has_tag_name((namespace, name))).map(|child| child.id())
    };
    let body = child(root, "Body").ok_or("the envelope has no body")?;
    let body = root.document().get_node(body);
    Ok(body.is_some_and(|body| child(body, "Fault").is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_found_in_both_versions() {
        for namespace in ENVELOPE_NAMESPACES {
            let envelope = |body: &str| {
                format!("<e:Envelope xmlns:e='{namespace}'><e:Body>{body}</e:Body></e:Envelope>")
            };
            assert_eq!(has_soap_fault(&envelope("<e:Fault/>")), Ok(true));
            assert_eq!(has_soap_fault(&envelope("<Fault/>")), Ok(false));
            assert!(has_soap_fault(&format!("<e:Envelope xmlns:e='{namespace}'/>")).is_err());
        }
        for other in ["<Envelope><Body/></Envelope>", "{}", ""] {
            assert!(has_soap_fault(other).is_err(), "{other}");
        }
    }
}
