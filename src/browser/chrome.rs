//! Chromium and its driver: how they are started, and the capabilities of a session.
//!
//! Everything that a browser does by itself is disabled, so that a check observes the page only: updates, safe
//! browsing, synchronisation, suggestions, translation, preloading, upgrades of `http` to `https`. Everything it
//! fetches goes through the forward proxy: loopback too, without QUIC, without WebRTC around the proxy, and without
//! resolving names itself.

use std::path::PathBuf;

use fantoccini::Client;
use fantoccini::wd::Capabilities;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::binaries::BrowserBinaries;
use super::cdp::CdpCommand;
use super::session_options::{Emulation, SessionOptions};
use crate::subprocess::process_group::DriverProgram;

const COMMAND_LINE_FLAGS: &[&str] = &[
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--dns-prefetch-disable",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-pings",
    "--no-service-autorun",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-search-engine-choice-screen",
    // A frame of another site in its own process is another target, whose requests the driver does not log: they would
    // be missing in the results, and the network would never be idle. The browser serves one check only.
    "--disable-site-isolation-trials",
    "--disable-sync",
    "--hide-crash-restore-bubble",
    "--metrics-recording-only",
    "--mute-audio",
    "--password-store=basic",
    concat!(
        "--disable-features=",
        "AutofillServerCommunication,CertificateTransparencyComponentUpdater,DialMediaRouteProvider,",
        "HttpsFirstBalancedModeAutoEnable,HttpsUpgrades,InterestFeedContentSuggestions,MediaRouter,",
        "NetworkTimeServiceQuerying,OptimizationHints,Prerender2,Translate"
    ),
];

/// Returns the driver program. It listens on a port that it chooses itself.
pub(super) fn driver_program(binaries: &BrowserBinaries) -> DriverProgram<'_> {
    // The browser's output explains why it does not start.
    let arguments = ["--port=0", "--log-level=WARNING", "--enable-chrome-logs"];
    DriverProgram {
        path: &binaries.driver_path,
        arguments: arguments.iter().map(ToString::to_string).collect(),
        extra_environment: Vec::new(),
    }
}

/// Returns the port in the line that the driver prints when it is ready.
pub(super) fn parse_driver_port(line: &str) -> Option<u16> {
    let rest = line.split_once("started successfully on port ")?.1;
    rest.trim_end_matches('.').parse().ok().filter(|&port| port != 0)
}

/// A browser of this host: its program, its profile and its sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LocalBrowser {
    /// The program.
    pub(super) browser_path: PathBuf,
    /// The folder of its profile.
    pub(super) data_dir: PathBuf,
    /// Whether it uses its own sandbox.
    pub(super) use_sandbox: bool,
}

/// Returns the capabilities of a session that uses the proxy at `proxy_address`; `local_browser` is set for a browser
/// of this host.
pub(super) fn session_capabilities(
    session_options: &SessionOptions,
    proxy_address: std::net::SocketAddr,
    local_browser: Option<&LocalBrowser>,
) -> Capabilities {
    let mut chrome_options = json!({
        "args": command_line_arguments(session_options, proxy_address, local_browser),
        "prefs": preferences(),
        // Block pop-ups, as browsers do for users, and do not announce automation to pages.
        "excludeSwitches": ["disable-popup-blocking", "enable-automation"],
        "mobileEmulation": mobile_emulation(&session_options.emulation),
        "perfLoggingPrefs": { "enableNetwork": true, "enablePage": true },
    });
    if let Some(local_browser) = local_browser {
        chrome_options["binary"] = json!(local_browser.browser_path);
    }
    let mut capabilities = Capabilities::new();
    capabilities.insert("browserName".into(), json!("chrome"));
    capabilities.insert(
        "acceptInsecureCerts".into(),
        json!(super::tls_policy::accepts_any_certificate(session_options)),
    );
    capabilities.insert("pageLoadStrategy".into(), json!("normal"));
    capabilities.insert("unhandledPromptBehavior".into(), json!("ignore"));
    capabilities.insert("goog:loggingPrefs".into(), json!({ "browser": "ALL", "performance": "ALL" }));
    capabilities.insert("goog:chromeOptions".into(), chrome_options);
    capabilities
}

fn command_line_arguments(
    options: &SessionOptions,
    proxy_address: std::net::SocketAddr,
    local_browser: Option<&LocalBrowser>,
) -> Vec<String> {
    let (width, height) = options.emulation.viewport;
    let mut arguments: Vec<String> = COMMAND_LINE_FLAGS.iter().map(ToString::to_string).collect();
    arguments.push(format!("--proxy-server=http://{proxy_address}"));
    arguments.push("--proxy-bypass-list=<-loopback>".to_owned());
    // The proxy resolves names.
    arguments.push(format!("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE {}", proxy_address.ip()));
    arguments.push(format!("--window-size={width},{height}"));
    if !options.headful {
        arguments.push("--headless=new".to_owned());
    }
    if let Some(user_agent) = &options.emulation.user_agent {
        arguments.push(format!("--user-agent={user_agent}"));
    }
    if let Some(local_browser) = local_browser {
        arguments.push(format!("--user-data-dir={}", local_browser.data_dir.display()));
        if !local_browser.use_sandbox {
            arguments.push("--no-sandbox".to_owned());
        }
    }
    arguments
}

/// Returns the emulation settings. The page has exactly this size in every window; the window frame would reduce it
/// otherwise.
fn mobile_emulation(emulation: &Emulation) -> Value {
    let (width, height) = emulation.viewport;
    let metrics = json!({
        "width": width, "height": height, "pixelRatio": emulation.device_pixel_ratio,
        "mobile": emulation.mobile_layout, "touch": emulation.touch_screen,
    });
    match &emulation.user_agent {
        Some(user_agent) => json!({ "deviceMetrics": metrics, "userAgent": user_agent }),
        None => json!({ "deviceMetrics": metrics }),
    }
}

fn preferences() -> Value {
    json!({
        // Refuse all downloads.
        "download_restrictions": 3,
        "download.prompt_for_download": false,
        "safebrowsing.enabled": false,
        "credentials_enable_service": false,
        "profile.password_manager_enabled": false,
        "profile.default_content_setting_values.notifications": 2,
        "profile.default_content_setting_values.geolocation": 2,
        "translate.enabled": false,
        "alternate_error_pages.enabled": false,
        "search.suggest_enabled": false,
        "net.network_prediction_options": 2,
        "dns_over_https.mode": "off",
        "https_only_mode_enabled": false,
    })
}

/// Prepares the current window: sets the header fields, and refuses downloads.
///
/// # Errors
/// Fails with the driver's error.
pub(super) async fn prepare_window(
    client: &Client,
    emulation: &Emulation,
) -> Result<(), fantoccini::error::CmdError> {
    CdpCommand::new("Browser.setDownloadBehavior", json!({ "behavior": "deny" })).send(client).await?;
    if !emulation.extra_headers.is_empty() {
        let headers: serde_json::Map<String, Value> =
            emulation.extra_headers.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        CdpCommand::new("Network.enable", json!({})).send(client).await?;
        CdpCommand::new("Network.setExtraHTTPHeaders", json!({ "headers": headers })).send(client).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_parsed_from_the_driver_output() {
        for (line, port) in [
            ("ChromeDriver was started successfully on port 38569.", Some(38569)),
            ("ChromeDriver was started successfully.", None),
            ("ChromeDriver was started successfully on port 0.", None),
            ("Starting ChromeDriver 156.0 (x) on port 0", None),
            ("started successfully on port 99999999.", None),
        ] {
            assert_eq!(parse_driver_port(line), port, "{line}");
        }
    }
}
