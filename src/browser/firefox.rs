//! Firefox and its driver: how they are started, and the capabilities of a session. See `chrome` for what is disabled.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use fantoccini::Client;
use fantoccini::error::CmdError;
use fantoccini::wd::Capabilities;
use serde_json::{Value, json};

use super::bidi::{BidiConnection, MAX_EVENT_BYTES, bidi_url};
use super::binaries::BrowserBinaries;
use super::session_options::{Emulation, SessionOptions};
use crate::subprocess::browser_profile::BrowserProfile;
use crate::subprocess::process_group::DriverProgram;

/// Timeout of one command over `WebDriver BiDi`, and of a change of the page size.
const BIDI_TIMEOUT: Duration = Duration::from_secs(5);
/// Interval between reads of the page size.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Preferences that are set to false. The disk cache is off too, since a profile is used for one check only.
const DISABLED_PREFS: &[&str] = &[
    "network.proxy.failover_direct",
    "network.http.http3.enable",
    "network.prefetch-next",
    "network.predictor.enabled",
    "network.captive-portal-service.enabled",
    "network.connectivity-service.enabled",
    "media.peerconnection.enabled",
    "media.gmp-manager.updateEnabled",
    "app.update.enabled",
    "app.update.auto",
    "app.normandy.enabled",
    "app.shield.optoutstudies.enabled",
    "extensions.update.enabled",
    "extensions.getAddons.cache.enabled",
    "extensions.systemAddon.update.enabled",
    "browser.safebrowsing.malware.enabled",
    "browser.safebrowsing.phishing.enabled",
    "browser.safebrowsing.downloads.enabled",
    "browser.safebrowsing.downloads.remote.enabled",
    "browser.search.update",
    "browser.search.suggest.enabled",
    "browser.translations.enable",
    "browser.shell.checkDefaultBrowser",
    "browser.newtabpage.activity-stream.feeds.system.topstories",
    "browser.region.update.enabled",
    "datareporting.policy.dataSubmissionEnabled",
    "datareporting.healthreport.uploadEnabled",
    "toolkit.telemetry.enabled",
    "toolkit.telemetry.unified",
    "identity.fxaccounts.enabled",
    "signon.rememberSignons",
    "dom.security.https_first",
    "dom.security.https_first_schemeless",
    "dom.security.https_only_mode",
    "browser.cache.disk.enable",
    // `window.print()` would wait for a user to close its dialog.
    "print.enabled",
    "browser.sessionstore.resume_from_crash",
    // Processes and a page that are started ahead of their use: a quarter of the processor time of a start.
    "dom.ipc.processPrelaunch.enabled",
    "browser.newtab.preload",
];
/// Preferences with a number.
const NUMERIC_PREFS: &[(&str, i64)] = &[
    ("network.proxy.type", 1),
    ("network.trr.mode", 5),
    ("network.http.speculative-parallel-limit", 0),
    ("permissions.default.desktop-notification", 2),
    ("permissions.default.geo", 2),
    // No add-ons but that of the session: those of Firefox itself take a fifth of the processor time of a start.
    ("extensions.enabledScopes", 0),
];
/// Preferences that are set to true.
const ENABLED_PREFS: &[&str] = &[
    "network.proxy.allow_hijacking_localhost",
    "network.dns.disablePrefetch",
    "network.dns.disablePrefetchFromHTTPS",
    "dom.disable_open_during_load",
];
/// Preferences with a text: addresses that are replaced so that nothing is fetched from them.
const TEXT_PREFS: &[(&str, &str)] = &[
    ("network.proxy.no_proxies_on", ""),
    ("browser.aboutHomeSnippets.updateUrl", ""),
    ("browser.region.network.url", ""),
    ("toolkit.telemetry.server", ""),
    ("services.settings.server", "data:,#remote-settings-dummy/v1"),
];

/// Returns the driver program. It chooses its ports itself, including those of the remote agent and of Marionette.
pub(super) fn driver_program<'a>(
    binaries: &'a BrowserBinaries,
    profile: &BrowserProfile,
    (width, height): (u32, u32),
) -> DriverProgram<'a> {
    let mut arguments: Vec<String> =
        ["--host", "127.0.0.1", "--port", "0", "--websocket-port", "0", "--profile-root"]
            .iter()
            .map(ToString::to_string)
            .collect();
    arguments.push(profile.data_dir().display().to_string());
    DriverProgram {
        path: &binaries.driver_path,
        arguments,
        extra_environment: vec![
            ("MOZ_HEADLESS_WIDTH", width.to_string()),
            ("MOZ_HEADLESS_HEIGHT", height.to_string()),
            ("MOZ_CRASHREPORTER_DISABLE", "1".to_owned()),
            ("MOZ_REMOTE_SETTINGS_DEVTOOLS", "0".to_owned()),
        ],
    }
}

/// Returns the port in the line that the driver prints when it is ready.
pub(super) fn parse_driver_port(line: &str) -> Option<u16> {
    let rest = line.split_once("Listening on 127.0.0.1:")?.1;
    rest.trim().parse().ok().filter(|&port| port != 0)
}

/// Returns the capabilities of a session that uses the proxy at `proxy_address`; `browser_path` is set for a browser
/// of this host.
pub(super) fn session_capabilities(
    session_options: &SessionOptions,
    proxy_address: SocketAddr,
    browser_path: Option<&Path>,
) -> Capabilities {
    let arguments: &[&str] = if session_options.headful { &[] } else { &["-headless"] };
    let mut firefox_options =
        json!({ "args": arguments, "prefs": preferences(session_options, proxy_address) });
    if let Some(browser_path) = browser_path {
        firefox_options["binary"] = json!(browser_path);
    }
    let mut capabilities = Capabilities::new();
    capabilities.insert("browserName".into(), json!("firefox"));
    capabilities.insert(
        "acceptInsecureCerts".into(),
        json!(super::tls_policy::accepts_any_certificate(session_options)),
    );
    capabilities.insert("pageLoadStrategy".into(), json!("normal"));
    capabilities.insert("unhandledPromptBehavior".into(), json!("ignore"));
    capabilities.insert("webSocketUrl".into(), json!(true));
    capabilities.insert("moz:firefoxOptions".into(), firefox_options);
    capabilities
}

fn preferences(options: &SessionOptions, proxy_address: SocketAddr) -> Value {
    let mut preferences = serde_json::Map::new();
    preferences.extend(DISABLED_PREFS.iter().map(|name| (name.to_string(), json!(false))));
    preferences.extend(ENABLED_PREFS.iter().map(|name| (name.to_string(), json!(true))));
    preferences.extend(NUMERIC_PREFS.iter().map(|(name, number)| (name.to_string(), json!(number))));
    preferences.extend(TEXT_PREFS.iter().map(|(name, address)| (name.to_string(), json!(address))));
    let mut preferences = Value::Object(preferences);
    for protocol in ["http", "ssl"] {
        preferences[format!("network.proxy.{protocol}")] = json!(proxy_address.ip().to_string());
        preferences[format!("network.proxy.{protocol}_port")] = json!(proxy_address.port());
    }
    preferences["layout.css.devPixelsPerPx"] = json!(options.emulation.device_pixel_ratio.to_string());
    if options.emulation.mobile_layout {
        preferences["dom.meta-viewport.enabled"] = json!(true);
    }
    if options.emulation.touch_screen {
        preferences["dom.w3c_touch_events.enabled"] = json!(1);
        // Pages check for `ontouchstart`, which desktop browsers hide.
        preferences["dom.w3c_touch_events.legacy_apis.enabled"] = json!(true);
        preferences["dom.maxtouchpoints.testing.value"] = json!(5);
        preferences["ui.primaryPointerCapabilities"] = json!(1);
        preferences["ui.allPointerCapabilities"] = json!(1);
    }
    if let Some(user_agent) = &options.emulation.user_agent {
        preferences["general.useragent.override"] = json!(user_agent);
    }
    preferences
}

/// Resizes the current window so that its page has the emulated size: adds the window frame, which is measured first.
/// Windows are at least 450 pixels wide, so the size of a phone is set over `BiDi`.
///
/// # Errors
/// Fails with the driver's error.
pub(super) async fn prepare_window(client: &Client, emulation: &Emulation) -> Result<(), CmdError> {
    if let Some(address) = bidi_url(client).filter(|_| emulation.mobile_layout) {
        return set_viewport(client, address, emulation.viewport).await;
    }
    let frame_size_script = "return [outerWidth - innerWidth, outerHeight - innerHeight]";
    let frame_size = client.execute(frame_size_script, Vec::new()).await?;
    let frame_pixels = |index: usize| {
        frame_size[index].as_u64().and_then(|frame_pixels| u32::try_from(frame_pixels).ok()).unwrap_or(0)
    };
    let (width, height) = emulation.viewport;
    client
        .set_window_size(width.saturating_add(frame_pixels(0)), height.saturating_add(frame_pixels(1)))
        .await
}

/// Sets the page size by `browsingContext.setViewport` (W3C `WebDriver BiDi` 7.3.3.14). It completes when the
/// page has exactly that size. A page that is laid out wide and scaled down never has it, so a matching aspect ratio is
/// accepted too.
async fn set_viewport(
    client: &Client,
    bidi_address: &str,
    (width, height): (u32, u32),
) -> Result<(), CmdError> {
    let window = client.window().await?;
    let to_error =
        |reason: String| CmdError::Lost(std::io::Error::other(format!("the size of the page: {reason}")));
    let mut bidi =
        BidiConnection::connect(bidi_address, BIDI_TIMEOUT, MAX_EVENT_BYTES).await.map_err(to_error)?;
    let viewport =
        json!({ "context": String::from(window), "viewport": { "width": width, "height": height } });
    bidi.send_command("browsingContext.setViewport", viewport).await.map_err(to_error)?;
    let resized = async {
        loop {
            let size = client.execute("return [innerWidth, innerHeight]", Vec::new()).await?;
            let page_pixels = |index: usize| size[index].as_u64().unwrap_or_default();
            if has_same_aspect_ratio((page_pixels(0), page_pixels(1)), (width.into(), height.into())) {
                return Ok(());
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    };
    tokio::select! {
        response = bidi.wait_for_response() => response.map(drop).map_err(to_error),
        resized = resized => resized,
        () = tokio::time::sleep(BIDI_TIMEOUT) => Err(to_error("it did not become that of the device in time".to_owned())),
    }
}

/// Whether both sizes have the same aspect ratio, with a tolerance of one pixel.
const fn has_same_aspect_ratio(actual: (u64, u64), expected: (u64, u64)) -> bool {
    actual.0 > 0 && (actual.0 * expected.1).abs_diff(actual.1 * expected.0) <= expected.0 + expected.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_scaled_down_has_the_aspect_ratio_of_the_device() {
        for (actual, expected, matches) in [
            ((360, 640), (360, 640), true),
            ((980, 1742), (360, 640), true),
            ((980, 429), (360, 640), false),
            ((640, 360), (360, 640), false),
            ((0, 0), (360, 640), false),
        ] {
            assert_eq!(has_same_aspect_ratio(actual, expected), matches, "{actual:?}");
        }
    }

    #[test]
    fn the_port_is_parsed_from_the_driver_output() {
        for (line, port) in [
            ("1700000000000\tgeckodriver\tINFO\tListening on 127.0.0.1:4444", Some(4444)),
            ("Listening on 127.0.0.1:0", None),
            ("Listening on 127.0.0.1:99999", None),
            ("mozrunner::runner INFO Running command: \"/usr/bin/firefox\"", None),
        ] {
            assert_eq!(parse_driver_port(line), port, "{line}");
        }
    }
}
