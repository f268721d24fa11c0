//! A monitor of each type, with a secret in each place that the type has for one.

use std::sync::Arc;

use rustls::ServerConfig;
use serde_json::{Value, json};
use vigie::domain::MonitorType;

use super::echoes::{self, Received, Repeated};

/// The value of a query parameter whose name does not mark it as a credential.
pub const PLAIN_VALUE: &str = "value-for-editors";

/// Returns the fields of a monitor of `kind`. Its target repeats what it is sent, and `repeated`.
pub fn template(kind: MonitorType, repeated: &Repeated, tls: &Arc<ServerConfig>) -> Value {
    let none = Received::default();
    let plain = |talk| echoes::serve(talk, repeated, &none, None);
    let over_tls = |talk| echoes::serve(talk, repeated, &none, Some(Arc::clone(tls)));
    let host = |scheme: &str, port: u16| format!("{scheme}://127.0.0.1:{port}");
    let script = r#"<script><variable name="pin" protected="true">{secret}</variable><step name="a"><open url="/"/></step></script>"#;
    match kind {
        MonitorType::Website => website(&format!("127.0.0.1:{}", plain(echoes::http)), "http"),
        MonitorType::WebsiteSsl => {
            let mut fields = website(&format!("127.0.0.1:{}", over_tls(echoes::http)), "https");
            fields["ssl_cert_id"] = json!(1);
            fields
        }
        MonitorType::WebsiteApi => {
            json!({"api_steps": steps(&host("http", plain(echoes::http)))})
        }
        MonitorType::WebsiteSslApi => {
            json!({"api_steps": steps(&host("https", over_tls(echoes::http))), "ssl_cert_id": 2})
        }
        MonitorType::EmailImap => json!({
            "hostname": host("imap", plain(echoes::imap)),
            "imap_username": "monitor", "imap_password": "{secret}",
        }),
        MonitorType::EmailPop => json!({
            "hostname": host("pop3", plain(echoes::pop)),
            "pop_username": "monitor", "pop_password": "{secret}",
        }),
        MonitorType::EmailSmtp => json!({
            "hostname": host("smtp", plain(echoes::smtp)),
            "smtp_username": "monitor", "smtp_password": "{secret}",
        }),
        MonitorType::EmailRoundTrip => json!({
            "smtp_hostname": host("smtp", plain(echoes::smtp)), "pop3_hostname": host("pop3", plain(echoes::pop)),
            "email": "monitor@vigie.test", "email_username": "monitor", "email_password": "{secret}",
        }),
        MonitorType::Ftp => json!({
            "hostname": host("ftp", plain(echoes::ftp)), "enable_ftp_upload": false,
            "ftp_username": "monitor", "ftp_password": "{secret}",
        }),
        MonitorType::FtpSsl => json!({
            "hostname": host("ftps", over_tls(echoes::ftp)), "enable_ftp_upload": false,
            "ftp_username": "monitor", "ftp_password": "{secret}",
        }),
        MonitorType::Tcp => json!({
            "hostname": "127.0.0.1", "port": plain(echoes::ftp), "timeout": 2,
            "dialogue": [{"expect": "220 "}, {"send": "hello\r\n"}, {"expect": "never"}],
        }),
        MonitorType::Ping => json!({"hostname": "127.0.0.1"}),
        MonitorType::NameServer => json!({"hostname": "127.0.0.1", "port": echoes::sink(), "timeout": 1}),
        MonitorType::MobileCloud | MonitorType::MobileLab => json!({
            "hostname": "127.0.0.1", "api_key": "{secret}", "run_configuration": "{}", "interval": 30,
        }),
        // A browser takes long to start: that one is only stored and shown.
        MonitorType::BrowserScript => json!({
            "enabled": false, "url": "http://127.0.0.1:9/?token={secret}", "script": script,
            "transaction_password": "{secret}",
        }),
        MonitorType::SecurityScan => {
            json!({"url": "http://127.0.0.1:9/?token={secret}", "interval": 30})
        }
        MonitorType::ApiProject => {
            let script = project(&host("http", plain(echoes::http)));
            json!({"script": script, "test_suite": "S", "test_case": "C", "interval": 30})
        }
        MonitorType::CollectionApi => collection(&host("http", plain(echoes::http))),
        MonitorType::Selenium => json!({"script": "UEsFBgAAAAAAAAAAAAAAAAAAAAAAAA==", "interval": 30}),
        MonitorType::HostAgent => json!({"host_id": "db1"}),
    }
}

/// Returns the fields of monitors whose checks log in to the proxies of the settings.
pub fn behind_proxies() -> Vec<(MonitorType, Value)> {
    let behind = |id: i64| json!({"url": "http://192.0.2.1/", "proxy_id": id});
    vec![
        (MonitorType::Website, behind(1)),
        (MonitorType::Website, behind(2)),
        (MonitorType::Tcp, json!({"hostname": "192.0.2.1", "port": 80})),
        (MonitorType::Tcp, json!({"hostname": "192.0.2.1", "port": 80, "locations": [{"id": 2}]})),
    ]
}

fn website(authority: &str, scheme: &str) -> Value {
    json!({
        "url": format!("{scheme}://{authority}/?token={{secret}}&x={PLAIN_VALUE}"),
        "realm_userid": "{secret}", "realm_password": "{secret}",
        "http_headers": [{"name": "X-Api-Key", "value": "{secret}"}, {"name": "Cookie", "value": "a={secret}"}],
    })
}

/// A project with secrets in a property, a login, a parameter and a header field.
fn project(base: &str) -> String {
    format!(
        r#"<con:soapui-project name="P" xmlns:con="http://eviware.com/soapui/config"><con:testSuite name="S">
<con:testCase name="C"><con:testStep type="httprequest" name="R"><con:config method="GET" xsi:type="con:HttpRequest"
xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><con:settings><con:setting id="x@request-headers">&lt;xml-fragment>
&lt;entry key="X-Auth-Token" value="{{secret}}" xmlns="http://eviware.com/soapui/config"/>&lt;/xml-fragment></con:setting></con:settings>
<con:endpoint>{base}/?a=${{#Project#api_key}}</con:endpoint>
<con:assertion type="Valid HTTP Status Codes"><con:configuration><codes>299</codes></con:configuration></con:assertion>
<con:credentials><con:username>monitor</con:username><con:password>{{secret}}</con:password>
<con:authType>Preemptive</con:authType></con:credentials>
<con:parameters><con:parameter><con:name>token</con:name><con:value>{{secret}}</con:value><con:style>QUERY</con:style></con:parameter></con:parameters>
</con:config></con:testStep></con:testCase></con:testSuite><con:properties><con:property><con:name>api_key</con:name>
<con:value>{{secret}}</con:value></con:property></con:properties></con:soapui-project>"#
    )
}

/// A collection whose environment and globals have a secret, which requests and scripts send and repeat.
fn collection(base: &str) -> Value {
    let variables = |name: &str| json!({"values": [{"key": name, "value": "{secret}", "type": "secret"}]});
    let script = json!({
        "info": {"name": "c", "schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},
        "variable": [{"key": "own", "value": "{secret}", "type": "secret"}],
        "item": [{
            "name": "a",
            "request": {
                "url": format!("{base}/?a={{{{one}}}}&b={{{{two}}}}&c={{{{own}}}}"),
                "header": [{"key": "X-Auth-Token", "value": "{{two}}"}],
                "auth": {"type": "bearer", "bearer": [{"key": "token", "value": "{{one}}"}]},
            },
            "event": [{"listen": "test", "script": {"exec": [
                "console.log(pm.environment.get('one'));",
                "pm.test('is ' + pm.globals.get('two'), () => pm.expect(pm.response.text()).to.equal(pm.environment.get('one')));",
            ]}}],
        }],
    });
    json!({
        "script": script.to_string(), "environment": variables("one").to_string(),
        "globals": variables("two").to_string(), "interval": 30,
    })
}

/// Each step needs the status that the target replies with; the last one fails.
fn steps(base: &str) -> Value {
    let step = |name: &str, head: Value| {
        json!({
            "step_name": name, "http_method": "GET", "url": format!("{base}/?api_key={{secret}}"), "head": head,
            "assertions": [{"source": "Status Code", "comparison": "equals", "value": if name == "Wrong" { "200" } else { "500" }}],
            "variables": [{"name": format!("answer{name}"), "source": "Header", "property": "X-Echo"}],
        })
    };
    json!([
        step("Basic", json!({"http_basic_auth_username": "monitor", "http_basic_auth_password": "{secret}"})),
        step(
            "Bearer",
            json!({
                "bearer_token": "{secret}", "headers": [{"name": "X-Auth-Token", "value": "{secret}"}],
            })
        ),
        step(
            "Wrong",
            json!({
                "http_basic_auth_username": "monitor", "http_basic_auth_password": "{secret}",
                "preemptive_authentication": true,
            })
        ),
    ])
}
