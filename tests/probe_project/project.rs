//! Writes projects.

use std::fmt::Write;

/// Returns a project with these interfaces, and a suite `Suite` with these cases. Project and suite have properties.
pub fn project(interfaces: &str, cases: &str) -> String {
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<con:soapui-project name="P" resourceRoot="" soapui-version="5.8.0" xmlns:con="http://eviware.com/soapui/config">
<con:settings/>
{interfaces}
<con:testSuite name="Suite"><con:settings/><con:runType>SEQUENTIAL</con:runType>{cases}
<con:properties><con:property><con:name>level</con:name><con:value>suite</con:value></con:property>
<con:property><con:name>suiteOnly</con:name><con:value>of the suite</con:value></con:property></con:properties>
</con:testSuite>
<con:properties><con:property><con:name>level</con:name><con:value>project</con:value></con:property>
<con:property><con:name>api_token</con:name><con:value>pr0ject-s3cret</con:value></con:property></con:properties>
<con:wssContainer/><con:oAuth2ProfileContainer/>
</con:soapui-project>"#
    )
}

/// Returns a project with one case, `Case`, of these steps.
pub fn one_case(steps: &str) -> String {
    project("", &case("Case", "", steps))
}

/// Returns a case with these attributes and steps; its property `level` is `case`, and `out` is empty.
pub fn case(name: &str, attributes: &str, steps: &str) -> String {
    format!(
        r#"<con:testCase id="id-{name}" name="{name}" {attributes}><con:settings/>{steps}<con:properties>
<con:property><con:name>level</con:name><con:value>case</con:value></con:property>
<con:property><con:name>out</con:name><con:value/></con:property></con:properties></con:testCase>"#
    )
}

/// Returns a step with this configuration.
pub fn step(step_type: &str, name: &str, config: &str) -> String {
    format!(r#"<con:testStep type="{step_type}" name="{name}"><con:settings/>{config}</con:testStep>"#)
}

/// Returns a step that requests `url`; `children` are assertions, parameters, the body.
pub fn http(name: &str, method: &str, url: &str, children: &str) -> String {
    let config = format!(
        r#"<con:config method="{method}" mediaType="application/json" xsi:type="con:HttpRequest"
xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><con:endpoint>{}</con:endpoint>{children}</con:config>"#,
        escape(url)
    );
    step("httprequest", name, &config)
}

/// Returns an assertion; `configuration` are its values.
pub fn assertion(assertion_type: &str, configuration: &[(&str, &str)]) -> String {
    let mut values = String::new();
    for (name, value) in configuration {
        write!(values, "<{name}>{}</{name}>", escape(value)).unwrap();
    }
    format!(
        r#"<con:assertion type="{assertion_type}" name="the rule"><con:configuration>{values}</con:configuration></con:assertion>"#
    )
}

/// Returns a step with properties.
pub fn properties(name: &str, values: &[(&str, &str)]) -> String {
    step("properties", name, &format!("<con:config>{}</con:config>", property_list(values)))
}

/// Returns a list of properties.
pub fn property_list(values: &[(&str, &str)]) -> String {
    let mut list = String::new();
    for (name, value) in values {
        let value = escape(value);
        write!(
            list,
            "<con:property><con:name>{name}</con:name><con:value>{value}</con:value></con:property>"
        )
        .unwrap();
    }
    format!("<con:properties>{list}</con:properties>")
}

/// Returns a step with one transfer; `ends` are its children.
pub fn transfer(name: &str, attributes: &str, ends: &[(&str, &str)]) -> String {
    let mut children = String::new();
    for (name, value) in ends {
        write!(children, "<con:{name}>{}</con:{name}>", escape(value)).unwrap();
    }
    let config = format!(
        "<con:config><con:transfers {attributes}><con:name>copy</con:name>{children}</con:transfers></con:config>"
    );
    step("transfer", name, &config)
}

/// Returns a REST service `Shop` at `endpoint` with the base path `/v1`, and the resource `/items/{id}/parts`.
pub fn rest_interface(endpoint: &str) -> String {
    format!(
        r#"<con:interface xsi:type="con:RestService" name="Shop" type="rest" basePath="/v1"
xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><con:endpoints><con:endpoint>{endpoint}</con:endpoint></con:endpoints>
<con:resource name="Item" path="/items/{{id}}"><con:parameters>
<con:parameter><con:name>id</con:name><con:value/><con:style>TEMPLATE</con:style><con:default>7</con:default></con:parameter>
<con:parameter><con:name>X-Kind</con:name><con:value>plain</con:value><con:style>HEADER</con:style></con:parameter></con:parameters>
<con:method name="Read" method="GET"><con:parameters>
<con:parameter><con:name>q</con:name><con:value>all</con:value><con:style>QUERY</con:style></con:parameter>
<con:parameter><con:name>empty</con:name><con:value/><con:style>QUERY</con:style></con:parameter>
<con:parameter required="true"><con:name>needed</con:name><con:value/><con:style>QUERY</con:style></con:parameter>
<con:parameter disableUrlEncoding="true"><con:name>raw</con:name><con:value>a,b</con:value><con:style>QUERY</con:style></con:parameter>
<con:parameter><con:name>m</con:name><con:value/><con:style>MATRIX</con:style></con:parameter>
<con:parameter><con:name>note</con:name><con:value>n</con:value><con:style>PLAIN</con:style></con:parameter></con:parameters></con:method>
<con:resource name="Parts" path="parts"><con:method name="Add" method="POST"/></con:resource>
</con:resource></con:interface>"#
    )
}

/// Returns a REST step of `Shop`; `children` stand in its request.
pub fn rest(name: &str, path: &str, method: &str, children: &str) -> String {
    let config = format!(
        r#"<con:config service="Shop" resourcePath="{path}" methodName="{method}" xsi:type="con:RestRequestStep"
xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><con:restRequest name="{name}" mediaType="application/json">{children}</con:restRequest></con:config>"#
    );
    step("restrequest", name, &config)
}

/// Returns a SOAP service of this version, with the operation `Add`.
pub fn soap_interface(name: &str, version: &str, endpoint: &str) -> String {
    format!(
        r#"<con:interface xsi:type="con:WsdlInterface" name="{name}" type="wsdl" soapVersion="{version}" bindingName="{{urn:c}}B"
xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><con:endpoints><con:endpoint>{endpoint}</con:endpoint></con:endpoints>
<con:operation name="Add" bindingOperationName="Add" action="urn:c/Add"/></con:interface>"#
    )
}

/// Returns a SOAP step that sends `envelope`.
pub fn soap(name: &str, interface: &str, envelope: &str, children: &str) -> String {
    let config = format!(
        r#"<con:config xsi:type="con:RequestStep" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<con:interface>{interface}</con:interface><con:operation>Add</con:operation><con:request name="{name}" wsAddressing="false">
<con:encoding>UTF-8</con:encoding><con:request>{}</con:request>{children}<con:wsaConfig mustUnderstand="NONE"/></con:request></con:config>"#,
        escape(envelope)
    );
    step("request", name, &config)
}

/// Returns `text` as text of XML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
