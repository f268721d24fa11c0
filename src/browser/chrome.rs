//! Chromium and its driver: how they are started, and what a session is asked for.
//!
//! What a browser does on its own is off, so that a check sees what the page does and nothing else: updates, safe
//! browsing, synchronisation, suggestions, translation, preloading, upgrades of `http` to `https`. All that it
//! fetches goes through the forward proxy: loopback too, no QUIC, no WebRTC beside it, no names of its own.

use fantoccini::Client;
use fantoccini::wd::Capabilities;
use serde_json::{Value, json};

use super::binaries::BrowserBinaries;
use super::cdp::CdpCommand;
use super::session_options::{Emulation, SessionOptions};
use crate::subprocess::browser_profile::BrowserProfile;
use crate::subprocess::process_group::Program;

const FLAGS: &[&str] = &[
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
    // A frame of another site in a process of its own is another target, whose requests the driver does not log: what it
    // loads would be missing in the results, and the network would never be quiet. The browser is of one check alone.
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

/// The driver, on a port of its own choice.
pub(super) fn driver_program(binaries: &BrowserBinaries) -> Program<'_> {
    // What the browser prints is wanted where it does not start.
    let arguments = ["--port=0", "--log-level=WARNING", "--enable-chrome-logs"];
    Program {
        path: &binaries.driver,
        arguments: arguments.iter().map(ToString::to_string).collect(),
        environment: Vec::new(),
    }
}

/// The port in a line that the driver prints when it is ready.
pub(super) fn parse_port(line: &str) -> Option<u16> {
    let rest = line.split_once("started successfully on port ")?.1;
    rest.trim_end_matches('.').parse().ok().filter(|&port| port != 0)
}

/// Where its programs are, and what is theirs alone.
pub(super) struct LocalBrowser<'a> {
    pub(super) binaries: &'a BrowserBinaries,
    pub(super) profile: &'a BrowserProfile,
    pub(super) sandbox: bool,
}

/// What a session is asked for; `here` for a browser of this host, which goes through the proxy at `proxy`.
pub(super) fn capabilities(
    session_options: &SessionOptions,
    proxy: std::net::SocketAddr,
    here: Option<&LocalBrowser<'_>>,
) -> Capabilities {
    let mut options = json!({
        "args": arguments(session_options, proxy, here),
        "prefs": preferences(),
        // Pop-ups are blocked as people's browsers do it; nothing says that a program is at work.
        "excludeSwitches": ["disable-popup-blocking", "enable-automation"],
        "mobileEmulation": emulation(&session_options.emulation),
        "perfLoggingPrefs": { "enableNetwork": true, "enablePage": true },
    });
    if let Some(here) = here {
        options["binary"] = json!(here.binaries.browser);
    }
    let mut all = Capabilities::new();
    all.insert("browserName".into(), json!("chrome"));
    all.insert(
        "acceptInsecureCerts".into(),
        json!(super::tls_policy::accepts_any_certificate(session_options)),
    );
    all.insert("pageLoadStrategy".into(), json!("normal"));
    all.insert("unhandledPromptBehavior".into(), json!("ignore"));
    all.insert("goog:loggingPrefs".into(), json!({ "browser": "ALL", "performance": "ALL" }));
    all.insert("goog:chromeOptions".into(), options);
    all
}

fn arguments(
    options: &SessionOptions,
    proxy: std::net::SocketAddr,
    here: Option<&LocalBrowser<'_>>,
) -> Vec<String> {
    let (width, height) = options.emulation.viewport;
    let mut all: Vec<String> = FLAGS.iter().map(ToString::to_string).collect();
    all.push(format!("--proxy-server=http://{proxy}"));
    all.push("--proxy-bypass-list=<-loopback>".to_owned());
    // Names are the proxy's to resolve.
    all.push(format!("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE {}", proxy.ip()));
    all.push(format!("--window-size={width},{height}"));
    if !options.headful {
        all.push("--headless=new".to_owned());
    }
    if let Some(user_agent) = &options.emulation.user_agent {
        all.push(format!("--user-agent={user_agent}"));
    }
    if let Some(here) = here {
        all.push(format!("--user-data-dir={}", here.profile.data_dir().display()));
        if !here.sandbox {
            all.push("--no-sandbox".to_owned());
        }
    }
    all
}

/// The page has exactly the wanted size in every window; a window of that size would lose some to its frame.
fn emulation(emulation: &Emulation) -> Value {
    let (width, height) = emulation.viewport;
    let metrics = json!({
        "width": width, "height": height, "pixelRatio": emulation.scale,
        "mobile": emulation.mobile, "touch": emulation.touch,
    });
    match &emulation.user_agent {
        Some(user_agent) => json!({ "deviceMetrics": metrics, "userAgent": user_agent }),
        None => json!({ "deviceMetrics": metrics }),
    }
}

fn preferences() -> Value {
    json!({
        // All downloads are refused.
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

/// Gives the current window what holds for a page alone: the header fields, and that downloads are refused.
///
/// # Errors
/// What the driver says.
pub(super) async fn prepare_window(
    client: &Client,
    emulation: &Emulation,
) -> Result<(), fantoccini::error::CmdError> {
    CdpCommand::new("Browser.setDownloadBehavior", json!({ "behavior": "deny" })).send(client).await?;
    if !emulation.headers.is_empty() {
        let headers: serde_json::Map<String, Value> =
            emulation.headers.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        CdpCommand::new("Network.enable", json!({})).send(client).await?;
        CdpCommand::new("Network.setExtraHTTPHeaders", json!({ "headers": headers })).send(client).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_found_in_what_the_driver_prints() {
        for (line, port) in [
            ("ChromeDriver was started successfully on port 38569.", Some(38569)),
            ("ChromeDriver was started successfully.", None),
            ("ChromeDriver was started successfully on port 0.", None),
            ("Starting ChromeDriver 156.0 (x) on port 0", None),
            ("started successfully on port 99999999.", None),
        ] {
            assert_eq!(parse_port(line), port, "{line}");
        }
    }
}
