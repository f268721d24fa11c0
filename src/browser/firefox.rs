//! Firefox and its driver: how they are started, and what a session is asked for. See `chrome` for what is off.

use std::net::SocketAddr;
use std::time::Duration;

use fantoccini::Client;
use fantoccini::error::CmdError;
use fantoccini::wd::Capabilities;
use serde_json::{Value, json};

use super::bidi::{BidiConnection, MAX_EVENT_BYTES, bidi_url};
use super::binaries::BrowserBinaries;
use super::session_options::{Emulation, SessionOptions};
use crate::subprocess::browser_profile::BrowserProfile;
use crate::subprocess::process_group::Program;

/// Time for one question over `WebDriver BiDi`.
const BIDI_TIMEOUT: Duration = Duration::from_secs(5);
/// Between two looks at the size of a page.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Preferences that are switched off. A profile that lives for one check has no use for a cache on disk either.
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
    // `window.print()` would wait for somebody to close its dialog.
    "print.enabled",
    "browser.sessionstore.resume_from_crash",
];
/// Preferences with a number.
const NUMERIC_PREFS: &[(&str, i64)] = &[
    ("network.proxy.type", 1),
    ("network.trr.mode", 5),
    ("network.http.speculative-parallel-limit", 0),
    ("permissions.default.desktop-notification", 2),
    ("permissions.default.geo", 2),
];
/// Preferences that are switched on.
const ENABLED_PREFS: &[&str] = &[
    "network.proxy.allow_hijacking_localhost",
    "network.dns.disablePrefetch",
    "network.dns.disablePrefetchFromHTTPS",
    "dom.disable_open_during_load",
];
/// Addresses that are asked for nothing.
const DISABLED_URLS: &[(&str, &str)] = &[
    ("network.proxy.no_proxies_on", ""),
    ("browser.aboutHomeSnippets.updateUrl", ""),
    ("browser.region.network.url", ""),
    ("toolkit.telemetry.server", ""),
    ("services.settings.server", "data:,#remote-settings-dummy/v1"),
];

/// The driver, on ports of its own choice: those of the remote agent and of Marionette too.
pub(super) fn driver_program<'a>(
    binaries: &'a BrowserBinaries,
    profile: &BrowserProfile,
    emulation: &Emulation,
) -> Program<'a> {
    let (width, height) = emulation.viewport;
    let mut arguments: Vec<String> =
        ["--host", "127.0.0.1", "--port", "0", "--websocket-port", "0", "--profile-root"]
            .iter()
            .map(ToString::to_string)
            .collect();
    arguments.push(profile.data_dir().display().to_string());
    Program {
        path: &binaries.driver,
        arguments,
        environment: vec![
            ("MOZ_HEADLESS_WIDTH", width.to_string()),
            ("MOZ_HEADLESS_HEIGHT", height.to_string()),
            ("MOZ_CRASHREPORTER_DISABLE", "1".to_owned()),
            ("MOZ_REMOTE_SETTINGS_DEVTOOLS", "0".to_owned()),
        ],
    }
}

/// The port in a line that the driver prints when it is ready.
pub(super) fn parse_port(line: &str) -> Option<u16> {
    let rest = line.split_once("Listening on 127.0.0.1:")?.1;
    rest.trim().parse().ok().filter(|&port| port != 0)
}

/// What a session is asked for; `binaries` for a browser of this host, which goes through the proxy at `proxy`.
pub(super) fn capabilities(
    session_options: &SessionOptions,
    proxy: SocketAddr,
    binaries: Option<&BrowserBinaries>,
) -> Capabilities {
    let arguments: &[&str] = if session_options.headful { &[] } else { &["-headless"] };
    let mut options = json!({ "args": arguments, "prefs": preferences(session_options, proxy) });
    if let Some(binaries) = binaries {
        options["binary"] = json!(binaries.browser);
    }
    let mut all = Capabilities::new();
    all.insert("browserName".into(), json!("firefox"));
    all.insert(
        "acceptInsecureCerts".into(),
        json!(super::tls_policy::accepts_any_certificate(session_options)),
    );
    all.insert("pageLoadStrategy".into(), json!("normal"));
    all.insert("unhandledPromptBehavior".into(), json!("ignore"));
    all.insert("webSocketUrl".into(), json!(true));
    all.insert("moz:firefoxOptions".into(), options);
    all
}

fn preferences(options: &SessionOptions, proxy: SocketAddr) -> Value {
    let mut all = serde_json::Map::new();
    all.extend(DISABLED_PREFS.iter().map(|name| (name.to_string(), json!(false))));
    all.extend(ENABLED_PREFS.iter().map(|name| (name.to_string(), json!(true))));
    all.extend(NUMERIC_PREFS.iter().map(|(name, number)| (name.to_string(), json!(number))));
    all.extend(DISABLED_URLS.iter().map(|(name, address)| (name.to_string(), json!(address))));
    let mut all = Value::Object(all);
    for protocol in ["http", "ssl"] {
        all[format!("network.proxy.{protocol}")] = json!(proxy.ip().to_string());
        all[format!("network.proxy.{protocol}_port")] = json!(proxy.port());
    }
    all["layout.css.devPixelsPerPx"] = json!(options.emulation.scale.to_string());
    if options.emulation.mobile {
        all["dom.meta-viewport.enabled"] = json!(true);
    }
    if options.emulation.touch {
        all["dom.w3c_touch_events.enabled"] = json!(1);
        // Pages ask for `ontouchstart`, which is hidden on desks otherwise.
        all["dom.w3c_touch_events.legacy_apis.enabled"] = json!(true);
        all["dom.maxtouchpoints.testing.value"] = json!(5);
        all["ui.primaryPointerCapabilities"] = json!(1);
        all["ui.allPointerCapabilities"] = json!(1);
    }
    if let Some(user_agent) = &options.emulation.user_agent {
        all["general.useragent.override"] = json!(user_agent);
    }
    all
}

/// Gives the page of the current window the size of the guise. The frame of a window takes some of its size, and
/// how much is known only when it is there. No window is narrower than 450 pixels: the page of a phone is made
/// smaller than its window.
///
/// # Errors
/// What the driver says.
pub(super) async fn prepare_window(client: &Client, emulation: &Emulation) -> Result<(), CmdError> {
    if let Some(address) = bidi_url(client).filter(|_| emulation.mobile) {
        return set_viewport(client, address, emulation.viewport).await;
    }
    let frame = "return [outerWidth - innerWidth, outerHeight - innerHeight]";
    let frame = client.execute(frame, Vec::new()).await?;
    let side = |at: usize| frame[at].as_u64().and_then(|side| u32::try_from(side).ok()).unwrap_or(0);
    let (width, height) = emulation.viewport;
    client.set_window_size(width.saturating_add(side(0)), height.saturating_add(side(1))).await
}

/// By `browsingContext.setViewport` (W3C `WebDriver BiDi` 7.3.3.14). It is answered when the page has just that size,
/// which one that is laid out wide and made small never has: such a page has its shape.
async fn set_viewport(client: &Client, address: &str, (width, height): (u32, u32)) -> Result<(), CmdError> {
    let window = client.window().await?;
    let failed =
        |reason: String| CmdError::Lost(std::io::Error::other(format!("the size of the page: {reason}")));
    let mut bidi = BidiConnection::connect(address, BIDI_TIMEOUT, MAX_EVENT_BYTES).await.map_err(failed)?;
    let viewport =
        json!({ "context": String::from(window), "viewport": { "width": width, "height": height } });
    bidi.send("browsingContext.setViewport", viewport).await.map_err(failed)?;
    let shaped = async {
        loop {
            let seen = client.execute("return [innerWidth, innerHeight]", Vec::new()).await?;
            let side = |at: usize| seen[at].as_u64().unwrap_or_default();
            if has_aspect_ratio((side(0), side(1)), (width.into(), height.into())) {
                return Ok(());
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    };
    tokio::select! {
        answered = bidi.wait_for_response() => answered.map(drop).map_err(failed),
        shaped = shaped => shaped,
        () = tokio::time::sleep(BIDI_TIMEOUT) => Err(failed("it did not become that of the device".to_owned())),
    }
}

/// Whether one is as wide to its height as the other, but for a pixel.
const fn has_aspect_ratio(seen: (u64, u64), wanted: (u64, u64)) -> bool {
    seen.0 > 0 && (seen.0 * wanted.1).abs_diff(seen.1 * wanted.0) <= wanted.0 + wanted.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_made_small_has_the_shape_of_the_device() {
        for (seen, wanted, shaped) in [
            ((360, 640), (360, 640), true),
            ((980, 1742), (360, 640), true),
            ((980, 429), (360, 640), false),
            ((640, 360), (360, 640), false),
            ((0, 0), (360, 640), false),
        ] {
            assert_eq!(has_aspect_ratio(seen, wanted), shaped, "{seen:?}");
        }
    }

    #[test]
    fn the_port_is_found_in_what_the_driver_prints() {
        for (line, port) in [
            ("1700000000000\tgeckodriver\tINFO\tListening on 127.0.0.1:4444", Some(4444)),
            ("Listening on 127.0.0.1:0", None),
            ("Listening on 127.0.0.1:99999", None),
            ("mozrunner::runner INFO Running command: \"/usr/bin/firefox\"", None),
        ] {
            assert_eq!(parse_port(line), port, "{line}");
        }
    }
}
