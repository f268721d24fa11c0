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
            json!({"script": "<project/>", "test_suite": "a", "test_case": "b", "interval": 30})
        }
        MonitorType::CollectionApi => json!({"script": "{}", "interval": 30}),
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
